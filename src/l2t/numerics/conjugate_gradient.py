"""Riemannian conjugate gradient (Polak-Ribière+, monotone Armijo line search).

``W <- retract(W + t p)``,  ``p = -g + beta_PR transport(p)``,  restarted whenever p is not a descent
direction. DIP, SIE, ITL and the paper's search for W use it. Every accepted step lowers the objective.

The manifolds use the Euclidean inner product and transport vectors by projection:

* Grassmann: ``W'W = I_u`` up to rotation; tangent ``G - W W'G``; retraction by QR.
* Sphere: ``||W||_F = radius``; tangent ``G - <G, W> W / radius²``; retraction by scaling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from l2t.typing import Array

#: A function that returns its value and its Euclidean gradient.
ValueAndGradient = Callable[[Array], tuple[float, Array]]

#: Share of the first-order decrease that a step must reach (Nocedal and Wright 2006, section 3.1).
ARMIJO = 1e-4
#: After so many halvings, to 3e-8 of the first one, there is no step that lowers the objective.
MAX_HALVINGS = 25


@dataclass(frozen=True)
class Grassmann:
    """Subspaces, represented by matrices with orthonormal columns."""

    def project(self, W: Array, G: Array) -> Array:
        """Return the part of G that is tangent at W, ``G - W W'G``."""
        return G - W @ (W.T @ G)

    def retract(self, W: Array) -> Array:
        """Return the Q of ``W = QR`` with a positive diagonal of R."""
        Q, R = np.linalg.qr(W)
        return np.asarray(Q * np.where(np.diag(R) < 0, -1.0, 1.0))


@dataclass(frozen=True)
class Sphere:
    """Matrices with a given Frobenius norm."""

    radius: float

    def project(self, W: Array, G: Array) -> Array:
        """Return ``G - <G, W> W / radius²``."""
        return G - (np.vdot(G, W) / self.radius**2) * W

    def retract(self, W: Array) -> Array:
        """Return W scaled to the radius."""
        return W * (self.radius / np.linalg.norm(W))


Manifold: TypeAlias = Grassmann | Sphere


@dataclass(frozen=True, eq=False)
class Optimum:
    """The result of `minimize_on_manifold`.

    `trace` has the objective at the start and after each iteration, never increasing. The stop reasons
    "gradient", "progress" and "line-search" mean convergence; "max_iter" does not.
    """

    W: Array
    trace: tuple[float, ...]
    stop_reason: str
    n_evaluations: int

    @property
    def value(self) -> float:
        """The objective at W."""
        return self.trace[-1]


def minimize_on_manifold(
    fun: ValueAndGradient,
    W: Array,
    manifold: Manifold,
    *,
    max_iter: int = 100,
    tol: float = 1e-5,
    callback: Callable[[Array], object] | None = None,
) -> Optimum:
    """Minimise ``fun(W) = (value, Euclidean gradient)`` over a manifold, starting from W.

    Stops when the norm of the Riemannian gradient is below ``1e-10 |value| / ||W||`` ("gradient"), when two
    iterations together lower the objective by less than the share ``tol`` ("progress"), when no step along
    steepest descent lowers it ("line-search"), or after ``max_iter`` iterations ("max_iter"). An absolute
    value below 1e-12 counts as rounding. The callback is called with the new W after each iteration.
    """
    W = manifold.retract(W)
    value, euclidean = fun(W)
    gradient = manifold.project(W, euclidean)
    direction, slope = -gradient, -_square(gradient)
    trace, evaluations, step = [value], 1, 0.0
    reason = "max_iter"
    for _ in range(max_iter):
        if -slope <= (1e-10 * max(abs(value), 1e-12) / np.linalg.norm(W)) ** 2:
            reason = "gradient"
            break
        first = step if step else 0.1 * float(np.linalg.norm(W)) / np.sqrt(_square(direction))
        accepted, used = _line_search(fun, W, manifold, value, direction, slope, first)
        evaluations += used
        if accepted is None:
            if slope == -_square(gradient):
                reason = "line-search"
                break
            direction, slope, step = -gradient, -_square(gradient), 0.0
            continue
        previous, old_slope = gradient, slope
        W, value, euclidean, taken = accepted
        gradient = manifold.project(W, euclidean)
        trace.append(value)
        if callback is not None:
            callback(W)
        if _stalled(trace, tol):
            reason = "progress"
            break
        direction, slope = _next_direction(manifold, W, gradient, previous, direction)
        # The first trial step is the one that gives the same first-order decrease again.
        step = taken * old_slope / slope if slope < 0 else 0.0
    return Optimum(W, tuple(trace), reason, evaluations)


