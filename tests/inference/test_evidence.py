"""Evidence: what labelled rows say, and how much they weigh."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.forecast import Expectation, Forecast
from l2t.inference.evidence import LabelledRows

FORECAST = Forecast.default()


def test_the_shares_of_a_toy_by_hand():
    """Two classes on a line: 0, 1 and 3 against 2 and 9."""
    rows = LabelledRows(np.array([[0.0], [1], [3], [2], [9]]), np.array([0, 0, 0, 1, 1]))
    found = rows.evidence(np.eye(1), FORECAST)
    # Triples in order, ties half: 0: 3/4; 1: (1.5 + 1)/4; 3: 2/4; 2: 0/3; 9: 2/3.
    assert found.order_without == pytest.approx((3 / 4 + 2.5 / 4 + 2 / 4 + 0 + 2 / 3) / 5)
    # Nearest: 0 yes; 1 a tie; 3 no; 2 no; 9 no.
    assert found.nearest_without == pytest.approx((1 + 0.5 + 0 + 0 + 0) / 5)
    assert (found.n_rows, found.shots, found.suggests.mean) == (5, 2.5, 0.0)


def test_a_map_that_separates_is_seen(rng):
    codes = np.arange(20) % 2
    X = np.column_stack([codes + 0.1 * rng.normal(size=20), 10 * rng.normal(size=20)])
    found = LabelledRows(X, codes).evidence(np.array([[1.0], [0.0]]), FORECAST)
    assert found.order == found.nearest == 1.0
    assert found.suggests.mean > 2 * found.suggests.spread


@pytest.mark.parametrize("codes", [[0, 1, 2], [0, 0, 0], []])
def test_rows_that_cannot_be_compared_say_nothing(codes, rng):
    rows = LabelledRows(rng.normal(size=(len(codes), 2)), np.array(codes, dtype=int))
    assert rows.evidence(np.eye(2), FORECAST) is None


def test_scale_and_shift_do_not_matter(rng):
    X, codes = rng.normal(size=(30, 4)), np.arange(30) % 3
    W = rng.normal(size=(4, 2))
    first, second = LabelledRows(X, codes), LabelledRows(1e3 * X + 7, codes)
    assert first.evidence(W, FORECAST) == second.evidence(1e-5 * W, FORECAST)


def test_rows_of_one_group_are_not_compared():
    """As the toy above, with 0 and 1 in one group, and 3 and 2 in another."""
    X, codes = np.array([[0.0], [1], [3], [2], [9]]), np.array([0, 0, 0, 1, 1])
    found = LabelledRows(X, codes, np.array([7, 7, 8, 8, 9])).evidence(np.eye(1), FORECAST)
    # Triples in order: 0: 1/2; 1: 1/2; 3: 2/2 against 9 alone; 2: 0/2; 9: 2/3.
    assert found.order == pytest.approx((1 / 2 + 1 / 2 + 1 + 0 + 2 / 3) / 5)
    assert (found.nearest, found.n_rows) == (pytest.approx(1 / 5), 5)


def test_near_copies_in_groups_are_no_evidence(rng):
    codes, groups = np.repeat(rng.integers(0, 3, 40), 5), np.repeat(np.arange(40), 5)
    X = np.repeat(rng.normal(size=(40, 6)), 5, axis=0) + 0.01 * rng.normal(size=(200, 6))
    assert LabelledRows(X, codes).without.nearest == 1.0
    assert LabelledRows(X, codes, groups).without.nearest < 0.5
    one_each = np.repeat(np.arange(3), 20)
    assert LabelledRows(X[:60], one_each, one_each).without is None


def test_many_rows_are_sampled(rng):
    X, codes = rng.normal(size=(900, 2)), np.arange(900) % 3
    for groups in (None, np.arange(900)):
        assert LabelledRows(X, codes, groups).evidence(np.eye(2), FORECAST).n_rows == 500


def test_both_sides_are_weighed_by_their_precision():
    evidence = Expectation(0.13, 0.1)
    expected = Expectation(0.0, 0.1, 0.02)
    assert expected.weighed(evidence).mean == pytest.approx(0.065)
    assert expected.weighed(evidence).spread == pytest.approx(0.1 / np.sqrt(2))
    assert expected.weighed(evidence).noise == 0.02
    certain = Expectation(0.0, 0.0)
    assert certain.weighed(evidence) is certain


def test_more_rows_say_it_with_a_smaller_error():
    few, many = (FORECAST.suggested(0.1, 0.1, n, 5) for n in (10, 40))
    assert few.mean == many.mean > 0
    assert few.spread == pytest.approx(2 * many.spread)
