"""The accuracy to expect and its interval."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

import l2t
from l2t.domains import Domain
from l2t.prediction.promise import Promise, expect_accuracy


def promise(mean=0.8, shots=5.0, n=200, own=None, **random):
    return expect_accuracy(np.full(50, mean), shots, n, own=own, **random)


def width(found):
    return found.high - found.low


def test_the_interval_holds_the_expectation_and_shrinks_with_labels_and_rows():
    for mean in (0.02, 0.5, 0.8, 0.999):
        found = promise(mean)
        assert 0.0 <= found.low < found.expected < found.high <= 1.0
    widths = [width(promise(shots=shots)) for shots in (1, 3, 8, 20, 80)]
    assert sorted(widths, reverse=True) == widths
    widths = [width(promise(n=n)) for n in (5, 50, 5000)]
    assert sorted(widths, reverse=True) == widths


@pytest.mark.parametrize("mean", [0.3, 0.8, 0.95])
@pytest.mark.parametrize("rows", [4.0, 20.0, 300.0])
@pytest.mark.parametrize("n", [30, 10_000])
def test_accuracies_of_the_beta_distribution_lie_inside_nine_times_of_ten(mean, rows, n):
    rng = np.random.default_rng(0)
    accuracy = rng.binomial(n, rng.beta(mean * rows, (1.0 - mean) * rows, 20_000)) / n
    found = Promise.of(mean, rows, n)
    inside = np.mean((found.low <= accuracy) & (accuracy <= found.high))
    assert 0.85 < inside <= (0.96 if n > 100 else 1.0)


def test_measured_rows_are_the_posterior_of_a_uniform_prior():
    found = Promise.measured(0.75, 40, 10**9)
    assert (found.expected, found.rows) == (31 / 42, 42)
    np.testing.assert_allclose([found.low, found.high], beta.ppf([0.05, 0.95], 31, 11), rtol=1e-4)


def test_where_less_than_one_error_is_expected_there_may_be_none():
    assert promise(0.99, n=20).high == 1.0
    assert promise(0.9, n=20_000).high < 1.0


def test_a_wide_interval_says_why():
    assert promise(shots=1.0).reason == (
        "The interval is wide because no more is known with 1 label per class."
    )
    assert promise(shots=80.0).reason == ""
    assert "12 unlabelled rows are few" in promise(shots=20.0, n=12).reason
    assert "12 labelled rows" in Promise.measured(0.6, 12, 500).reason
    assert "12 labelled rows" in promise(shots=3.0, own=(0.3, 12)).reason
    assert "may be as random" in promise(chance=0.25, randomness=1.0).reason
    assert "only 8 labelled rows" in Promise.of(0.6, 8.0, 500).reason


def test_without_unlabelled_rows_there_is_no_promise():
    assert expect_accuracy(np.empty(0), 5.0, 0) is None


def test_labelled_rows_that_are_worse_take_the_place_of_probabilities():
    for accuracy in (0.75, 1.0):
        assert promise(own=(accuracy, 30)).expected == pytest.approx(promise().expected)
    means = [promise(own=(accuracy, 30)).expected for accuracy in (0.7, 0.65, 0.6, 0.3)]
    assert sorted(means, reverse=True) == means
    found = promise(own=(0.3, 30))
    assert 0.25 < found.expected < 0.4
    assert found.low < 0.3 < found.high


def test_classes_that_may_be_random_are_expected_nearer_to_chance_and_less_surely():
    known, unknown = promise(chance=0.25), promise(chance=0.25, randomness=1.0)
    assert known == promise()
    assert 0.25 < unknown.expected < known.expected
    assert unknown.rows < known.rows
    assert promise(0.1, chance=0.25, randomness=1.0).expected == promise(0.1).expected


@pytest.mark.parametrize("n_classes", [2, 4])
def test_labels_given_at_random_promise_chance(n_classes):
    rng = np.random.default_rng(n_classes)
    codes = np.arange(240) % 6
    centres = 3.0 * rng.normal(size=(6 + n_classes, 12))
    source = Domain(centres[codes] + rng.normal(size=(240, 12)), codes)
    X = centres[6 + np.arange(200) % n_classes] + rng.normal(size=(200, 12))
    y = 10 + rng.integers(0, n_classes, 200)
    labeled = np.arange(200) < 15 * n_classes
    (used,) = [
        row for row in l2t.predict(source, Domain(X, y, labeled=labeled)).report.rows if row.used
    ]
    assert used.expected < 1.0 / n_classes + 0.2
    assert used.low < 1.0 / n_classes < used.high
