"""The objective of the inference of W: one over the improvement ratio that is expected of it.

``J(W) = 1/f - b = beta'd + lambda beta'Q beta + mu / beta'tau``

with d, Q and tau of `l2t.statistics` for a pair and a W (m x u), and the Euclidean gradient of J in W
(errata sections 4 and 5). J depends on the rows Z = Y V in the joint span alone (Y (n x r), W = B V), so each
term gives its derivative in Z, and one product with Y' is the gradient in V; B times it is the one in W.
J does not change with the scale of W nor with a rotation of its columns: ``<gradient, W> = 0``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.inference.paper.discrepancy import Discrepancy
from l2t.inference.paper.kernel_stack import KernelStack
from l2t.inference.paper.separation import Separation
from l2t.numerics import mean_squared_distance
from l2t.reflection import ReflectionFunction
from l2t.statistics.variance import paired_rows
from l2t.typing import Array
from l2t.validation import instance_of

#: A W of which the rows see less than this share is rounding to them.
ROUNDING = 1e-14


class Objective:
    """``W -> (J, gradient of J)`` for a pair, prepared once.

    Terms without weight are not computed. Where beta is all zero there is no tau to divide by: J and its
    gradient are then 0.

    Parameters
    ----------
    pair : DomainPair
        The domains; the target needs two rows or more. No label is read.
    reflection : ReflectionFunction
        beta, lambda, mu, and how the statistics are computed. Its b is left out of J.
    random_state : int or None, default=0
        The seed that pairs source and target rows for Q; None pairs them in the given order.

    Examples
    --------
    >>> from l2t.domains import Domain
    >>> pair = DomainPair(Domain([[0.0, 1.0], [2.0, 0.0]]), Domain([[1.0, 1.0], [3.0, 1.0], [0.0, 4.0]]))
    >>> reflection = ReflectionFunction(beta=np.ones(33), lambda_=1.0, mu=1.0)
    >>> value, gradient = Objective(pair, reflection)([[1.0], [0.0]])
    >>> gradient.shape
    (2, 1)
    """

    def __init__(
        self, pair: DomainPair, reflection: ReflectionFunction, random_state: int | None = 0
    ) -> None:
        instance_of("pair", pair, DomainPair)
        if len(pair.target) < 2:
            raise InvalidInputError(f"target must have at least 2 rows, got {len(pair.target)}")
        self._span = span = pair.span
        if span.rank == 0:
            raise InvalidInputError("pair must not have all rows of both domains at one point")
        self._ns = ns = len(pair.source)
        self._discrepancy: Discrepancy | None = None
        self._separation: Separation | None = None
        beta = reflection.beta
        if not beta.any():
            return
        stack = KernelStack(reflection.kernels, beta)
        nt = len(pair.target)
        paired = paired_rows(ns, nt, random_state)
        diagonal = reflection.q_mode == "diag"
        self._discrepancy = Discrepancy(
            ns, nt, paired, stack, reflection.lambda_, diagonal=diagonal
        )
        if reflection.mu > 0:
            # Distances lose digits far from zero; an outlier moves the mean, but not the median.
            self._middle = np.median(span.target[:: 1 + nt // 16], axis=0)
            self._separation = Separation(
                span.target - self._middle,
                mean_squared_distance(span.source, span.target),
                stack,
                reflection.mu,
                reflection.n_neighbors,
            )

    def __call__(self, W: npt.ArrayLike) -> tuple[float, Array]:
        """Return J and its gradient (m x u) at W (m x u)."""
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
            term, more = self._separation(Z[ns:] - self._middle @ V)
            value += term
            derivative[ns:] += more
        return value, Y.T @ derivative


def _checked(A: npt.ArrayLike, name: str, thing: str, rows: int) -> Array:
    """Return A as a float64 matrix of finite numbers with so many rows."""
    A = np.asarray(A, dtype=np.float64)
    if A.ndim != 2 or len(A) != rows or not np.isfinite(A).all():
        raise InvalidInputError(
            f"{name} must be finite with one row a {thing} ({rows}), got shape {A.shape}"
        )
    return A
