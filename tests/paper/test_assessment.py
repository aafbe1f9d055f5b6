"""Assessments agree with predictions made one by one, and curves rise where there is something to learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from l2t.exceptions import InvalidInputError
from l2t.paper import assess, learning_curve
from l2t.paper.assessment import COVERAGE_LEVELS
from l2t.paper.training_set import held_out


def test_every_run_is_predicted(world, learned):
    fresh = world.experiences(30, seed=7)
    found = assess(learned, fresh)
    assert len(found.runs) == 60
    assert found.n_pairs == 30
    by_key = {run.run_key: run for run in found.runs}
    for each in fresh[::5]:
        assert by_key[each.run_key].predicted == pytest.approx(learned.predict(each.statistics))
    rows = [each for each in fresh if each.run_key == fresh[0].run_key and each.n_labels <= 30]
    mean = np.mean([row.improvement_ratio for row in rows])
    assert by_key[fresh[0].run_key].actual == pytest.approx(mean)
    assert found.rank_correlation > 0.9
    assert sum(found.terms.values()) == pytest.approx(
        np.mean([learned.inverse(each.statistics) for each in fresh])
    )


def test_coverage_is_that_of_the_intervals(world, learned):
    fresh = world.experiences(40, seed=8)
    found = assess(learned, fresh)
    for count in world.counts:
        rows = [each for each in fresh if each.n_labels == count]
        inside = [
            low <= each.improvement_ratio <= high
            for each in rows
            for low, high in [learned.interval(each.statistics, count)]
        ]
        assert found.coverage[count] == (pytest.approx(np.mean(inside)), len(rows))
    assert list(found.reliability) == list(COVERAGE_LEVELS)
    assert np.all(np.diff(list(found.reliability.values())) >= 0)


def test_without_calibration_there_is_no_coverage(world):
    found = assess(world.truth, world.experiences(5))
    assert (found.coverage, found.reliability) == ({}, {})
    assert found.rmse < 0.05


def test_failed_runs_are_passed_over_and_nothing_is_refused(world, learned, plain):
    failed = replace(plain, status="failed", reason="no", n_labels=None)
    assert len(assess(learned, [failed, *world.experiences(1, per_pair=1)]).runs) == 1
    with pytest.raises(InvalidInputError, match="at least one finished run"):
        assess(learned, [failed])


def test_one_run_has_no_rank(world, learned):
    assert np.isnan(assess(learned, world.experiences(1, per_pair=1)).rank_correlation)


def test_the_curve_gets_better_with_more_pairs(world):
    seen = []
    experiences = world.experiences(60)
    points, function = learning_curve(experiences, callback=seen.append)
    assert seen == points
    assert [point.n_pairs for point in points] == sorted({point.n_pairs for point in points})
    assert points[-1].rmse < points[0].rmse
    kept = [each for each in experiences if not held_out(each.target)]
    assert points[-1].n_experiences == len(kept) == function.training["experiences"]


def test_too_little_for_a_curve(world):
    with pytest.raises(InvalidInputError, match="a learning curve needs at least 20 experiences"):
        learning_curve(world.experiences(2))
    with pytest.raises(InvalidInputError, match="got 0 experiences of 0 pairs"):
        learning_curve([])