def _square(G: Array) -> float:
    return float(np.vdot(G, G))


def _stalled(trace: list[float], tol: float) -> bool:
    """Return whether the last two iterations together lowered the objective by less than the share tol."""
    return len(trace) > 2 and trace[-3] - trace[-1] <= tol * max(abs(trace[-3]), 1e-12)


def _next_direction(
    manifold: Manifold, W: Array, gradient: Array, previous: Array, direction: Array
) -> tuple[Array, float]:
    """Return the Polak-Ribière+ direction and its slope; steepest descent if the slope is too flat."""
    moved = manifold.project(W, previous)
    beta = max(0.0, float(np.vdot(gradient, gradient - moved)) / max(_square(previous), 1e-300))
    candidate = beta * manifold.project(W, direction) - gradient
    slope = float(np.vdot(gradient, candidate))
    if slope > -1e-3 * np.sqrt(_square(gradient) * _square(candidate)):
        return -gradient, -_square(gradient)
    return candidate, slope


def _line_search(
    fun: ValueAndGradient,
    W: Array,
    manifold: Manifold,
    value: float,
    direction: Array,
    slope: float,
    step: float,
) -> tuple[tuple[Array, float, Array, float] | None, int]:
    """Backtrack by safeguarded quadratic interpolation; try one longer step if the first is too short.

    Returns the point, its value, Euclidean gradient and step, or None without a decrease, and the number of
    evaluations.
    """
    best: tuple[Array, float, Array, float] | None = None
    for used in range(1, MAX_HALVINGS + 1):
        candidate = manifold.retract(W + step * direction)
        new, euclidean = fun(candidate)
        accepted = np.isfinite(new) and new <= value + ARMIJO * step * slope
        if best is not None:  # a longer step was tried: keep the better of the two
            return ((candidate, new, euclidean, step) if accepted and new < best[1] else best), used
        curvature = new - value - step * slope
        fitted = -slope * step**2 / (2 * curvature) if curvature > 0 else np.inf
        if accepted:
            if fitted < 2 * step:
                return (candidate, new, euclidean, step), used
            best = (candidate, new, euclidean, step)
            step = min(fitted, 5 * step)
        else:
            finite = np.isfinite(fitted) and np.isfinite(new)
            step = float(np.clip(fitted, 0.1 * step, 0.5 * step)) if finite else 0.1 * step
    return best, MAX_HALVINGS


def gradient_error(fun: ValueAndGradient, W: Array, *, step: float = 1e-5) -> float:
    """Return ``||g - g_fd|| / ||g_fd||`` for ``fun(W) = (value, g)`` and the central differences g_fd at W.

    >>> round(gradient_error(lambda W: (float((W**2).sum()), 2 * W), np.ones((2, 2))), 8)
    0.0
    """
    _, gradient = fun(W)
    numeric = np.empty_like(W)
    for index in np.ndindex(*W.shape):
        shift = np.zeros_like(W)
        shift[index] = step
        numeric[index] = (fun(W + shift)[0] - fun(W - shift)[0]) / (2 * step)
    scale = max(float(np.linalg.norm(numeric)), np.finfo(float).tiny)
    return float(np.linalg.norm(gradient - numeric)) / scale
