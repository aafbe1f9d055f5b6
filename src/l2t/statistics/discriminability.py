"""tau: how well a W separates what is far in the target from what is near, without labels.

``tau_k(W) = Σ_{jj'} (K - H)_jj' ||(x_j - x_j') W||² / Σ_{jj'} H_jj' ||(x_j - x_j') W||²``

over target rows, ``K_jj' = exp(-||x_j - x_j'||² / delta_k)`` in the *original* features with
``delta_k = 2^(p_k) eta_0``, eta_0 the mean squared distance between the domains there, and H = K on pairs
that are mutually among their r nearest (errata E11, E28 to E30). The weights do not depend on W. Narrow
kernels underflow: the exponent of the nearest pair is factored out of numerator and denominator, and the
sums are taken by their logarithms.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from l2t.statistics.bank import KernelBank

__all__ = ["discriminability", "mutual_neighbors"]

Array = npt.NDArray[np.float64]

#: Where all mutual neighbours coincide, or all pairs are neighbours, the ratio ends here.
BOUND = 1e12


def discriminability(
    D: Array, DW: Array, eta: float, kernels: KernelBank, n_neighbors: int
) -> Array:
    """Return tau (K,) from squared distances of target rows in X (D) and in X W (DW)."""
    upper = np.triu_indices(len(D), 1)
    near = mutual_neighbors(D, n_neighbors)[upper]
    exponents = (D[upper].min(initial=np.inf) - D[upper]) / eta
    with np.errstate(divide="ignore"):
        sizes = np.log(DW[upper])
    inside, outside = (
        _log_sums(exponents[pairs], sizes[pairs], kernels) for pairs in (near, ~near)
    )
    bound = np.log(BOUND)
    with np.errstate(invalid="ignore"):
        ratio = np.where(np.isneginf(outside), -bound, outside - inside)
    return np.asarray(np.exp(np.clip(ratio, -bound, bound)))


def mutual_neighbors(D: Array, n_neighbors: int) -> npt.NDArray[np.bool_]:
    """Return which pairs are among each other's nearest; ties with the last neighbour count."""
    n = len(D)
    r = min(n_neighbors, max(1, (n - 1) // 2))
    others = D.copy()
    np.fill_diagonal(others, np.inf)
    reach = np.partition(others, r - 1, axis=1)[:, r - 1, None]
    near = others <= reach
    return np.asarray(near & near.T)


def _log_sums(exponents: Array, sizes: Array, kernels: KernelBank) -> Array:
    """Return ``log Σ exp(exponent / 2^p) size`` for each kernel; -inf for an empty sum."""
    if not exponents.size:
        return np.full(len(kernels), -np.inf)
    return np.array([logsumexp(exponents * 2.0**-p + sizes) for p in kernels.exponents])
