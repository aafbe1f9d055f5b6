"""Intervals: they cover at least their level, and depend on labels and level as they should."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from l2t.exceptions import InvalidInputError
from l2t.reflection import Calibration, learn
from l2t.reflection.calibration import (
    LEAST,
    SHARES,
    Outcomes,
    calibrate,
    finite_interval,
)


def made(rng, n=400, counts=(3, 30), noise=0.05, runs=1, alike=0.0):
    """Return outcomes with half of the effect at the last count; errors of a pair may be alike."""
    pair = np.repeat(np.arange(n), runs)
    inverse = rng.uniform(0.7, 1.2, len(pair))
    run, n_labels = np.tile(np.arange(len(pair)), len(counts)), np.repeat(counts, len(pair))
    share = np.where(n_labels == counts[-1], 0.5, 1.0)
    errors = np.sqrt(1 - alike) * rng.normal(size=len(run))
    errors += np.sqrt(alike) * rng.normal(size=n)[pair[run]]
    ratio = np.exp(noise * errors) / (1 + share * (inverse[run] - 1))
    return Outcomes(inverse, 1 / inverse, pair, run, n_labels, ratio)


def median_error(calibration):
    return calibration.errors[:, int(np.searchsorted(SHARES, 0.5))]


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
    found = calibrate(made(rng, noise=0.0))
    assert found.n_labels.tolist() == [0, 3, 30]
    np.testing.assert_allclose(found.slope, [1, 1, 0.5], atol=1e-9)
    np.testing.assert_allclose(found.offset, [0, 0, 0.5], atol=1e-9)
    assert found.expected(0.8, None) == pytest.approx(1 / 0.8)
    assert found.expected(0.8, 3) == pytest.approx(1 / 0.8)
    assert found.expected(0.8, 30) == pytest.approx(1 / 0.9)
    np.testing.assert_allclose(found.errors[1:], 0.0, atol=1e-9)


def test_the_function_uses_them(world, quick, rng):
    """Ratios near 1 at many labels: predictions there are near 1 as well."""
    experiences = [
        replace(each, improvement_ratio=1 / (0.8 + 0.2 / each.improvement_ratio))
        if each.n_labels == 60
        else each
        for each in world.experiences(60)
    ]
    function = learn(experiences, label_curve=False, **quick | {"max_labels": 15})
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
    found = calibrate(made(rng))
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
    outcomes = made(rng)
    found = calibrate(replace(outcomes, ratio=1 / outcomes.ratio))
    np.testing.assert_array_equal(found.slope[1:], 0.0)
    for n_labels in (3, 30):
        assert found.expected(0.8, n_labels) == found.expected(1.1, n_labels)


def test_equal_predictions_have_no_slope(rng):
    outcomes = made(rng)
    found = calibrate(replace(outcomes, inverse=np.ones(400)))
    np.testing.assert_array_equal(found.slope[1:], 0.0)
    ratio = outcomes.ratio[outcomes.n_labels == 3]
    assert 1 / found.expected(1.0, 3) == pytest.approx(np.mean(1 / ratio))


def test_the_line_is_that_of_least_squares_and_errors_leave_the_pair_out(rng):
    outcomes = made(rng, n=12, counts=(3,), runs=2)
    found = calibrate(outcomes)
    slope, offset = np.polyfit(outcomes.inverse, 1 / outcomes.ratio, 1)
    assert (found.slope[1], found.offset[1]) == (pytest.approx(slope), pytest.approx(offset))
    errors = []
    for k in range(12):
        held = outcomes.pair == k
        line = np.polyfit(outcomes.inverse[~held], 1 / outcomes.ratio[~held], 1)
        errors += np.abs(np.log(outcomes.ratio * np.polyval(line, outcomes.inverse)))[held].tolist()
    assert found.errors[1, -1] == pytest.approx(max(errors))
    assert found.errors[1, 19] == pytest.approx(np.sort(errors)[11])


@pytest.mark.parametrize("alike", [0.0, 0.9])
@pytest.mark.parametrize("n_pairs", [3, 5, 9, 20, 50, 200])
def test_intervals_cover_at_least_their_level_for_few_pairs_and_many(n_pairs, alike):
    """Of 500 calibrations on exchangeable pairs with two runs each; infinite for too few pairs."""
    rng = np.random.default_rng(n_pairs)
    levels, n = (0.5, 0.8, 0.9, 0.95), 500
    inside = np.zeros((2, len(levels)))
    for _ in range(n):
        drawn = made(rng, n_pairs + 1, runs=2, alike=alike)
        old, experience = drawn.pair < n_pairs, drawn.pair[drawn.run] < n_pairs
        by_run = (drawn.inverse[old], drawn.l_hat[old], drawn.pair[old])
        kept = [getattr(drawn, name)[experience] for name in ("n_labels", "ratio")]
        numbers = np.r_[np.arange(2 * n_pairs), np.arange(2 * n_pairs)]
        found = calibrate(Outcomes(*by_run, numbers, *kept))
        ratios = drawn.ratio[drawn.run == 2 * n_pairs]
        for i, (n_labels, ratio) in enumerate(zip((3, 30), ratios, strict=True)):
            for j, level in enumerate(levels):
                low, high = found.interval(drawn.inverse[-2], n_labels, level)
                inside[i, j] += low <= ratio <= high
                assert np.isinf(high) == (n_pairs < level / (1 - level) - 1e-9)
                assert (low == 0) == np.isinf(high)
    least = binom.ppf(0.001, n, levels)
    assert (inside >= least).all(), inside / n


def test_few_pairs_widen_the_interval_until_it_is_infinite(rng):
    many = calibrate(made(rng))
    bounds = [
        replace(many, pairs=np.full(3, n)).interval(1.0, 3, 0.8) for n in (400, 20, 5, 4, 3, 1, 0)
    ]
    lows, highs = np.array(bounds).T
    assert (np.diff(lows[:4]) < 0).all()
    assert (np.diff(highs[:4]) > 0).all()
    assert np.isfinite(highs[3])
    assert bounds[4:] == 3 * [(0.0, np.inf)]


def test_one_count_with_too_few_pairs_is_infinite_alone(rng):
    found = replace(calibrate(made(rng)), pairs=np.array([400, 400, 8]))
    assert np.isfinite(found.interval(1.0, 3, 0.9)).all()
    assert np.isfinite(found.interval(1.0, None, 0.9)).all()
    for n_labels in (4, 30, 100):
        assert found.interval(1.0, n_labels, 0.9) == (0.0, np.inf)


def test_a_count_of_a_single_pair_has_no_interval(rng):
    outcomes = made(rng, n=40)
    kept = (outcomes.n_labels == 3) | (outcomes.run == 0)
    names = ("run", "n_labels", "ratio")
    found = calibrate(replace(outcomes, **{name: getattr(outcomes, name)[kept] for name in names}))
    assert found.pairs.tolist() == [40, 40, 0]
    assert found.interval(1.0, 30, 0.5) == (0.0, np.inf)


def test_an_interval_to_show_is_finite_or_none():
    assert finite_interval((0.5, 2.0)) == (0.5, 2.0)
    assert finite_interval((0.0, np.inf)) is None
    assert finite_interval(None) is None


def test_updates_move_errors_towards_what_is_new(rng):
    outcomes = made(rng)
    old = calibrate(outcomes)
    more = replace(outcomes, l_hat=1.2 * outcomes.l_hat, ratio=1.2 * outcomes.ratio)
    shifted = old.updated(more)
    np.testing.assert_array_equal(shifted.slope, old.slope)
    assert shifted.n_pairs == 800
    assert shifted.pairs.tolist() == [800, 800, 800]
    # Half are around 0, half around log 1.2.
    assert (median_error(old)[1:] < median_error(shifted)[1:]).all()
    assert (median_error(shifted)[1:] < np.log(1.2)).all()
    much = old
    for _ in range(30):
        much = much.updated(more)
    np.testing.assert_allclose(median_error(much)[1:], np.log(1.2), atol=0.02)


def test_more_of_the_same_changes_little(rng):
    outcomes = made(rng)
    old = calibrate(outcomes)
    same = old.updated(outcomes)
    np.testing.assert_allclose(same.errors, old.errors, atol=0.02)
    assert (np.diff(same.errors, axis=1) >= 0).all()


def test_an_update_at_other_counts_leaves_the_rest(rng):
    outcomes = made(rng)
    old = calibrate(outcomes)
    at = outcomes.n_labels == 3
    run, n_labels, ratio = (getattr(outcomes, name)[at] for name in ("run", "n_labels", "ratio"))
    new = old.updated(replace(outcomes, run=run, n_labels=n_labels, ratio=2 * ratio))
    np.testing.assert_array_equal(new.errors[2], old.errors[2])
    assert (new.errors[1, 1:] > old.errors[1, 1:]).all()
    assert new.pairs.tolist() == [800, 800, 400]


def test_predictions_are_kept_above_the_least():
    zeros, pairs = np.zeros((2, len(SHARES))), np.array([10, 10])
    found = Calibration(np.array([0, 3]), np.ones(2), np.zeros(2), zeros, pairs)
    assert found.expected(-1.0, None) == found.expected(-1.0, 3) == 1 / LEAST


def test_one_pair_is_too_few(rng):
    sentence = "calibration needs runs of at least 2 pairs, got 1 pair or none"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
        calibrate(made(rng, n=1, runs=3))
