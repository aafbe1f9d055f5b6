"""The squared maximum mean discrepancy (MMD) of the projected domains, d, and its covariance matrix Q.

``d_k = mean K_k(s, s') + mean K_k(t, t') - 2 mean K_k(s, t)``, over all pairs of rows of Zs = Xs W and
Zt = Xt W (biased, as in the paper; erratum E31).

``h_k(i, i') = K_k(s_i, s_i') + K_k(t_i, t_i') - K_k(s_i, t_i') - K_k(s_i', t_i)``,  i, i' = 1 ... n
``Q[k1, k2] = Σ_{i,i'} (h_k1 - mean h_k1)(h_k2 - mean h_k2) / (n² - 1)``

for n source rows paired with n target rows (the full matrix and the symmetric h: errata E1 to E4). The sums
of the four kernels over the same pairs are returned as well, because d is computed from them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from l2t.numerics import squared_distances
from l2t.numerics.kernels import PAIRS, upper_blocks
from l2t.statistics.bank import KernelBank
from l2t.typing import Array, Indices

#: The signs of K(s, s'), K(s, t'), K(t, s'), K(t, t') in h.
SIGNS = np.array([1.0, -1.0, -1.0, 1.0])


def paired_rows(ns: int, nt: int, random_state: int | None) -> tuple[Indices, Indices]:
    """Return the source rows and the target rows that are paired; with None, in the given order."""
    n = min(ns, nt)
    if random_state is None:
        return np.arange(n), np.arange(n)
    rng = np.random.default_rng(random_state)
    return rng.permutation(ns)[:n], rng.permutation(nt)[:n]


def mmd_covariance(S: Array, T: Array, eta: float, kernels: KernelBank) -> tuple[Array, Array]:
    """Return Q (K, K) for paired rows S and T (n x u), and the kernel sums (K, 4) over all pairs.

    The sums are those of K(s, s'), K(s, t'), K(t, s') and K(t, t').
    """
    n, K = len(S), len(kernels)
    products, sums = np.zeros((K, K)), np.zeros((K, 4))
    # One buffer for h: allocating it for each block would take as long as the computation.
    buffer = np.empty(K * max(n, PAIRS))
    for D, times in _four_distances(S, T):
        size = D.shape[1]
        h, counts = buffer[: K * size].reshape(K, size), np.full(size, times)
        for k, values in kernels.evaluate(D, eta):
            np.dot(SIGNS, values, out=h[k])
            sums[k] += values @ counts
        products += times * (h @ h.T)
    means = sums @ SIGNS / n**2
    return (products - n**2 * np.outer(means, means)) / max(n**2 - 1, 1), sums


def _four_distances(S: Array, T: Array) -> Iterator[tuple[Array, float]]:
    """Yield the squared distances (4, pairs) in h, and the weight of these pairs: 2 off the diagonal."""
    gap = np.einsum("ij,ij->i", S - T, S - T)
    yield np.stack([np.zeros_like(gap), gap, gap, np.zeros_like(gap)]), 1.0
    for rows, columns, upper in upper_blocks(len(S)):
        blocks = (squared_distances(A[rows], B[columns]) for A in (S, T) for B in (S, T))
        yield np.stack([D[upper] for D in blocks]), 2.0


def mmd(
    Zs: Array,
    Zt: Array,
    paired: tuple[Indices, Indices],
    sums: Array,
    eta: float,
    kernels: KernelBank,
) -> Array:
    """Return d (K,) from the kernel sums (K, 4) over the paired rows and from the unpaired rows."""
    i, j = paired
    ss, st, ts, tt = sums.T
    more_s, more_st = _unpaired_sums(np.delete(Zs, i, axis=0), Zs[i], Zt[j], eta, kernels)
    more_t, more_ts = _unpaired_sums(np.delete(Zt, j, axis=0), Zt[j], Zs[i], eta, kernels)
    ns, nt = len(Zs), len(Zt)
    d = (ss + more_s) / ns**2 + (tt + more_t) / nt**2
    d -= (st + ts + 2.0 * (more_st + more_ts)) / (ns * nt)
    # Rounding may give a value just below zero if the domains are equal.
    return np.asarray(np.maximum(d, 0.0))


def _unpaired_sums(rest: Array, own: Array, other: Array, eta: float, kernels: KernelBank) -> Array:
    """Return the kernel sums (2, K) of unpaired rows: within their own domain, and across domains."""
    Z = np.concatenate([rest, own, other])
    of_other = np.arange(len(Z)) >= len(rest) + len(own)
    sums = np.zeros((2, len(kernels)))
    sums[0] = len(rest)  # each row with itself
    for rows, columns, upper in upper_blocks(len(rest), len(own) + len(other)):
        across = upper & of_other[columns]
        weights = np.stack([2.0 * (upper & ~across), across]).reshape(2, -1)
        D = squared_distances(Z[rows], Z[columns])
        for k, values in kernels.evaluate(D.ravel(), eta):
            sums[:, k] += weights @ values
    return sums
