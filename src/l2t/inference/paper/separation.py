"""The separation term ``mu / beta'tau`` of projected target rows, and its derivative in the rows.

``tau_k = N_k / L_k``,  ``N_k = Σ_far a_k(j, j') D_jj'``,  ``L_k = Σ_near a_k(j, j') D_jj'``

over pairs of target rows, D their squared distances under W, near pairs the mutual neighbours, far pairs all
others. The weights ``a_k = exp(-||x_j - x_j'||² / (2^(p_k) eta_0))`` do not depend on W (errata section 3):
they are kept, or computed again where they are too many. Narrow kernels underflow, so the exponent of the
nearest near pair is factored out of L, that of the nearest far pair out of N, and they come back in the
logarithm of the ratio. As in `l2t.statistics`, tau ends at its bounds (its derivative is zero there), and
rows that coincide up to rounding have no distance.

``d tau_k = tau_k (dN_k / N_k - dL_k / L_k)``; with C the derivative in D, on one half of the pairs, and
``S = C + C'`` the derivative in the rows is ``2 (diag(S 1) Z - S Z)``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg.blas import dsymm

from l2t.inference.paper.kernel_stack import STORED, KernelStack
from l2t.numerics import mutual_neighbors, squared_distances
from l2t.statistics.discriminability import BOUND, ROUNDING
from l2t.typing import Array, Mask

#: Pairs of rows at a time.
CHUNK = 2**15


class Separation:
    """``Z -> mu / beta'tau`` for the target rows Z.

    X (nt, m) are the target rows before W, and eta the mean squared distance between the domains there. Rows
    should lie around zero. At most half of the other rows are neighbours.
    """

    def __init__(
        self, X: Array, eta: float, stack: KernelStack, mu: float, n_neighbors: int
    ) -> None:
        self._stack, self._mu = stack, mu
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
        tau = np.exp(np.clip(ratio, -bound, bound))
        value = self._mu / float(self._stack.beta @ tau)
        factors = self._stack.beta * tau * (-(value**2) / self._mu)
        factors[np.abs(ratio) >= bound] = 0.0
        C = np.zeros_like(D)
        self._far.spread(factors, N, C)
        self._near.spread(-factors, L, C)
        products = dsymm(2.0, C.T, np.hstack([Z, np.ones((len(Z), 1))]), lower=1)
        return value, products[:, -1:] * Z - products[:, :-1]


class _Pairs:
    """Pairs of rows with their weights in each kernel, those of the nearest pair being 1."""

    def __init__(self, x: Array, chosen: Mask, stack: KernelStack) -> None:
        self._index = np.flatnonzero(chosen)
        x = x.take(self._index)
        self.nearest = float(x.min()) if x.size else 0.0
        self._x, self._stack = x - self.nearest, stack
        fits = 8 * len(stack) * x.size <= STORED
        self._kept = list(self._computed()) if fits else None

    def _computed(self) -> Iterator[tuple[slice, Array]]:
        for at in range(0, len(self._x), CHUNK):
            chunk = slice(at, at + CHUNK)
            yield chunk, self._stack(self._x[chunk])

    def _weights(self) -> Iterator[tuple[slice, Array]]:
        """Return chunks of pairs and their weights (k, pairs)."""
        return self._computed() if self._kept is None else iter(self._kept)

    def sums(self, D: Array) -> Array:
        """Return the weighted sums (k,) of the squared distances D (nt x nt)."""
        sums, sizes = np.zeros(len(self._stack)), D.take(self._index)
        for chunk, weights in self._weights():
            sums += weights @ sizes[chunk]
        return sums

    def spread(self, factors: Array, sums: Array, C: Array) -> None:
        """Write ``Σ_k factor_k / sum_k weight_k`` to the places of the pairs in C (nt x nt)."""
        shares = np.divide(factors, sums, out=np.zeros_like(sums), where=sums > 0.0)
        flat = C.reshape(-1)
        for chunk, weights in self._weights():
            flat[self._index[chunk]] = shares @ weights
