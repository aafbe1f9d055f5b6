"""The share of nearest neighbours that are mutual.

``share = mean over r of #{(i, j): each among the other's r nearest} / (n r)``,  r = 5 and 10.

A share above that of other tasks in the same features means tight groups that need not be the classes (in
photo-style, rows of the same texture): methods that rely on the neighbours of a target then fail.
"""

from __future__ import annotations

import numpy as np

from l2t.numerics import mutual_neighbors, squared_distances
from l2t.typing import AnyArray

NEIGHBORS = (5, 10)
#: Samples that a share of fewer rows than there are is averaged over.
N_SAMPLES = 3


def mutual_share(X: AnyArray, n_rows: int | None = None, *, random_state: int = 0) -> float:
    """Return the share of nearest neighbours of the rows of X that are mutual.

    With `n_rows`, the mean share in samples of so many random rows, which can be compared between data of
    different sizes. In two distant groups of three rows all neighbours within a group are mutual:

    >>> groups = np.repeat([[0.0], [100.0]], 3, axis=0) + [[0], [1], [2]] * 2
    >>> mutual_share(groups)
    1.0
    """
    rng = np.random.default_rng(random_state)
    samples = [np.arange(len(X))]
    if n_rows is not None and n_rows < len(X):
        samples = [rng.permutation(len(X))[:n_rows] for _ in range(N_SAMPLES)]
    centred = X - X.mean(axis=0, dtype=np.float64)
    return float(np.mean([_share(centred[rows]) for rows in samples]))


def _share(X: AnyArray) -> float:
    if len(X) < 3:  # every row is the neighbour of every other
        return 0.0
    D = squared_distances(X)
    shares = []
    for r in NEIGHBORS:
        r = min(r, max(1, (len(D) - 1) // 2))
        shares.append(mutual_neighbors(D, r).sum() / (len(D) * r))
    return float(np.mean(shares))
