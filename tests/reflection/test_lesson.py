"""What is learned from: few labels, l_hat, and random pairs of many."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.reflection import lesson as module
from l2t.reflection.calibration import LabelCurve
from l2t.reflection.lesson import Lesson
from l2t.reflection.loss import Settings
from l2t.reflection.table import Table

CURVE = LabelCurve(-0.5, 3, 60)


@pytest.fixture
def table(world):
    return Table(world.experiences(12))


def test_targets_are_the_inverse_of_l_hat(table):
    lesson = Lesson.of(table, CURVE, None)
    np.testing.assert_array_equal(lesson.run, table.run)
    np.testing.assert_allclose(1 / lesson.y, table.ratio * CURVE.factor(table.n_labels))


@pytest.mark.parametrize(("most", "share"), [(None, 3), (60, 3), (59, 2), (15, 2), (3, 1), (2, 3)])
def test_few_labels_shape_the_function(table, most, share):
    """All do where none has few."""
    lesson = Lesson.of(table, CURVE, most)
    assert len(lesson.y) == len(lesson.run) == 24 * share


def test_levels_are_means_over_the_shaping_counts(table):
    lesson = Lesson.of(table, CURVE, 15)
    l_hat = (table.ratio * CURVE.factor(table.n_labels)).reshape(24, 3)
    np.testing.assert_allclose(lesson.levels(), l_hat[:, :2].mean(axis=1))


def test_a_run_with_many_labels_only_has_no_level(world):
    experiences = world.experiences(12)
    few = [each for each in experiences if each.run_key != "0/3/1" or each.n_labels == 60]
    levels = Lesson.of(Table(few), CURVE, 15).levels()
    assert np.flatnonzero(np.isnan(levels)).tolist() == [7]


def test_a_sample_is_whole_pairs(table, monkeypatch):
    lesson = Lesson.of(table, CURVE, 15)
    assert lesson.sample(0) is lesson
    monkeypatch.setattr(module, "SAMPLE", 10)
    drawn = [lesson.sample(seed) for seed in range(4)]
    for each in drawn:
        part = each.table
        assert 6 <= part.n_runs <= 10
        assert np.bincount(part.pair)[np.unique(part.pair)].tolist() == [2] * (part.n_runs // 2)
        assert each.units == lesson.units
        assert each.curve == lesson.curve
        where = [table.keys.index(key) for key in part.keys]
        np.testing.assert_array_equal(each.levels(), lesson.levels()[where])
    assert len({tuple(each.table.keys) for each in drawn}) > 1
    assert drawn[0].table.keys == lesson.sample(0).table.keys


def test_a_problem_of_some_runs(table):
    lesson = Lesson.of(table, CURVE, 15)
    some = np.arange(24) % 5 == 0
    problem = lesson.problem(Settings(1e-3, 0.1), some)
    np.testing.assert_array_equal(np.unique(problem.run), np.flatnonzero(some))
    np.testing.assert_array_equal(problem.y, lesson.y[some[lesson.run]])
