"""Riemannian conjugate gradient on problems with known answers."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.numerics import Grassmann, Sphere, minimize_on_manifold


def trace_problem(A):
    return lambda W: (float(np.vdot(W, A @ W)), 2 * A @ W)


def test_smallest_eigenspace_on_the_grassmannian(rng):
    A = rng.normal(size=(15, 15))
    A = A @ A.T
    found = minimize_on_manifold(
        trace_problem(A), rng.normal(size=(15, 3)), Grassmann(), max_iter=500, tol=1e-14
    )
    values, vectors = np.linalg.eigh(A)
    assert found.value == pytest.approx(values[:3].sum(), rel=1e-8)
    np.testing.assert_allclose(found.W @ found.W.T, vectors[:, :3] @ vectors[:, :3].T, atol=1e-4)
    np.testing.assert_allclose(found.W.T @ found.W, np.eye(3), atol=1e-12)
    assert found.stop_reason in ("progress", "gradient", "line-search")


def test_smallest_eigenvector_on_the_sphere(rng):
    A = np.diag(np.arange(1.0, 9.0))
    found = minimize_on_manifold(
        trace_problem(A), rng.normal(size=(8, 2)), Sphere(2.0), max_iter=500, tol=1e-14
    )
    assert np.linalg.norm(found.W) == pytest.approx(2.0)
    assert found.value == pytest.approx(4.0, rel=1e-8)


def test_trace_falls_and_counts(rng):
    A = rng.normal(size=(20, 20))
    A = A @ A.T
    found = minimize_on_manifold(
        trace_problem(A), rng.normal(size=(20, 2)), Grassmann(), max_iter=7, tol=0.0
    )
    assert len(found.trace) == 8
    assert (np.diff(found.trace) < 0).all()
    assert found.stop_reason == "max_iter"
    assert 8 <= found.n_evaluations <= 40


def test_the_callback_gets_every_point(rng):
    A = rng.normal(size=(20, 20))
    problem, points = trace_problem(A @ A.T), []
    start = np.linalg.qr(rng.normal(size=(20, 3)))[0]
    options = {"max_iter": 7, "tol": 0.0}
    found = minimize_on_manifold(problem, start, Grassmann(), callback=points.append, **options)
    assert [problem(W)[0] for W in points] == pytest.approx(found.trace[1:])
    np.testing.assert_array_equal(points[-1], found.W)


def test_stationary_start_stops_at_once():
    found = minimize_on_manifold(trace_problem(np.eye(5)), np.eye(5, 2), Grassmann())
    assert found.stop_reason == "gradient"
    assert found.trace == (2.0,)


def test_an_objective_without_descent_stops_in_the_line_search():
    """A gradient that points the wrong way must not loop or raise the objective."""
    A = np.diag([1.0, 2.0, 3.0])
    wrong = lambda W: (float(np.vdot(W, A @ W)), -2 * A @ W)  # noqa: E731
    start = np.array([[1.0], [1.0], [1.0]])
    found = minimize_on_manifold(wrong, start, Grassmann())
    assert found.stop_reason == "line-search"
    assert len(found.trace) == 1


def test_values_that_are_not_finite_are_stepped_back_from(rng):
    """An objective that overflows along the line is met by a shorter step."""

    def objective(W):
        cliff = np.inf if abs(W[0, 0]) < 0.5 else float(W[0, 0] ** 2)
        return cliff, np.array([[2 * W[0, 0]], [0.0]])

    found = minimize_on_manifold(objective, np.array([[1.0], [0.3]]), Grassmann(), max_iter=50)
    assert np.isfinite(found.value)
    assert found.value < 0.9


def test_a_gradient_that_vanishes_after_a_step_ends_the_search():
    """A valley with a flat floor, reached by a step that was cut back."""

    def objective(W):
        angle = np.arctan2(W[1, 0], W[0, 0])
        slope = np.sign(angle) if abs(angle) > 0.02 else 0.0
        return max(abs(angle) - 0.02, 0.0), slope * np.array([[-np.sin(angle)], [np.cos(angle)]])

    start = np.array([[np.cos(0.05)], [np.sin(0.05)]])
    found = minimize_on_manifold(objective, start, Sphere(1.0))
    assert found.value == 0
    assert found.stop_reason == "gradient"
