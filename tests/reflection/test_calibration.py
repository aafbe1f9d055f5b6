"""Intervals: they cover what they say, and depend on labels and level as they should."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from l2t.exceptions import InvalidInputError
from l2t.reflection import Calibration, learn
from l2t.reflection.calibration import LEAST, PROBABILITIES, calibrate


def made(rng, n=400, counts=(3, 30), noise=0.05):
    """Return held-out predictions, and ratios with half of the effect at the last count."""
    inverse = rng.uniform(0.7, 1.2, n)
    run, n_labels = np.tile(np.arange(n), len(counts)), np.repeat(counts, n)
    share = np.where(n_labels == counts[-1], 0.5, 1.0)
    ratio = np.exp(noise * rng.normal(size=len(run))) / (1 + share * (inverse[run] - 1))
    return inverse, 1 / inverse, run, n_labels, ratio, n


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
    """Without a number of labels: the mean over the counts that were learned from."""
    rng = np.random.default_rng(8)
    n, inside = 400, 0
    for _ in range(n):
        statistics = noisy.statistics(rng)
        factors = function.label_curve.factor(noisy.counts)
        l_hat = np.mean([noisy.ratio(statistics, count, rng) for count in noisy.counts] * factors)
        low, high = function.interval(statistics, level=level)
        inside += low <= l_hat <= high
    fewest, most = binom.interval(0.95, n, level)
    assert fewest <= inside <= most, inside / n


def test_an_interval_is_around_the_prediction_and_widens_with_level(function, noisy, rng):
    statistics = noisy.statistics(rng)
    for n_labels in (None, 3, 20):
        predicted = function.predict(statistics, n_labels)
        bounds = [
            function.interval(statistics, n_labels, level=level) for level in (0.1, 0.5, 0.9, 0.99)
        ]
        lows, highs = np.array(bounds).T
        assert (np.diff(lows) < 0).all()
        assert (np.diff(highs) > 0).all()
        assert lows[1] < predicted < highs[1]


def test_slope_and_offset_at_a_number_of_labels(rng):
    found = calibrate(*made(rng, noise=0.0))
    assert found.n_labels.tolist() == [0, 3, 30]
    np.testing.assert_allclose(found.slope, [1, 1, 0.5], atol=1e-9)
    np.testing.assert_allclose(found.offset, [0, 0, 0.5], atol=1e-9)
    assert found.expected(0.8, None) == pytest.approx(1 / 0.8)
    assert found.expected(0.8, 3) == pytest.approx(1 / 0.8)
    assert found.expected(0.8, 30) == pytest.approx(1 / 0.9)
    np.testing.assert_allclose(found.quantiles, 0.0, atol=1e-9)


def test_the_function_uses_them(world, quick, rng):
    """Ratios near 1 at many labels: predictions there are near 1 as well."""
    experiences = [
        replace(each, improvement_ratio=1 / (0.8 + 0.2 / each.improvement_ratio))
        if each.n_labels == 60
        else each
        for each in world.experiences(60)
    ]
    function = learn(experiences, label_curve="none", **quick | {"max_labels": 15})
    calibration = function.calibration
    assert calibration.slope[-1] < 0.5 < calibration.slope[1]
    for _ in range(10):
        statistics = world.statistics(rng)
        inverse = function.inverse(statistics)
        assert function.predict(statistics, 60) == pytest.approx(
            1 / (calibration.offset[-1] + calibration.slope[-1] * inverse)
        )
        true = world.ratio(statistics, 60)
        assert function.predict(statistics, 60) == pytest.approx(1 / (0.8 + 0.2 / true), rel=0.01)
        assert function.predict(statistics, 3) == pytest.approx(true, rel=0.03)


def test_between_label_counts_everything_is_in_between(rng):
    found = calibrate(*made(rng))
    counts = [1, 3, 5, 9, 20, 30, 500]
    expected = [found.expected(0.75, n) for n in counts]
    assert expected[0] == expected[1], "nothing is known below the fewest"
    assert expected[-1] == expected[-2], "nor above the most"
    assert (np.diff(expected[1:-1]) < 0).all(), "monotone from one to the other"
    for side in (0, 1):
        bounds = [found.interval(0.75, n, 0.9)[side] for n in counts[1:-1]]
        assert (np.diff(bounds) < 0).all()
    middle = found.expected(0.75, round(np.sqrt(90)))
    assert 1 / middle == pytest.approx(np.mean([1 / expected[1], 1 / expected[-1]]), rel=0.01), (
        "in log n"
    )


def test_a_better_f_never_means_a_worse_ratio(rng):
    inverse, l_hat, run, n_labels, ratio, n = made(rng)
    found = calibrate(inverse, l_hat, run, n_labels, 1 / ratio, n)
    np.testing.assert_array_equal(found.slope[1:], 0.0)
    for n_labels in (3, 30):
        assert found.expected(0.8, n_labels) == found.expected(1.1, n_labels)


def test_equal_predictions_have_no_slope(rng):
    _, l_hat, run, n_labels, ratio, n = made(rng)
    found = calibrate(np.ones(n), l_hat, run, n_labels, ratio, n)
    np.testing.assert_array_equal(found.slope[1:], 0.0)
    assert 1 / found.expected(1.0, 3) == pytest.approx(np.mean(1 / ratio[n_labels == 3]))


def test_few_pairs_widen_the_interval(rng):
    many = calibrate(*made(rng))
    few = replace(many, n_pairs=20)
    low, high = many.interval(1.0, 3, 0.8)
    lower, higher = few.interval(1.0, 3, 0.8)
    assert lower < low
    assert high < higher


def test_updates_move_quantiles_towards_what_is_new(rng):
    inverse, l_hat, run, n_labels, ratio, n = made(rng)
    old = calibrate(inverse, l_hat, run, n_labels, ratio, n)
    middle = int(np.searchsorted(PROBABILITIES, 0.5))
    shifted = old.updated(inverse, 1.2 * l_hat, run, n_labels, 1.2 * ratio, n)
    np.testing.assert_array_equal(shifted.slope, old.slope)
    assert shifted.n_pairs == 2 * n
    # Half lies around 0, half around log 1.2.
    for i in (1, 2):
        assert 0 < shifted.quantiles[i, middle] - old.quantiles[i, middle] < np.log(1.2)
    much = old
    for _ in range(30):
        much = much.updated(inverse, 1.2 * l_hat, run, n_labels, 1.2 * ratio, n)
    np.testing.assert_allclose(
        much.quantiles[1:, middle] - old.quantiles[1:, middle], np.log(1.2), atol=0.02
    )


def test_more_of_the_same_changes_little(rng):
    inverse, l_hat, run, n_labels, ratio, n = made(rng)
    old = calibrate(inverse, l_hat, run, n_labels, ratio, n)
    same = old.updated(inverse, l_hat, run, n_labels, ratio, n)
    np.testing.assert_allclose(same.quantiles, old.quantiles, atol=0.02)
    assert (np.diff(same.quantiles, axis=1) >= 0).all()


def test_an_update_at_other_counts_leaves_the_rest(rng):
    inverse, l_hat, run, n_labels, ratio, n = made(rng)
    old = calibrate(inverse, l_hat, run, n_labels, ratio, n)
    at = n_labels == 3
    new = old.updated(inverse, l_hat, run[at], n_labels[at], 2 * ratio[at], n)
    np.testing.assert_array_equal(new.quantiles[2], old.quantiles[2])
    assert (new.quantiles[1] > old.quantiles[1]).all()


def test_predictions_are_kept_above_the_least():
    zeros = np.zeros((2, len(PROBABILITIES)))
    found = Calibration(np.array([0, 3]), np.ones(2), np.zeros(2), zeros, 10)
    assert found.expected(-1.0, None) == found.expected(-1.0, 3) == 1 / LEAST


def test_one_run_is_too_few():
    one, where = np.ones(1), np.zeros(1, dtype=np.intp)
    sentence = "calibration needs at least 2 runs, got 1"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
        calibrate(one, one, where, where + 3, one, 1)
