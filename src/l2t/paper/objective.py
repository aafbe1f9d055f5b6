"""The objective of the search for W: the reciprocal of its predicted improvement ratio.

``J(W) = 1/f - b``, in the paper's form ``beta'd + lambda beta'Q beta + mu / beta'tau``

with d, Q and tau of `l2t.statistics` for a pair and a W (m x u), and the Euclidean gradient of J in W (errata
sections 4 and 5). J depends only on the rows Z = Y V in the joint span (Y (n x r), W = B V). Each term
returns its derivative in Z; the product with Y' is the gradient in V, and B times that the gradient in W. J
is invariant to the scale of W and to rotations of its columns: ``<gradient, W> = 0``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.numerics import mean_squared_distance
from l2t.paper.discrepancy import Discrepancy
from l2t.paper.function import Reflection
from l2t.paper.separation import Separation
from l2t.statistics.variance import paired_rows
from l2t.typing import Array
from l2t.validation import instance_of

#: A W whose part in the span of the rows has a smaller relative norm is zero up to rounding.
ROUNDING = 1e-14


class Objective:
    """The function ``W -> (J, gradient of J)`` for a pair.

    Terms of weight zero are not computed. If all weights are zero, J and its gradient are 0.

    Parameters
    ----------
    pair : DomainPair
        The domains; the target must have at least two rows. Labels are not used.
    reflection : ReflectionFunction or ConvexReflection
        The weights of the terms, and the settings of the statistics. J does not include b.
    random_state : int or None, default=0
        The seed for pairing source and target rows in Q; None pairs them in the given order.

    Raises
    ------
    InvalidInputError
        The target has fewer than two rows, or all rows are identical.

    Examples
    --------
    >>> from l2t.domains import Domain
    >>> from l2t.paper import ReflectionFunction
    >>> pair = DomainPair(Domain([[0.0, 1.0], [2.0, 0.0]]), Domain([[1.0, 1.0], [3.0, 1.0], [0.0, 4.0]]))
    >>> reflection = ReflectionFunction(beta=np.ones(33), lambda_=1.0, mu=1.0)
    >>> value, gradient = Objective(pair, reflection)([[1.0], [0.0]])
    >>> gradient.shape
    (2, 1)
    """

    def __init__(
        self, pair: DomainPair, reflection: Reflection, random_state: int | None = 0
    ) -> None:
        instance_of("pair", pair, DomainPair)
        if len(pair.target) < 2:
            raise InvalidInputError(f"target must have at least 2 rows, got {len(pair.target)}")
        self._span = span = pair.span
        if span.rank == 0:
            raise InvalidInputError("pair must have rows that differ, got identical rows")
        self._ns = ns = len(pair.source)
        self._discrepancy: Discrepancy | None = None
        self._separation: Separation | None = None
        weights, nt = reflection.term_weights, len(pair.target)
        if weights.mmd.any() or (
            isinstance(weights.variance, np.ndarray) and weights.variance.any()
        ):
            paired = paired_rows(ns, nt, random_state)
            self._discrepancy = Discrepancy(
                ns, nt, paired, reflection.kernels, weights.mmd, weights.variance
            )
        if weights.discriminant.any():
            # Centring keeps distances accurate; the median is robust to outliers.
            self._centre = np.median(span.target[:: 1 + nt // 16], axis=0)
            eta = mean_squared_distance(span.source, span.target)
            self._separation = Separation(span.target - self._centre, eta, reflection)

    def __call__(self, W: npt.ArrayLike) -> tuple[float, Array]:
        """Return the objective and its gradient.

        Parameters
        ----------
        W : array-like of shape (m, u)
            The latent factor matrix; it need not satisfy any constraint.

        Returns
        -------
        value : float
            J at W.
        gradient : array of shape (m, u)
            The Euclidean gradient of J in W.
        """
        W = _checked(W, "W", "feature", self._span.mean.size)
        V = self._span.lower(W)
        if np.linalg.norm(V) <= ROUNDING * np.linalg.norm(W):
            V = np.zeros_like(V)
        value, gradient = self.in_span(V)
        return value, self._span.lift(gradient, np.float64)

    def in_span(self, V: npt.ArrayLike) -> tuple[float, Array]:
        """Return J and its gradient (r x u) at ``W = pair.span.lift(V)``, V (r x u)."""
        V = _checked(V, "V", "dimension of the span", self._span.rank)
        Y, ns = self._span.joint, self._ns
        Z = Y @ V
        eta = mean_squared_distance(Z[:ns], Z[ns:])
        if not eta > 0:
            raise InvalidInputError("W must not map all rows of both domains to one point")
        value, derivative = 0.0, np.zeros_like(Z)
        if self._discrepancy is not None:
            value, derivative = self._discrepancy(Z, eta)
        if self._separation is not None:
            term, more = self._separation(Z[ns:] - self._centre @ V)
            value += term
            derivative[ns:] += more
        return value, Y.T @ derivative


def _checked(A: npt.ArrayLike, name: str, thing: str, rows: int) -> Array:
    """Return A as a finite float64 matrix with this number of rows."""
    A = np.asarray(A, dtype=np.float64)
    if A.ndim != 2 or len(A) != rows or not np.isfinite(A).all():
        raise InvalidInputError(
            f"{name} must be finite with one row per {thing} ({rows}), got shape {A.shape}"
        )
    return A
