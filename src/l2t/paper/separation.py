"""The discriminant term of projected target rows, a function of tau, and its derivative in the rows.

``tau_k = N_k / L_k``,  ``N_k = Σ_far a_k(j, j') D_jj'``,  ``L_k = Σ_near a_k(j, j') D_jj'``

over pairs of target rows, with D their squared distances under W; near pairs are mutual neighbours, far pairs
all others. The weights ``a_k = exp(-||x_j - x_j'||² / (2^(p_k) eta_0))`` do not depend on W (errata section
3): they are stored, or recomputed if there are too many. Narrow kernels underflow, so the exponent of the
nearest near pair is factored out of L, that of the nearest far pair out of N, and both are added to the
logarithm of the ratio. As in `l2t.statistics`, tau is clipped to its bounds (with a derivative of zero), and
rows that are identical up to rounding have distance 0.

``d tau_k = tau_k (dN_k / N_k - dL_k / L_k)``; with C the derivative in D, for one half of the pairs, and
``S = C + C'`` the derivative in the rows is ``2 (diag(S 1) Z - S Z)``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg.blas import dsymm

from l2t.numerics import mutual_neighbors, squared_distances
from l2t.paper.function import Reflection
from l2t.paper.kernel_stack import MAX_STORED, KernelStack
from l2t.statistics.discriminability import BOUND, ROUNDING
from l2t.typing import Array, Mask

#: Number of pairs of rows per chunk.
CHUNK = 2**15


class Separation:
    """``Z -> reflection.discriminant(tau)`` for the target rows Z.

    X (nt, m) are the target rows before W, roughly centred, and eta is the mean squared distance between the
    domains there. At most half of the other rows are neighbours of a row.
    """

    def __init__(self, X: Array, eta: float, reflection: Reflection) -> None:
        self._reflection, n_neighbors = reflection, reflection.n_neighbors
        self._stack = stack = KernelStack(reflection.kernels, reflection.term_weights.discriminant)
        D = squared_distances(X, rounding=ROUNDING)
        near = mutual_neighbors(D, n_neighbors)
        apart = np.triu(D > 0.0)
        D /= eta
        self._near, self._far = (_Pairs(D, apart & which, stack) for which in (near, ~near))

    def __call__(self, Z: Array) -> tuple[float, Array]:
        """Return the value and its derivative in Z."""
        D = squared_distances(Z, rounding=ROUNDING)
        N, L = self._far.sums(D), self._near.sums(D)
        bound = np.log(BOUND)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(N) - np.log(L)
            ratio += (self._near.nearest - self._far.nearest) * self._stack.rates
        ratio[N == 0.0] = -bound
        tau = np.ones(len(self._reflection.kernels))  # kernels without a weight do not count
        index = self._stack.index
        tau[index] = np.exp(np.clip(ratio, -bound, bound))
        value, slopes = self._reflection.discriminant(tau)
        factors = slopes[index]
        factors[np.abs(ratio) >= bound] = 0.0
        C = np.zeros_like(D)
        self._far.spread(factors, N, C)
        self._near.spread(-factors, L, C)
        products = dsymm(2.0, C.T, np.hstack([Z, np.ones((len(Z), 1))]), lower=1)
        return value, products[:, -1:] * Z - products[:, :-1]


class _Pairs:
    """Pairs of rows with their weights for each kernel, relative to those of the nearest pair."""

    def __init__(self, x: Array, chosen: Mask, stack: KernelStack) -> None:
        self._index = np.flatnonzero(chosen)
        x = x.take(self._index)
        self.nearest = float(x.min()) if x.size else 0.0
        self._x, self._stack = x - self.nearest, stack
        fits = 8 * len(stack) * x.size <= MAX_STORED
        self._stored = list(self._compute()) if fits else None

    def _compute(self) -> Iterator[tuple[slice, Array]]:
        for at in range(0, len(self._x), CHUNK):
            chunk = slice(at, at + CHUNK)
            yield chunk, self._stack(self._x[chunk])

    def _weights(self) -> Iterator[tuple[slice, Array]]:
        """Return chunks of pairs and their weights (k, pairs)."""
        return self._compute() if self._stored is None else iter(self._stored)

    def sums(self, D: Array) -> Array:
        """Return the weighted sums (k,) of the squared distances D (nt x nt)."""
        sums, sizes = np.zeros(len(self._stack)), D.take(self._index)
        for chunk, weights in self._weights():
            sums += weights @ sizes[chunk]
        return sums

    def spread(self, factors: Array, sums: Array, C: Array) -> None:
        """Write ``Σ_k factor_k / sum_k weight_k`` to the entries of the pairs in C (nt x nt)."""
        shares = np.divide(factors, sums, out=np.zeros_like(sums), where=sums > 0.0)
        flat = C.reshape(-1)
        for chunk, weights in self._weights():
            flat[self._index[chunk]] = shares @ weights
