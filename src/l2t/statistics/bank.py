"""The kernel bank: RBF kernels with bandwidths in proportion to a mean distance of the data.

``K_k(a, b) = exp(-||a - b||² / delta_k)``,  ``delta_k = 2^(p_k) eta``,  eta the mean squared distance between
the domains (the paper calls it the median trick; erratum E10).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from l2t.exceptions import InvalidInputError
from l2t.typing import Array
from l2t.validation import real_number


@dataclass(frozen=True)
class KernelBank:
    """A bank of RBF kernels with bandwidths ``2^p eta`` for the exponents p = first, first + step, ..., last.

    Parameters
    ----------
    first : float, default=-8.0
        The first exponent.
    last : float, default=8.0
        The last exponent.
    step : float, default=0.5
        The step between exponents.

    Examples
    --------
    >>> len(KernelBank())
    33
    >>> KernelBank(-1, 1, 0.5).exponents.tolist()
    [-1.0, -0.5, 0.0, 0.5, 1.0]
    """

    first: float = -8.0
    last: float = 8.0
    step: float = 0.5

    def __post_init__(self) -> None:
        for name in ("first", "last", "step"):
            object.__setattr__(self, name, real_number(name, getattr(self, name)))
        span = (self.last - self.first) / self.step if self.step > 0 else -1.0
        if not (span >= 0 and abs(span - round(span)) < 1e-9):
            raise InvalidInputError(
                "first, last and step must give an increasing range that ends at last, "
                f"got {self.first:g}, {self.last:g}, {self.step:g}"
            )

    def __len__(self) -> int:
        return round((self.last - self.first) / self.step) + 1

    def evaluate(self, D: Array, eta: float) -> Iterator[tuple[int, Array]]:
        """Yield (k, ``exp(-D / (2^(p_k) eta))``) from the widest kernel to the narrowest.

        Arrays are reused: the next iteration overwrites them. If 1 / step is a whole number,
        ``K_{p-1} = K_p²``, and only the kernels of the widest octave are computed as exponentials.

        Parameters
        ----------
        D : array
            Squared distances.
        eta : float
            The mean squared distance.

        Yields
        ------
        (int, array)
            The number k of the kernel and its values, in the shape of D.
        """
        octave = max(1, round(1.0 / self.step))
        if abs(octave * self.step - 1.0) > 1e-12:
            octave = len(self)  # no kernel is the square of another
        widest: dict[int, Array] = {}
        for k in reversed(range(len(self))):
            values = widest.get(k % octave)
            if values is None:
                values = D * (-(2.0 ** -self.exponents[k]) / eta)
                np.exp(values, out=values)
                widest[k % octave] = values
            else:
                np.multiply(values, values, out=values)
            yield k, values

    @property
    def exponents(self) -> Array:
        """The exponents p_k, in increasing order."""
        return np.asarray(self.first + self.step * np.arange(len(self)), dtype=np.float64)
