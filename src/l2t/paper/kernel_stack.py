"""The kernels of a bank as a stacked array, and their weighted sums.

``K_k(x) = exp(-rate_k x)``,  ``rate_k = 2^(-p_k)``,  x a squared distance divided by eta.

If the number of kernels per octave is whole, a kernel is the square of the one an octave wider, and only the
widest octave needs exponentials. Their arguments are mostly far below 1, where a few terms of the power
series are exact to machine precision, and faster. With the kernels (and the powers of x) as rows, a sum over
them is a product with a vector.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from l2t.statistics import KernelBank
from l2t.typing import Array, Indices

#: Number of distances per chunk: fits into the processor cache, and is enough work per call of numpy.
CHUNK = 8192
#: Maximum number of bytes to store for reuse; larger arrays are computed again.
MAX_STORED = 2**29
#: Maximum number of terms of the power series: more are slower than the exponential.
MAX_SERIES_TERMS = 9


class KernelStack:
    """The kernels from the widest to the narrowest that has a nonzero weight in `weights` (K,).

    Attributes
    ----------
    index : array of shape (k,)
        The kernels' places in the bank, the widest first.
    rates : array of shape (k,)
        Their inverse bandwidths.
    """

    def __init__(self, kernels: KernelBank, weights: Array) -> None:
        weighted = np.flatnonzero(weights)
        self.index: Indices = np.arange(weighted[0], weighted[-1] + 1)[::-1]
        self.rates = 2.0 ** -kernels.exponents[self.index]
        octave = max(1, round(1.0 / kernels.step))
        doubles = abs(octave * kernels.step - 1.0) < 1e-12
        self._octave = min(octave, len(self)) if doubles else len(self)

    def __len__(self) -> int:
        return len(self.rates)

    def __call__(self, x: Array) -> Array:
        """Return the kernels (k, p) of distances x (p,)."""
        return _Buffer(self.rates, self._octave, x.size, np.inf).fill(x)

    def sums(self, x: Array, weights: Array) -> tuple[Array, Array]:
        """Return ``Σ weight K`` and ``Σ weight rate K`` of (rows, k) weights, as (rows, *shape of x)."""
        flat, rows = x.reshape(-1), len(weights)
        both = np.concatenate([weights, weights * self.rates])
        products = np.empty((2 * rows, flat.size))
        largest, buffer = float(flat.max(initial=0.0)), None
        for at in range(0, flat.size, CHUNK):
            part = flat[at : at + CHUNK]
            if buffer is None or len(part) < CHUNK:
                buffer = _Buffer(self.rates, self._octave, len(part), largest)
            K, into = buffer.fill(part), products[:, at : at + CHUNK]
            if rows == 1:  # twice as fast as a product with two rows
                for row, product in zip(both, into, strict=True):
                    np.dot(row, K, out=product)
            else:
                np.matmul(both, K, out=into)
        shape = (rows, *x.shape)
        return products[:rows].reshape(shape), products[rows:].reshape(shape)


class _Buffer:
    """A reusable array for the kernels of `size` distances, none above `largest`."""

    def __init__(self, rates: Array, octave: int, size: int, largest: float) -> None:
        self._rates = -rates[:octave]
        self._K = np.empty((len(rates), size))
        narrower = [self._K[k : k + octave] for k in range(octave, len(rates), octave)]
        self._squares = [
            (self._K[octave * at :][: len(rows)], rows) for at, rows in enumerate(narrower)
        ]
        terms = _terms(float(rates[octave - 1]) * largest)
        factorials = [float(factorial(j)) for j in range(terms)]
        self._coefficients = self._rates[:, None] ** np.arange(terms) / factorials
        self._powers = np.ones((terms, size))

    def fill(self, x: Array) -> Array:
        """Return the kernels (k, size) of x; the next call overwrites them."""
        widest = self._K[: len(self._rates)]
        if len(self._powers):
            for lower, power in zip(self._powers[:-1], self._powers[1:], strict=True):
                np.multiply(lower, x, out=power)
            for row, kernel in zip(self._coefficients, widest, strict=True):
                np.dot(row, self._powers, out=kernel)
        else:
            np.exp(np.multiply.outer(self._rates, x, out=widest), out=widest)
        for wider, narrower in self._squares:
            np.square(wider, out=narrower)
        return self._K


def _terms(largest: float) -> int:
    """Return the number of terms of the series of exp needed up to an argument, 0 for too many."""
    for terms in range(2, MAX_SERIES_TERMS + 1):
        if largest**terms / factorial(terms) < 2.0**-54:
            return terms
    return 0
