"""Evidence: what labelled rows say, and how much they weigh."""

from __future__ import annotations

import numpy as np
import pytest
from l2t.inference.choice import weigh

from l2t.inference.evidence import Evidence, LabelledRows
from l2t.reflection.forecast import Expectation


def test_the_shares_of_a_toy_by_hand():
    """Two classes on a line: 0, 1 and 3 against 2 and 9."""
    rows = LabelledRows(np.array([[0.0], [1], [3], [2], [9]]), np.array([0, 0, 0, 1, 1]))
    found = rows.evidence(np.eye(1))
    # Triples in order, ties half: 0: 3/4; 1: (1.5 + 1)/4; 3: 2/4; 2: 0/3; 9: 2/3.
    assert found.order_without == pytest.approx((3 / 4 + 2.5 / 4 + 2 / 4 + 0 + 2 / 3) / 5)
    # Nearest: 0 yes; 1 a tie; 3 no; 2 no; 9 no.
    assert found.nearest_without == pytest.approx((1 + 0.5 + 0 + 0 + 0) / 5)
    assert (found.n_rows, found.shots, found.log_ratio) == (5, 2.5, 0.0)


def test_a_map_that_separates_is_seen(rng):
    codes = np.arange(20) % 2
    X = np.column_stack([codes + 0.1 * rng.normal(size=20), 10 * rng.normal(size=20)])
    found = LabelledRows(X, codes).evidence(np.array([[1.0], [0.0]]))
    assert found.order == found.nearest == 1.0
    assert found.log_ratio > 2 * found.error


@pytest.mark.parametrize("codes", [[0, 1, 2], [0, 0, 0], []])
def test_rows_that_cannot_be_compared_say_nothing(codes, rng):
    rows = LabelledRows(rng.normal(size=(len(codes), 2)), np.array(codes, dtype=int))
    assert rows.evidence(np.eye(2)) is None


def test_scale_and_shift_do_not_matter(rng):
    X, codes = rng.normal(size=(30, 4)), np.arange(30) % 3
    W = rng.normal(size=(4, 2))
    first, second = LabelledRows(X, codes), LabelledRows(1e3 * X + 7, codes)
    assert first.evidence(W) == second.evidence(1e-5 * W)


def test_many_rows_are_sampled(rng):
    rows = LabelledRows(rng.normal(size=(900, 2)), np.arange(900) % 3)
    assert rows.evidence(np.eye(2)).n_rows == 500


def test_both_sides_are_weighed_by_their_precision():
    evidence = Evidence(25, 5.0, 0.8, 0.7, 0.8, 0.7)  # an error of 0.1
    assert evidence.log_ratio == pytest.approx(0.13)
    expected = Expectation(0.0, 0.1)
    assert weigh(expected, evidence).mean == pytest.approx(0.065)
    assert weigh(expected, evidence).spread == pytest.approx(0.1 / np.sqrt(2))
    assert weigh(expected, None) is expected
    certain = Expectation(0.0, 0.0)
    assert weigh(certain, evidence) is certain
