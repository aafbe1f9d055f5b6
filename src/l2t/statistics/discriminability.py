"""Neighbourhoods of the target, without labels: tau under a W, and the share of mutual neighbours.

tau measures how well a W separates distant target rows from near ones:

``tau_k(W) = Σ_{jj'} (K - H)_jj' ||(x_j - x_j') W||² / Σ_{jj'} H_jj' ||(x_j - x_j') W||²``

over target rows, ``K_jj' = exp(-||x_j - x_j'||² / delta_k)`` in the *original* features with
``delta_k = 2^(p_k) eta_0``, eta_0 the mean squared distance between the domains there, and H = K on pairs of
mutual r-nearest neighbours (errata E11, E28 to E30). The weights do not depend on W.

Narrow kernels underflow: the exponent of the nearest pair of a block is factored out of its two sums, and
blocks are added by their logarithms.

``share = mean over r of #{(i, j): each among the other's r nearest} / (n r)``,  r = 5 and 10.

A share above that of other tasks in the same features means tight clusters that need not be the classes (in
photo-style, rows with the same texture): methods that rely on the neighbours of target rows then fail.
"""

from __future__ import annotations

import numpy as np

from l2t.numerics import mutual_neighbors, squared_distances
from l2t.numerics.kernels import upper_blocks
from l2t.statistics.bank import KernelBank
from l2t.typing import AnyArray, Array

#: tau is clipped to [1 / BOUND, BOUND]: all pairs may be neighbours, or all mutual neighbours coincide.
BOUND = 1e12
#: A squared distance below this share of the squared norms is rounding: the rows coincide.
ROUNDING = 1e-14
#: The numbers of neighbours r of `mutual_share`, and the rows needed for each: ten of 45 would be most of a
#: class, and clusters within it would not show (docs/adr/0015).
NEIGHBORS = (5, 10)
ROWS_PER_NEIGHBOR = 10
#: Random samples over which `mutual_share` is averaged if it does not use all rows.
N_SAMPLES = 3


def discriminability(
    X: Array, Z: Array, eta: float, kernels: KernelBank, n_neighbors: int
) -> Array:
    """Return tau (K,) of target rows X (n x m) and Z = X W (n x u), both roughly centred.

    Only the distances in X are kept as an n x n array, because they are the expensive ones; those in Z are
    computed block by block.
    """
    D = squared_distances(X, rounding=ROUNDING)
    near = mutual_neighbors(D, n_neighbors)
    log_sums = np.full((2, len(kernels)), -np.inf)  # of neighbours, of all other pairs
    for rows, columns, upper in upper_blocks(len(D)):
        sizes = squared_distances(Z[rows], Z[columns], rounding=ROUNDING)
        counted = np.flatnonzero(upper & (sizes > 0))
        if not counted.size:
            continue
        sizes, distances = sizes.ravel()[counted], D[rows, columns].ravel()[counted]
        inside = near[rows, columns].ravel()[counted]
        nearest = distances.min()
        weights = np.stack([sizes * inside, sizes * ~inside])
        sums = np.empty_like(log_sums)
        for k, values in kernels.evaluate(distances - nearest, eta):
            sums[:, k] = weights @ values
        with np.errstate(divide="ignore"):
            block = np.log(sums) - nearest / eta * 2.0**-kernels.exponents
        log_sums = np.logaddexp(log_sums, block)
    bound = np.log(BOUND)
    with np.errstate(invalid="ignore"):
        ratio = np.where(np.isneginf(log_sums[1]), -bound, log_sums[1] - log_sums[0])
    return np.asarray(np.exp(np.clip(ratio, -bound, bound)))


def mutual_share(
    X: AnyArray, n_rows: int | None = None, *, like: int | None = None, random_state: int = 0
) -> float:
    """Return the share of nearest neighbours of the rows of X that are mutual.

    Parameters
    ----------
    X : array of shape (n, m)
        The rows.
    n_rows : int, optional
        Return the mean share in random samples of this size, which is comparable between data of different
        sizes; by default the share among all rows.
    like : int, optional
        Use the number of neighbours for this number of rows, by default for those of X or of a sample.
    random_state : int, default=0
        The seed of the samples.

    Returns
    -------
    float
        The share, from 0 to 1.

    Examples
    --------
    In two distant groups of three rows all neighbours within a group are mutual:

    >>> groups = np.repeat([[0.0], [100.0]], 3, axis=0) + [[0], [1], [2]] * 2
    >>> mutual_share(groups)
    1.0
    """
    rng = np.random.default_rng(random_state)
    samples = [np.arange(len(X))]
    if n_rows is not None and n_rows < len(X):
        samples = [rng.permutation(len(X))[:n_rows] for _ in range(N_SAMPLES)]
    mean = X.mean(axis=0, dtype=np.float64)
    return float(np.mean([_share(X[rows] - mean, like or len(rows)) for rows in samples]))


def _share(X: AnyArray, like: int) -> float:
    if len(X) < 3:  # each row is a neighbour of each other row
        return 0.0
    D = squared_distances(X)
    shares = []
    for r in NEIGHBORS:
        r = min(r, max(2, like // ROWS_PER_NEIGHBOR), max(1, (len(D) - 1) // 2))
        shares.append(mutual_neighbors(D, r).sum() / (len(D) * r))
    return float(np.mean(shares))
