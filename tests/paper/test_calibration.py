"""Intervals of the paper's form: they cover at least their level, and widen as they should."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm

from l2t.display import finite_interval
from l2t.forecast import ErrorQuantiles
from l2t.paper import ReflectionFunction, learn
from l2t.paper.function import LEAST


@pytest.fixture(scope="module")
def noisy(world):
    return replace(world, noise=0.1)


@pytest.fixture(scope="module")
def function(noisy, quick):
    return learn(noisy.experiences(1000, per_pair=1), **quick)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("n_labels", [3, 15, 60])
def test_intervals_cover_fresh_pairs_as_often_as_they_say(noisy, function, level, n_labels):
    rng = np.random.default_rng(5)
    n, inside = 400, 0
    for _ in range(n):
        statistics = noisy.statistics(rng)
        low, high = function.interval(statistics, n_labels, level=level)
        inside += low <= noisy.ratio(statistics, n_labels, rng) <= high
    fewest, most = binom.interval(0.95, n, level)
    assert fewest <= inside <= most, inside / n


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_intervals_of_the_level_itself(noisy, function, level):
    """Without a number of labels: the ratios at all counts, on one scale."""
    rng = np.random.default_rng(8)
    n, inside = 400 * len(noisy.counts), 0
    for _ in range(400):
        statistics = noisy.statistics(rng)
        low, high = function.interval(statistics, level=level)
        for count in noisy.counts:
            l_hat = noisy.ratio(statistics, count, rng) * function.label_curve.factor(count)
            inside += low <= l_hat <= high
    fewest, most = binom.interval(0.95, n, level)
    assert fewest <= inside <= most, inside / n


def test_an_interval_is_around_the_prediction_and_widens_with_level(function, noisy, rng):
    statistics = noisy.statistics(rng)
    for n_labels in (None, 3, 20):
        predicted = function.predict(statistics, n_labels)
        bounds = [
            function.interval(statistics, n_labels, level=level) for level in (0.5, 0.9, 0.99)
        ]
        lows, highs = np.array(bounds).T
        assert (np.diff(lows) < 0).all()
        assert (np.diff(highs) > 0).all()
        assert lows[0] < predicted < highs[0]
        np.testing.assert_allclose(lows * highs, predicted**2)


def test_errors_are_those_of_held_out_predictions(noisy, function):
    """The noise of the world is all that is left: its quantiles, and how many pairs there were."""
    assert list(function.calibration) == [0, *noisy.counts]
    for kind in function.calibration.values():
        assert kind.n_pairs == 1000
        for level in (0.5, 0.8, 0.9):
            spread = 0.1 * norm.ppf((1 + level) / 2)
            assert kind.half_width(level) == pytest.approx(spread, rel=0.1)


def test_an_interval_is_that_of_its_number_of_labels(function, noisy, quick):
    """Few labels, much noise: pooling all numbers would promise too much for few."""
    rng = np.random.default_rng(3)
    experiences = [
        replace(each, improvement_ratio=each.improvement_ratio * np.exp(0.3 * rng.normal()))
        if each.n_labels == 3
        else each
        for each in noisy.experiences(200, per_pair=1)
    ]
    found = learn(experiences, **quick)
    reaches = [found.reach(n_labels, 0.9) for n_labels in (1, 3, 9, 15, 60, 500)]
    assert reaches[0] == reaches[1] == reaches[2] > 2 * reaches[3]
    assert reaches[4] == reaches[5]
    assert reaches[3] < found.reach(None, 0.9) < reaches[0]


def test_a_count_of_a_single_pair_has_no_interval(world, quick):
    experiences = world.experiences(20)
    once = replace(experiences[0], n_labels=120)
    found = learn([*experiences, once], **quick)
    assert np.isinf(found.reach(120, 0.5))
    assert np.isfinite(found.reach(60, 0.5))


@pytest.mark.parametrize("alike", [0.0, 0.9])
@pytest.mark.parametrize("n_pairs", [3, 5, 9, 20, 50, 200])
def test_intervals_cover_at_least_their_level_for_few_pairs_and_many(n_pairs, alike):
    """Of 500 calibrations on exchangeable pairs with two runs each; infinite for too few pairs."""
    rng = np.random.default_rng(n_pairs)
    levels, n = (0.5, 0.8, 0.9, 0.95), 500
    inside = np.zeros(len(levels))
    for _ in range(n):
        errors = np.sqrt(1 - alike) * rng.normal(size=(n_pairs + 1, 2))
        errors += np.sqrt(alike) * rng.normal(size=(n_pairs + 1, 1))
        found = ErrorQuantiles.of(errors[:-1].ravel(), n_pairs)
        for j, level in enumerate(levels):
            width = found.half_width(level)
            inside[j] += abs(errors[-1, 0]) <= width
            assert np.isinf(width) == (n_pairs < level / (1 - level) - 1e-9)
    least = binom.ppf(0.001, n, levels)
    assert (inside >= least).all(), inside / n


def test_few_pairs_widen_the_interval_until_it_is_infinite(function, noisy, rng):
    statistics, errors = noisy.statistics(rng), function.calibration[3].errors
    bounds = [
        replace(
            function, calibration={0: ErrorQuantiles(n, errors), 3: ErrorQuantiles(n, errors)}
        ).interval(statistics, 3, level=0.8)
        for n in (400, 20, 5, 4, 3, 1, 0)
    ]
    lows, highs = np.array(bounds).T
    assert (np.diff(lows[:4]) < 0).all()
    assert (np.diff(highs[:4]) > 0).all()
    assert np.isfinite(highs[3])
    assert bounds[4:] == 3 * [(0.0, np.inf)]


def test_an_interval_to_show_is_finite_or_none():
    assert finite_interval((0.5, 2.0)) == (0.5, 2.0)
    assert finite_interval((0.0, np.inf)) is None
    assert finite_interval(None) is None


def test_predictions_are_kept_above_the_least():
    function = ReflectionFunction(np.zeros(33), b=-1.0)
    assert function.ratio(-1.0) == function.ratio(-1.0, 3) == 1 / LEAST
