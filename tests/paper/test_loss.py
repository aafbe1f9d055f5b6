"""The learning problem: its derivatives against differences, and where its search ends."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from l2t.numerics.conjugate_gradient import gradient_error
from l2t.paper import loss
from l2t.paper.loss import (
    COMPONENTS,
    LEAST_SCALE,
    LEAST_TAU_UNITS,
    LossMinimum,
    LossSettings,
    Problem,
    Units,
)
from l2t.paper.table import RunTable
from l2t.statistics import PairStatistics


def problem_of(world, settings=None, *, n_pairs=20, seed=0):
    settings = settings or LossSettings(gamma=1e-3, huber=0.05)
    table = RunTable(world.experiences(n_pairs, seed=seed))
    return Problem(table, table.run, 1.0 / table.ratio, Units.of(table), settings)


def point(problem, rng):
    """Return a theta inside the bounds, near enough to the best for small and large residuals."""
    alone = Problem(
        problem.table, problem.run, problem.y, problem.units, LossSettings(gamma=1e-4, huber=0.05)
    )
    best = alone.solve(problem.starts(1, 0)[0]).theta
    return best + rng.uniform(0.005, 0.02, len(best))


@pytest.mark.parametrize("huber", [1e-3, 0.05, 10.0])
def test_gradient(world, rng, huber):
    problem = problem_of(world, LossSettings(1e-3, huber))
    theta = point(problem, rng)
    assert gradient_error(lambda t: problem.derivatives(t)[:2], theta, step=1e-6) < 1e-7
    assert problem.value(theta) == pytest.approx(problem.derivatives(theta)[0], rel=1e-12)


def test_both_parts_make_the_hessian(world, rng):
    problem = problem_of(world, LossSettings(1e-3, 0.05))
    theta, step = point(problem, rng), 1e-6
    residual = np.abs(problem.predictions(theta)[problem.run] - problem.y)
    assert np.abs(residual - 0.05).min() > 1e-4, "away from kinks"
    assert residual.min() < 0.05 < residual.max(), "on both sides of them"
    numeric = np.array(
        [
            (problem.derivatives(theta + e)[1] - problem.derivatives(theta - e)[1]) / (2 * step)
            for e in step * np.eye(len(theta))
        ]
    )
    _, _, gauss_newton, rest = problem.derivatives(theta)
    # Where a residual is beyond the threshold, Huber's second derivative is 0: the Gauss-Newton matrix
    # has huber / |r| there instead, which keeps it positive. So compare without those.
    psi_slope = _straight(problem, theta, residual > 0.05)
    whole = gauss_newton - psi_slope + rest + np.diag(problem.ridge)
    np.testing.assert_allclose(whole, numeric, atol=1e-5 * np.abs(numeric).max())


def _straight(problem, theta, beyond):
    """Return what experiences beyond the threshold have in the Gauss-Newton matrix."""
    J = np.array(
        [
            (problem.predictions(theta + e) - problem.predictions(theta - e)) / 2e-6
            for e in 1e-6 * np.eye(len(theta))
        ]
    ).T[problem.run]
    residual = problem.predictions(theta)[problem.run] - problem.y
    weight = np.where(beyond, problem.huber / np.abs(residual), 0.0)
    return (J * weight[:, None]).T @ J / len(problem.y)


def test_gauss_newton_matrix_is_positive(world, rng):
    problem = problem_of(world, LossSettings(1e-3, 1e-3))
    _, _, gauss_newton, _ = problem.derivatives(point(problem, rng))
    assert np.linalg.eigvalsh(gauss_newton).min() > -1e-12


def test_the_formula(world, rng):
    """Predictions are the paper's 1/f, in the paper's parameters."""
    problem = problem_of(world)
    theta = point(problem, rng)
    beta, lambda_, mu, b = LossMinimum(theta, 0.0, 0).parameters(problem.units)
    experiences = world.experiences(20)[:: len(world.counts)]
    by_hand = [
        beta @ s.d + lambda_ * beta @ s.Q @ beta + mu / (beta @ s.tau) + b
        for s in (each.statistics for each in experiences)
    ]
    np.testing.assert_allclose(problem.predictions(theta), by_hand, rtol=1e-12)


def test_huber_limits(world, rng):
    squares = problem_of(world, LossSettings(1e-3, 1e6))
    theta = point(squares, rng)
    ridge = 0.5e-3 * np.sum(theta[:-1] ** 2)
    residual = squares.predictions(theta)[squares.run] - squares.y
    assert squares.value(theta) == pytest.approx(0.5 * np.mean(residual**2) + ridge)
    h = 1e-9
    lines = problem_of(world, LossSettings(1e-3, h))
    assert (lines.value(theta) - ridge) / h == pytest.approx(np.mean(np.abs(residual)), rel=1e-6)


@pytest.mark.parametrize("off", COMPONENTS)
def test_a_component_that_is_off_keeps_its_bound(world, rng, off):
    on = tuple(name for name in COMPONENTS if name != off)
    problem = problem_of(world, LossSettings(1e-4, 0.05, on))
    theta = problem.solve(point(problem, rng)).theta
    K = len(problem.table.kernels)
    place = K + COMPONENTS.index(off)
    assert theta[place] == (LEAST_SCALE if off == "mmd" else 0.0)
    others = [K + COMPONENTS.index(name) for name in on]
    assert (theta[others] > problem.low[others]).all(), "the others are used"


def test_the_search_ends_where_nothing_falls(world, rng):
    problem = problem_of(world, LossSettings(1e-4, 0.05), n_pairs=40)
    for theta in problem.starts(4, 3):
        found = problem.solve(theta)
        assert found.loss == problem.value(found.theta)
        _, gradient, _, _ = problem.derivatives(found.theta)
        inside = np.clip(found.theta - gradient, problem.low, problem.high)
        assert np.abs(inside - found.theta).max() < 1e-6, "projected gradient"
        assert (found.theta >= problem.low).all()
        assert (found.theta <= problem.high).all()


def test_the_search_says_why_it_stopped(world, monkeypatch):
    problem = problem_of(world, LossSettings(1e-4, 0.05), n_pairs=40)
    start = problem.starts(1, 0)[0]
    found = problem.solve(start)
    assert re.match(
        r"after \d+ steps: (3 consecutive steps reduced|no step reduces)", found.stopped
    )
    monkeypatch.setattr(loss, "MAX_ITER", 2)
    found = problem.solve(start)
    assert found.stopped == "after 2 steps: the maximum number of steps was reached"


def test_the_loss_never_rises(world, monkeypatch):
    problem = problem_of(world, LossSettings(1e-4, 0.05), n_pairs=40)
    start = problem.starts(2, 1)[1]
    losses = [problem.value(start)]
    for n in range(1, 12):
        monkeypatch.setattr(loss, "MAX_ITER", n)
        losses.append(problem.solve(start).loss)
    assert (np.diff(losses) <= 0).all()
    assert losses[-1] < 0.5 * losses[0]


def test_starts_agree_where_the_problem_tells(world):
    problem = problem_of(world, LossSettings(1e-4, 0.05), n_pairs=60)
    found = [problem.solve(theta) for theta in problem.starts(8, 0)]
    losses = np.array([each.loss for each in found])
    np.testing.assert_allclose(losses, losses.min(), rtol=1e-6)
    for each in found[1:]:
        np.testing.assert_allclose(
            problem.predictions(each.theta), problem.predictions(found[0].theta), atol=1e-4
        )


def test_starts(world):
    problem = problem_of(world)
    problem.y, K = np.full(5, 0.9), len(world.kernels)
    found = problem.starts(3, 7)
    np.testing.assert_allclose(found[0], np.r_[np.full(K, 1 / K), 0.1, 0.1, 0.1, 0.8])
    assert all((each[:-1] > 0).all() for each in found)
    assert not np.array_equal(found[1], found[2])
    for a, b in zip(found, problem.starts(3, 7), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(found[1], problem.starts(3, 8)[1])


def test_no_weight_on_tau_is_no_division_by_zero(world):
    problem = problem_of(world)
    theta = np.r_[np.zeros(len(world.kernels)), 0.1, 0.1, 0.1, 0.8]
    np.testing.assert_allclose(problem.predictions(theta), 0.1 / LEAST_TAU_UNITS + 0.8)
    assert np.isfinite(problem.solve(theta).loss)


def test_statistics_that_are_zero_have_a_unit(world, plain):
    K = len(world.kernels)
    nothing = PairStatistics(np.zeros(K), np.zeros((K, K)), np.zeros(K), world.kernels, 5)
    table = RunTable([replace(plain, statistics=nothing)])
    units = Units.of(table)
    assert (units.d, units.Q, units.tau) == (1.0, 1.0, 1.0)
    np.testing.assert_array_equal(units.by_kernel, np.ones((3, K)))
