"""The accuracy to expect and its interval."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

import l2t
from l2t.domains import Domain
from l2t.prediction.promise import OwnRows, Promise, expect_accuracy


def promise(mean=0.8, shots=5.0, n=200, own=None, *, n_classes=4, **random):
    return expect_accuracy(
        np.full(50, mean), shots, n_classes, n, own=own and OwnRows(*own), **random
    )


def width(found):
    return found.high - found.low


def test_the_interval_holds_the_expectation_and_shrinks_with_labels_and_rows():
    for mean in (0.02, 0.5, 0.8, 0.999):
        found = promise(mean)
        assert 0.0 <= found.low < found.expected < found.high <= 1.0
    widths = [width(promise(shots=shots)) for shots in (1, 3, 8, 20, 80)]
    assert sorted(widths, reverse=True) == widths
    widths = [width(promise(n_classes=n_classes)) for n_classes in (2, 5, 50)]
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
    assert "may be as random" in promise(randomness=1.0).reason
    assert "only 8 labelled rows" in Promise.of(0.6, 8.0, 500).reason


def test_without_unlabelled_rows_there_is_no_promise():
    assert expect_accuracy(np.empty(0), 5.0, 4, 0) is None


def test_labelled_rows_that_are_worse_take_the_place_of_probabilities():
    for accuracy in (0.75, 1.0):
        assert promise(own=(accuracy, 30)).expected == pytest.approx(promise().expected)
    means = [promise(own=(accuracy, 30)).expected for accuracy in (0.7, 0.65, 0.6, 0.3)]
    assert sorted(means, reverse=True) == means
    found = promise(own=(0.3, 30))
    assert 0.25 < found.expected < 0.4
    assert found.low < 0.3 < found.high


def test_doubted_plays_count_for_fewer_rows():
    assert promise(doubt=1.0).rows == pytest.approx(0.5 * promise().rows)
    assert promise(doubt=1.0).expected == promise().expected


def test_an_accuracy_below_chance_is_an_accident():
    at, below = (promise(0.4, own=(accuracy, 24), n_classes=3) for accuracy in (0.33, 0.1))
    assert 0.33 < below.expected <= at.expected < 0.41


def test_classes_that_may_be_random_are_expected_nearer_to_chance_and_less_surely():
    known, unknown = promise(), promise(randomness=1.0)
    assert known == promise()
    assert 0.25 < unknown.expected < known.expected
    assert unknown.rows < known.rows
    assert promise(0.1, randomness=1.0).expected == promise(0.1).expected


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


def made_task(seed, *, known=5, classes=4, shots=1, columns=20, per_group=1, source="true"):
    """Return a source and a target of other classes, Gaussian clouds at a random distance."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(0.2, 1.2) * rng.normal(size=(known + classes, columns))
    if columns > 100:  # a few columns tell each class
        centres *= 4.0 * (rng.uniform(size=centres.shape) < 20 / columns)
    spread = rng.normal(size=(columns, columns)) / np.sqrt(columns)
    sizes = (30, 20) if columns <= 100 else (12, 12)
    codes = np.repeat(np.arange(known), sizes[0]), np.repeat(np.arange(classes), sizes[1])
    noise = [rng.normal(size=(len(part), columns)) @ spread for part in codes]
    groups = np.arange(len(codes[1])) // per_group
    noise[1] += (per_group > 1) * rng.normal(size=(groups.max() + 1, columns))[groups]
    X = centres[codes[0]] + noise[0]
    if source == "noise":
        X = rng.normal(size=X.shape)
    y = np.array([f"class {code}" for code in codes[1]], dtype=object)
    labeled = np.zeros(len(y), dtype=bool)
    for code in range(classes):
        labeled[rng.permutation(np.flatnonzero(codes[1] == code))[:shots]] = True
    known_labels = rng.permutation(codes[0]) if source == "permuted" else codes[0]
    target = Domain(
        centres[known + codes[1]] + noise[1],
        y,
        labeled=labeled,
        groups=groups if per_group > 1 else None,
    )
    return Domain(X, known_labels), target


@pytest.mark.integration
@pytest.mark.parametrize(
    ("n_tasks", "made"),
    [
        (8, {}),
        (6, {"source": "noise"}),
        (6, {"source": "permuted"}),
        (4, {"classes": 50}),
        (4, {"columns": 1000, "shots": 2}),
        (6, {"per_group": 5, "shots": 3}),
    ],
)
def test_promises_of_made_tasks_hold(n_tasks, made):
    errors, inside = [], 0
    for seed in range(n_tasks):
        source, target = made_task(seed, **made)
        prediction = l2t.predict(source, target, shared=False)
        free = ~target.labeled
        accuracy = np.mean(prediction.labels[free] == target.y[free])
        errors.append(prediction.promise.expected - accuracy)
        inside += prediction.promise.low <= accuracy <= prediction.promise.high
    # A source that tells nothing may make an easy target look harder, which misleads nobody.
    assert inside >= n_tasks - (1 if made.get("source") is None else 2)
    assert np.mean(errors) < 0.1


def test_few_right_among_rows_that_are_less_certain_contradict_nothing():
    """Rows that were chosen to be labelled because they are uncertain."""
    assert promise(0.9, own=(0.6, 50, 0.6)).expected == pytest.approx(promise(0.9).expected)
    assert promise(0.9, own=(0.6, 50, 0.9)).expected < 0.7
    assert promise(0.9, own=(0.6, 50, 0.99)) == promise(0.9, own=(0.6, 50))
