"""The accuracy to expect and its interval."""

from __future__ import annotations

import numpy as np
import pytest

import l2t
from l2t.domains import Domain
from l2t.prediction.promise import expect_accuracy


def promise(mean=0.8, shots=5.0, n=200, own=None):
    return expect_accuracy(np.full(50, mean), shots, n, "", own)


def test_the_interval_holds_the_expectation_and_shrinks_with_labels_and_rows():
    for mean in (0.02, 0.5, 0.8, 0.999):
        found = promise(mean)
        assert 0.0 <= found.low < found.expected < found.high <= 1.0
    widths = [promise(shots=shots).high - promise(shots=shots).low for shots in (1, 3, 8, 20, 80)]
    assert sorted(widths, reverse=True) == widths
    widths = [promise(n=n).high - promise(n=n).low for n in (5, 50, 5000)]
    assert sorted(widths, reverse=True) == widths
    # Never narrower than the binomial error of the rows.
    assert widths[0] > 2 * 1.5 * np.sqrt(0.8 * 0.2 / 50)


def test_where_less_than_one_error_is_expected_there_may_be_none():
    assert promise(0.99, n=20).high == 1.0
    assert promise(0.9, n=20_000).high < 1.0


def test_without_unlabelled_rows_there_is_no_promise():
    assert expect_accuracy(np.empty(0), 5.0, 0, "") is None


def test_labelled_rows_that_are_clearly_worse_decide():
    assert promise(own=(0.75, 30)) == promise()
    found = promise(own=(0.3, 30))
    assert 0.25 < found.expected < 0.4
    assert found.low < 0.3 < found.high
    assert promise(own=(1.0, 30)) == promise()


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
