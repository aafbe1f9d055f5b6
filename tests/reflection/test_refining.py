"""Going on learning: as good as learning anew, at a cost that does not grow."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from l2t.exceptions import InvalidInputError
from l2t.reflection import learn
from l2t.reflection.loss import Problem
from l2t.reflection.table import Table


def test_batches_end_where_learning_anew_does(world, quick, rng):
    batches = [world.experiences(40, seed=seed) for seed in range(5)]
    function = learn(batches[0], **quick)
    for batch in batches[1:]:
        function = function.partial_fit(batch)
    anew = learn([each for batch in batches for each in batch], **quick)
    fresh = [world.statistics(rng) for _ in range(100)]
    for n_labels in (None, 15):
        refined = np.array([function.predict(each, n_labels) for each in fresh])
        whole = np.array([anew.predict(each, n_labels) for each in fresh])
        np.testing.assert_allclose(refined, whole, rtol=0.01)
    bounds = [np.array([f.interval(each, 15) for each in fresh]) for f in (function, anew)]
    np.testing.assert_allclose(*bounds, rtol=0.02)
    for name in ("experiences", "runs", "pairs"):
        assert function.training[name] == anew.training[name]
    assert function.lessons.memory.weight == anew.lessons.memory.weight


def test_the_forecast_is_refined_or_stays_away(learned, world):
    batch = world.experiences(10, seed=3)
    refined = learned.partial_fit(iter(batch))
    assert refined.forecast == learned.forecast.refined(batch)
    assert refined.forecast.own_pairs["gfk"] == learned.forecast.own_pairs["gfk"] + 10
    assert learned.paper.partial_fit(batch).forecast is None


def test_it_learns_and_leaves_the_old_function_alone(world, quick, rng):
    """First from a world with another bias, then from more of this one."""
    other = replace(world, b=0.8)
    first = learn(other.experiences(20), **quick)
    before = first.beta.copy(), first.b, dict(first.training)
    second = first.partial_fit(world.experiences(200, seed=1))
    assert (first.beta.tolist(), first.b, dict(first.training)) == (
        before[0].tolist(),
        before[1],
        before[2],
    )
    errors = []
    for _ in range(50):
        statistics = world.statistics(rng)
        true = world.truth.predict(statistics)
        errors.append([abs(f.predict(statistics) - true) for f in (first, second)])
    old, new = np.mean(errors, axis=0)
    assert new < 0.3 * old


def test_nothing_old_is_touched(world, quick, monkeypatch):
    """However much was learned before: the same memory, and passes over the new rows alone."""
    functions = [learn(world.experiences(n), **quick) for n in (10, 200)]
    sizes = [
        [np.size(value) for value in (m.theta, m.gradient, m.hessian)]
        for m in (f.lessons.memory for f in functions)
    ]
    assert sizes[0] == sizes[1] == [9, 9, 81]
    batch = world.experiences(8, seed=3)
    touched = []
    blocks = Table.blocks

    def counting(self):
        found = list(blocks(self))
        touched.append(sum(map(len, found)))
        return iter(found)

    monkeypatch.setattr(Table, "blocks", counting)
    for function in functions:
        touched.clear()
        function.partial_fit(batch)
        assert set(touched) == {16}, "the runs of the batch"


def test_one_experience_is_enough(learned, world):
    more = learned.partial_fit(world.experiences(1, seed=9, per_pair=1)[:1])
    assert more.training["experiences"] == learned.training["experiences"] + 1
    np.testing.assert_allclose(more.beta, learned.beta, atol=0.05)


def test_the_calibration_grows(learned, world):
    lucky = [
        replace(each, improvement_ratio=1.3 * each.improvement_ratio)
        for each in world.experiences(60, seed=4)
    ]
    more = learned.partial_fit(lucky)
    assert more.calibration.n_pairs == learned.calibration.n_pairs + 60
    assert (more.calibration.errors[:, -5] > learned.calibration.errors[:, -5] + 0.1).all()


def test_settings_stay(world, quick):
    """Refining with a component off, the diagonal of Q and a label curve keeps them."""
    made = replace(world, c=-0.5, q_mode="diag")
    first = learn(made.experiences(30), components=["mmd", "discriminant"], q_mode="diag", **quick)
    more = first.partial_fit(made.experiences(30, seed=1))
    assert more.lambda_ == first.lambda_ == 0.0
    assert (more.c, more.q_mode, more.label_range) == (first.c, "diag", (3, 60))
    assert more.lessons.settings is first.lessons.settings
    assert more.lessons.units is first.lessons.units


def test_the_memory_is_the_old_loss(world, quick):
    """Refined on nothing new, the quadratic has its least where the function already is."""
    first = learn(world.experiences(60), **quick)
    lessons = first.lessons
    nothing = np.zeros(0, dtype=np.intp)
    table = Table(world.experiences(1))
    problem = Problem(
        table, nothing, np.zeros(0), lessons.units, lessons.settings, memory=lessons.memory
    )
    found = problem.solve(lessons.memory.theta)
    np.testing.assert_allclose(found.theta, lessons.memory.theta, atol=1e-3)


@pytest.mark.parametrize("how", ["by hand", "neighbours", "nothing"])
def test_what_cannot_be_refined(learned, world, how):
    experiences = world.experiences(2)
    if how == "by hand":
        function = world.truth
        sentence = "partial_fit needs a function that l2t.learn gave, got one written by hand"
    elif how == "neighbours":
        function = learned
        experiences = [
            replace(each, statistics=replace(each.statistics, n_neighbors=7))
            for each in experiences
        ]
        sentence = "experiences must have the function's n_neighbors, 5, got 7"
    else:
        function, experiences = learned, []
        sentence = "experiences must hold at least one finished run, got none"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
        function.partial_fit(experiences)
