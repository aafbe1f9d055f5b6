"""A convex form of the reflection function, with weights of its own for each term and kernel.

``1 / f = Σ_k a_k d_k / d̄_k + Σ_k v_k Q_kk / Q̄_k + Σ_k m_k τ̄_k / tau_k + b``

with weights a, v, m and b that are not negative, and typical sizes d̄, Q̄ and τ̄ of the statistics. In the
paper's form the three terms share one beta, so that a kernel that measures discriminability well must measure
the distance of the domains too. Here 1/f is linear in what is learned: there is one optimum, and no start to
choose (`l2t.paper.convex_loss`).

The sizes of tau differ between kinds of data by more than between the W's of one pair. A function that is
to be used on other data than it was learned from has a `level`, the typical sum of its terms without
transfer (W = I): for a new pair (`ConvexReflection.for_pair`) terms are multiplied by the level and divided
by their sum at W = I. With ``b = 1 - level`` then ``f(I) = 1``, as by definition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.paper.function import Reflection, TermWeights
from l2t.paper.loss import COMPONENTS
from l2t.statistics import pair_statistics
from l2t.typing import Array
from l2t.validation import real_number

#: Lower bound of tau; that of statistics is 1e-12.
LEAST_TAU = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class ConvexReflection(Reflection):
    """The convex form of the reflection function: what `learn` returns for ``form="convex"``.

    Parameters
    ----------
    weights : array-like of shape (3, K)
        The weights a, v and m of d, of the diagonal of Q, and of 1/tau, not negative.
    b : float, default=0.0
        The bias.
    sizes : array-like of shape (3, K), optional
        The sizes of d, the diagonal of Q, and tau, by which they are divided; by default 1.
    level : float, optional
        The typical sum of the terms without transfer, for a function that is used on other kinds of data than
        it was learned from; by default terms are as they are.
    kernels, n_neighbors, c, label_range, calibration, forecast, training, trained_on : optional
        As for `ReflectionFunction`.

    Examples
    --------
    >>> weights = np.zeros((3, 33))
    >>> weights[2, 8] = 0.2
    >>> f = ConvexReflection(weights, b=0.6)
    >>> from l2t.statistics import PairStatistics
    >>> plain = PairStatistics(np.zeros(33), np.zeros((33, 33)), np.ones(33), f.kernels, 5)
    >>> round(f.predict(plain), 3)
    1.25
    """

    weights: Array
    b: float = 0.0
    sizes: Array | None = None
    level: float | None = None

    def __post_init__(self) -> None:
        shape = (3, len(self.kernels))
        if self.sizes is None:
            object.__setattr__(self, "sizes", np.ones(shape))
        for name in ("weights", "sizes"):
            self._freeze(name, shape, f"three numbers per kernel {shape}")
        if not (np.asarray(self.sizes) > 0).all():
            raise InvalidInputError("sizes must be above 0, got 0")
        if self.level is not None:
            object.__setattr__(self, "level", real_number("level", self.level, above=0))
        object.__setattr__(self, "b", real_number("b", self.b))
        super().__post_init__()

    @property
    def kernel_weights(self) -> Array:
        """The sums of the three weights of each kernel."""
        return np.asarray(self.weights.sum(axis=0))

    @property
    def parameters(self) -> dict[str, float]:
        """The sums of the weights of each term over the kernels, and b."""
        return {
            **dict(zip(COMPONENTS, self.weights.sum(axis=1).tolist(), strict=True)),
            "b": self.b,
        }

    @property
    def term_weights(self) -> TermWeights:
        """The weights of the terms of 1/f, divided by the sizes."""
        (a, v, m), (d, Q, tau) = self.weights, np.asarray(self.sizes)
        return TermWeights(a / d, v / Q, m * tau, self.b)

    def discriminant(self, tau: Array) -> tuple[float, Array]:
        """Return ``Σ m_k τ̄_k / tau_k``, and its derivative in the logarithm of each tau."""
        parts = self.term_weights.discriminant / np.maximum(tau, LEAST_TAU)
        return float(parts.sum()), -parts

    def for_pair(self, pair: DomainPair, random_state: int | None = 0) -> ConvexReflection:
        """Return the function in units of a pair's terms without transfer; itself if it has no level."""
        if self.level is None:
            return self
        own = self.without_transfer(pair, random_state)
        factor = self.level / own if own > 0 else 1.0
        return replace(self, weights=self.weights * factor, level=None)

    def without_transfer(self, pair: DomainPair, random_state: int | None = 0) -> float:
        """Return the sum of the terms of a pair at W = I, without b."""
        identity = pair.span.lift(np.eye(pair.span.rank), np.float64)  # as I for rows of the pair
        statistics = pair_statistics(
            pair,
            identity,
            kernels=self.kernels,
            n_neighbors=self.n_neighbors,
            random_state=random_state,
        )
        return float(sum(term.sum() for term in self.by_kernel(statistics).values()))
