"""The convex form of 1/f: its formula by hand, and the one optimum of what it learns."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from l2t.domains import Domain, DomainPair
from l2t.exceptions import FileFormatError, InvalidInputError
from l2t.numerics import gradient_error
from l2t.paper import ConvexReflection, Plan, ReflectionFunction, learn, load_reflection, search
from l2t.paper.convex_loss import ConvexProblem
from l2t.paper.loss import LossSettings, Units
from l2t.paper.table import RunTable
from l2t.statistics import KernelBank, PairStatistics, pair_statistics

BANK = KernelBank(0, 1, 1)
STATISTICS = PairStatistics(
    np.array([0.2, 0.4]), np.array([[0.3, 0.1], [0.1, 0.5]]), np.array([2.0, 4.0]), BANK, 5
)
WEIGHTS = [[1.0, 0.5], [0.1, 0.2], [0.4, 0.8]]


def by_hand(**changed):
    return ConvexReflection(**{"weights": WEIGHTS, "b": 0.5, "kernels": BANK} | changed)


def problem_of(world, settings=None, seed=0):
    table = RunTable(world.experiences(20, seed=seed))
    settings = settings or LossSettings(1e-3, 0.05, form="convex")
    return ConvexProblem(table, table.run, 1.0 / table.ratio, Units.of(table), settings)


def test_the_formula():
    f = by_hand()
    # d: 0.2 + 0.2; diagonal of Q: 0.03 + 0.1; 1/tau: 0.4 / 2 + 0.8 / 4
    expected = {"mmd": 0.4, "variance": 0.13, "discriminant": 0.4, "bias": 0.5}
    assert f.terms(STATISTICS) == pytest.approx(expected)
    assert f.predict(STATISTICS) == pytest.approx(1 / 1.43)
    by_kernel = f.by_kernel(STATISTICS)
    np.testing.assert_allclose(by_kernel["discriminant"], [0.2, 0.2])
    np.testing.assert_allclose(by_kernel["variance"], [0.03, 0.1])
    np.testing.assert_allclose(f.explain(STATISTICS).weights, [0.5, 0.5])
    assert f.parameters == pytest.approx(
        {"mmd": 1.5, "variance": 0.3, "discriminant": 1.2, "b": 0.5}
    )


def test_sizes_divide_statistics():
    sizes = np.array([[0.5, 2.0], [3.0, 1.0], [4.0, 0.5]])
    measured = replace(
        STATISTICS,
        d=STATISTICS.d / sizes[0],
        Q=STATISTICS.Q / np.sqrt(np.outer(sizes[1], sizes[1])),
        tau=STATISTICS.tau / sizes[2],
    )
    assert by_hand(sizes=sizes).terms(STATISTICS) == pytest.approx(by_hand().terms(measured))


def test_the_paper_form_with_one_kernel_is_the_same():
    """With one kernel the shared beta shares nothing."""
    bank = KernelBank(0, 0, 1)
    one = PairStatistics(np.array([0.2]), np.array([[0.3]]), np.array([2.0]), bank, 5)
    paper = ReflectionFunction([0.5], 2.0, 0.7, 0.4, kernels=bank)
    convex = ConvexReflection([[0.5], [2.0 * 0.5**2], [0.7 / 0.5]], 0.4, kernels=bank)
    assert convex.terms(one) == pytest.approx(paper.terms(one))


@pytest.mark.parametrize("huber", [1e-3, 0.05, 10.0])
def test_gradient(world, rng, huber):
    problem = problem_of(world, LossSettings(1e-3, huber, form="convex"))
    theta = rng.uniform(0.0, 0.2, 3 * len(world.kernels) + 1)
    error = gradient_error(lambda t: (problem.value(t), problem.gradient(t)), theta, step=1e-6)
    assert error < 1e-6


@pytest.mark.parametrize("huber", [0.01, 0.05, 10.0])
def test_there_is_one_optimum(world, rng, huber):
    """Wherever the search begins, it ends where no allowed direction lowers the loss."""
    problem = problem_of(world, LossSettings(1e-4, huber, form="convex"))
    start = problem.starts(5, 0)
    assert len(start) == 1
    found = problem.solve(start[0])
    gradient, theta = problem.gradient(found.theta), found.theta
    assert (theta >= 0).all()
    assert np.abs(gradient[theta > 0]).max() < 1e-6
    assert gradient.min() > -1e-6
    for _ in range(3):
        other = problem.solve(rng.uniform(0, 1, len(theta)))
        assert other.loss == pytest.approx(found.loss, rel=1e-8)
        np.testing.assert_allclose(other.theta, theta, atol=1e-3)


def test_least_squares_is_a_closed_form(world):
    """With a threshold above all residuals and all weights positive it is ridge regression."""
    gamma = 1e-3
    problem = problem_of(world, LossSettings(gamma, 1e3, ("mmd",), form="convex"))
    run, K = problem.run, len(world.kernels)
    problem.y = problem.predictions(np.r_[np.linspace(0.1, 0.3, K), np.zeros(2 * K), 0.5])[run]
    x = problem._x[run][:, [*range(K), 3 * K]]
    ridge = np.diag([*np.full(K, gamma * len(run)), 0.0])
    expected = np.linalg.solve(x.T @ x + ridge, x.T @ problem.y)
    assert (expected > 0).all()
    theta = problem.solve(problem.starts(1, 0)[0]).theta
    np.testing.assert_allclose(theta[[*range(K), 3 * K]], expected, rtol=1e-6)
    assert not theta[K : 3 * K].any()


def test_predictions_come_back(world, quick, rng):
    """Of ratios that the convex form makes."""
    K = len(world.kernels)
    weights = np.stack([np.linspace(0.4, 0.0, K), np.full(K, 0.1), np.linspace(0.0, 0.6, K)])
    truth = ConvexReflection(weights, 0.4, kernels=world.kernels)
    experiences = [
        replace(each, improvement_ratio=truth.predict(each.statistics))
        for each in world.experiences(100)
    ]
    options = quick | {"gamma": 1e-9, "label_curve": False}
    function = learn(experiences, form="convex", **options)
    assert isinstance(function, ConvexReflection)
    fresh = [world.statistics(rng) for _ in range(100)]
    predicted = [function.predict(each) for each in fresh]
    np.testing.assert_allclose(predicted, [truth.predict(each) for each in fresh], rtol=1e-3)
    assert function.calibration is not None
    assert (function.training["starts"], function.training["starts_agreeing"]) == (1, 1)


def test_components(world, quick):
    function = learn(
        world.experiences(30), form="convex", components=("mmd", "discriminant"), **quick
    )
    assert not function.weights[1].any()
    assert function.weights[[0, 2]].any(axis=1).all()


def test_what_is_saved_comes_back_to_the_bit(world, quick, rng, tmp_path):
    function = learn(world.experiences(30), form="convex", **quick)
    path = function.save(tmp_path / "convex.json")
    loaded = load_reflection(path)
    assert isinstance(loaded, ConvexReflection)
    assert loaded.weights.tobytes() == function.weights.tobytes()
    assert loaded.sizes.tobytes() == function.sizes.tobytes()
    statistics = world.statistics(rng)
    assert loaded.interval(statistics, 15) == function.interval(statistics, 15)
    assert path.read_bytes() == loaded.save(tmp_path / "again.json").read_bytes()
    assert repr(loaded) == "ConvexReflection(5 kernels, learned from 180 experiences)"


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"schema": 3}, "schema 3 is newer than 2; use a newer version of l2t"),
        ({"form": "round"}, "Invalid enum value 'round' - at `$.form`"),
        ({"weights": [[1.0], [1.0, 2.0], [1.0]]}, "weights and sizes must have rows of one length"),
        ({"weights": [[1.0], [1.0]]}, "Expected `array` of length 3 - at `$.weights`"),
        ({"weights": [[1.0, -1.0]] * 3}, "Expected `float` >= 0.0 - at `$.weights[0][1]`"),
        ({"sizes": [[0.0, 1.0]] * 3}, "sizes must be above 0, got 0"),
        ({"beta": [1.0, 2.0]}, "Object contains unknown field `beta`"),
    ],
)
def test_files_that_cannot_be(changed, sentence, tmp_path):
    path = by_hand().save(tmp_path / "convex.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    with pytest.raises(
        FileFormatError, match=re.escape(f"is not a reflection function: {sentence}")
    ):
        load_reflection(path)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            {"weights": [[1.0, 0.5]]},
            "weights must have three numbers per kernel (3, 2), got shape (1, 2)",
        ),
        (
            {"weights": -np.ones((3, 2))},
            "weights must be finite and not negative, got a least value of -1.0",
        ),
        ({"sizes": np.zeros((3, 2))}, "sizes must be above 0, got 0"),
    ],
)
def test_what_cannot_be(changed, sentence):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}"):
        by_hand(**changed)


def test_the_form_has_a_name(world):
    with pytest.raises(InvalidInputError, match="form must be one of paper, convex, got 'round'"):
        learn(world.experiences(10), form="round")


def test_the_level_is_the_sum_of_terms_of_every_pair_without_transfer(rng):
    """With it 1/f at W = I is 1, whatever the scale and kind of the pair, and the best W is the same."""
    f = ConvexReflection(rng.random((3, 33)), b=0.9, level=0.1)
    plan = Plan(n_components=2, n_iter=2)
    for m, scale in ((3, 1.0), (8, 100.0)):
        source, target = (Domain(scale * rng.normal(size=(n, m))) for n in (20, 25))
        pair = DomainPair(source, target)
        own = f.for_pair(pair)
        statistics = pair_statistics(pair, np.eye(m), n_neighbors=f.n_neighbors)
        assert own.predict(statistics) == pytest.approx(1.0)
        assert own.without_transfer(pair) == pytest.approx(0.1)
        assert own.for_pair(pair) is own
        found, plain = (search(pair, each, plan) for each in (f, replace(f, level=None)))
        np.testing.assert_allclose(found.W @ found.W.T, plain.W @ plain.W.T, atol=1e-6)
        assert found.predicted == pytest.approx(own.predict(found.statistics))


def test_a_level_is_saved(tmp_path):
    f = by_hand(level=0.3)
    assert load_reflection(f.save(tmp_path / "f.json")).level == 0.3
    with pytest.raises(InvalidInputError, match=r"^level must be "):
        by_hand(level=0.0)
