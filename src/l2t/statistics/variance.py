"""Q: the covariance of the terms of the MMD across kernels.

``h_k(i, i') = K_k(s_i, s_i') + K_k(t_i, t_i') - K_k(s_i, t_i') - K_k(s_i', t_i)``,  i, i' = 1 ... n
``Q[k1, k2] = Σ_{i,i'} (h_k1 - mean h_k1)(h_k2 - mean h_k2) / (n² - 1)``

for n source rows paired with n target rows (the full matrix and the symmetric h: errata E1 to E4).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from l2t.numerics import squared_distances
from l2t.statistics.bank import KernelBank

__all__ = ["mmd_covariance", "paired_rows"]

Array = npt.NDArray[np.float64]

BLOCK = 32


def paired_rows(
    ns: int, nt: int, random_state: int | None
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return which source rows are paired with which target rows; in the given order for None."""
    n = min(ns, nt)
    if random_state is None:
        return np.arange(n), np.arange(n)
    rng = np.random.default_rng(random_state)
    return rng.permutation(ns)[:n], rng.permutation(nt)[:n]


def mmd_covariance(S: Array, T: Array, eta: float, kernels: KernelBank) -> Array:
    """Return Q (K, K) for paired rows S and T (n x u)."""
    n, K = len(S), len(kernels)
    products, sums = np.zeros((K, K)), np.zeros(K)
    for at in range(0, n, BLOCK):
        # h is symmetric: the block with itself, and the block with what follows counted twice.
        own, after = slice(at, min(at + BLOCK, n)), slice(min(at + BLOCK, n), n)
        for columns, times in ((own, 1.0), (after, 2.0)):
            h = _terms(S, T, own, columns, eta, kernels)
            products += times * (h @ h.T)
            sums += times * h.sum(axis=1)
    means = sums / n**2
    covariance = (products - n**2 * np.outer(means, means)) / max(n**2 - 1, 1)
    return np.asarray(0.5 * (covariance + covariance.T))


def _terms(
    S: Array, T: Array, rows: slice, columns: slice, eta: float, kernels: KernelBank
) -> Array:
    """Return h (K, pairs) for a block of pairs."""
    quarters = (
        squared_distances(S[rows], S[columns]),
        squared_distances(T[rows], T[columns]),
        squared_distances(S[rows], T[columns]),
        squared_distances(T[rows], S[columns]),
    )
    size = quarters[0].size
    h = np.empty((len(kernels), size))
    for k, values in kernels.evaluate(np.stack(quarters).reshape(4, size), eta):
        h[k] = values[0] + values[1] - values[2] - values[3]
    return h
