"""tau: how well a W separates distant target rows from near ones, without labels.

``tau_k(W) = Σ_{jj'} (K - H)_jj' ||(x_j - x_j') W||² / Σ_{jj'} H_jj' ||(x_j - x_j') W||²``

over target rows, ``K_jj' = exp(-||x_j - x_j'||² / delta_k)`` in the *original* features with
``delta_k = 2^(p_k) eta_0``, eta_0 the mean squared distance between the domains there, and H = K on pairs
that are mutually among their r nearest (errata E11, E28 to E30). The weights do not depend on W.

Narrow kernels underflow: the exponent of a block's nearest pair is factored out of its two sums, and
blocks are added by their logarithms.
"""

from __future__ import annotations

import numpy as np

from l2t.numerics import mutual_neighbors, squared_distances
from l2t.numerics.kernels import upper_blocks
from l2t.statistics.bank import KernelBank
from l2t.typing import Array

#: Where all mutual neighbours coincide, or all pairs are neighbours, the ratio ends here.
BOUND = 1e12
#: A squared distance below this share of the squared norms is rounding: the rows coincide.
ROUNDING = 1e-14


def discriminability(
    X: Array, Z: Array, eta: float, kernels: KernelBank, n_neighbors: int
) -> Array:
    """Return tau (K,) of target rows X (n x m) and Z = X W (n x u), both near zero.

    The distances in X are the one n x n array: as products of long rows they are not made twice.
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
