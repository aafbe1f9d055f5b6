"""How mutual the neighbourhoods of some rows are.

``share = mean over r of #{(i, j): each among the other's r nearest} / (n r)``,  r = 5 and 10.

In classes that spread as those of other tasks in the same features do, the share is what it is there. Where
it is higher, rows stand in tight groups that need not be the classes: what trusts the neighbours of a target
then errs (photo-style: groups of the same texture).
"""

from __future__ import annotations

import numpy as np

from l2t.numerics import mutual_neighbors, squared_distances
from l2t.typing import AnyArray

__all__ = ["mutual_share"]

NEIGHBORS = (5, 10)
#: Samples that a share of fewer rows than there are is averaged over.
N_SAMPLES = 3


def mutual_share(X: AnyArray, n_rows: int | None = None, *, random_state: int = 0) -> float:
    """Return the share of nearest neighbours that are mutual.

    Parameters
    ----------
    X : array of shape (n, m)
        The rows.
    n_rows : int, optional
        Look at so many random rows at a time, so that shares of different numbers of rows can be compared.
    random_state : int, default=0
        The seed of the random rows.

    Examples
    --------
    Two far groups of three rows each: all neighbours within a group are mutual.

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
