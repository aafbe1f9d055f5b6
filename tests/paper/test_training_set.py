"""What is learned from: few labels, l_hat, and random pairs of many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from l2t.paper import training_set as module
from l2t.paper.calibration import LabelCurve
from l2t.paper.loss import LossSettings
from l2t.paper.table import RunTable
from l2t.paper.training_set import LearningSet

CURVE = LabelCurve(-0.5, 3, 60)


@pytest.fixture
def table(world):
    return RunTable(world.experiences(12))


def test_targets_are_the_inverse_of_l_hat(table):
    training_set = LearningSet.of(table, CURVE, None)
    np.testing.assert_array_equal(training_set.run, table.run)
    np.testing.assert_allclose(1 / training_set.y, table.ratio * CURVE.factor(table.n_labels))


@pytest.mark.parametrize(("most", "share"), [(None, 3), (60, 3), (59, 2), (15, 2), (3, 1), (2, 3)])
def test_few_labels_shape_the_function(table, most, share):
    """All do where none has few."""
    training_set = LearningSet.of(table, CURVE, most)
    assert len(training_set.y) == len(training_set.run) == 24 * share


def test_levels_are_means_over_the_shaping_counts(table):
    training_set = LearningSet.of(table, CURVE, 15)
    l_hat = (table.ratio * CURVE.factor(table.n_labels)).reshape(24, 3)
    np.testing.assert_allclose(training_set.levels(), l_hat[:, :2].mean(axis=1))


def test_a_run_with_many_labels_only_has_no_level(world):
    experiences = world.experiences(12)
    few = [each for each in experiences if each.run_key != "0/3/1" or each.n_labels == 60]
    levels = LearningSet.of(RunTable(few), CURVE, 15).levels()
    assert np.flatnonzero(np.isnan(levels)).tolist() == [7]


def test_a_sample_is_whole_pairs(table, monkeypatch):
    training_set = LearningSet.of(table, CURVE, 15)
    assert training_set.sample(0) is training_set
    monkeypatch.setattr(module, "MAX_SAMPLE", 10)
    drawn = [training_set.sample(seed) for seed in range(4)]
    for each in drawn:
        part = each.table
        assert 6 <= part.n_runs <= 10
        assert np.bincount(part.pair)[np.unique(part.pair)].tolist() == [2] * (part.n_runs // 2)
        assert each.units == training_set.units
        assert each.curve == training_set.curve
        where = [table.keys.index(key) for key in part.keys]
        np.testing.assert_array_equal(each.levels(), training_set.levels()[where])
    assert len({tuple(each.table.keys) for each in drawn}) > 1
    assert drawn[0].table.keys == training_set.sample(0).table.keys


def test_a_problem_of_some_runs(table):
    training_set = LearningSet.of(table, CURVE, 15)
    some = np.arange(24) % 5 == 0
    problem = training_set.problem(LossSettings(1e-3, 0.1), some)
    np.testing.assert_array_equal(np.unique(problem.run), np.flatnonzero(some))
    np.testing.assert_array_equal(problem.y, training_set.y[some[training_set.run]])


@pytest.mark.parametrize(("best", "kept"), [(1.0, 5), (0.5, 3), (0.25, 2), (1e-6, 1)])
def test_the_best_runs_of_each_pair_are_fitted(world, best, kept):
    """Those with at least the quantile of their own pair, so that every pair keeps its share."""
    table = RunTable(world.experiences(8, per_pair=5))
    training_set = LearningSet.of(table, CURVE, 15, best)
    levels = LearningSet.of(table, CURVE, 15).levels().reshape(8, 5)
    fitted = np.isfinite(training_set.levels()).reshape(8, 5)
    np.testing.assert_array_equal(fitted, levels >= np.sort(levels, axis=1)[:, [5 - kept]])
    np.testing.assert_array_equal(training_set.levels().reshape(8, 5)[fitted], levels[fitted])
    units = LearningSet.of(table, CURVE, 15).units
    assert (training_set.units.d, training_set.units.tau) == (units.d, units.tau)
    np.testing.assert_array_equal(training_set.units.by_kernel, units.by_kernel)


def test_all_of_several_equal_runs_are_the_best(world):
    same = [replace(each, improvement_ratio=1.1) for each in world.experiences(3, per_pair=4)]
    assert len(LearningSet.of(RunTable(same), CURVE, None, 0.5).y) == len(same)
