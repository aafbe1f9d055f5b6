"""Rows that are found again, against a comparison of all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.domains import matching
from l2t.domains.matching import SAME_ROW, same_rows


@pytest.fixture(params=[7, 50_000], ids=["blocks", "one block"])
def block(request, monkeypatch):
    monkeypatch.setattr(matching, "BLOCK", request.param)


@pytest.mark.usefixtures("block")
def test_the_rows_found_are_those_of_all_pairs(rng):
    others = rng.normal(size=(60, 8))
    X = rng.normal(size=(40, 8))
    X[:5] = 3.0 * others[10:15]
    X[5:10] = others[20:25] * (1.0 + 1e-7 * rng.normal(size=(5, 8)))
    X[10:15] = others[20:25] + 1e-3
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (X, others)]
    gaps = np.linalg.norm(unit[0][:, None] - unit[1], axis=2).min(axis=1)
    np.testing.assert_array_equal(same_rows(X, others), gaps < SAME_ROW)
    assert same_rows(X, others)[:10].all()
    assert not same_rows(X, others)[10:].any()


@pytest.mark.usefixtures("block")
def test_a_row_among_many_that_look_alike_is_found(rng):
    """Rows that differ in directions that are not looked at crowd those that are compared first."""
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(8, matching.DIRECTIONS)))[0]
    away = rng.normal(size=(30, 8))
    away -= (away @ axes) @ axes.T
    others = axes[:, 0] + away
    assert same_rows(others[17:19], others).all()
    assert not same_rows(others[:1] + 0.1 * away[1], others).any()


def test_a_column_of_large_numbers_does_not_make_all_rows_equal(rng):
    X, others = rng.normal(size=(80, 6)), rng.normal(size=(60, 6))
    for each in (X, others):
        each[:, 0] = 1.7e9 + rng.integers(0, 10**6, len(each))  # a time
        each[:, 1] = np.exp(10 + 2 * each[:, 1])  # an income
    X[:10] = 3.0 * others[:10]
    assert same_rows(X, others).tolist() == [True] * 10 + [False] * 70
    assert same_rows(X.astype(np.float32), others).sum() == 10


def test_rounding_in_a_nearly_constant_column_does_not_hide_a_copy(rng):
    others = rng.normal(size=(40, 5))
    others[:, 0] = 0.1 + 1e-17 * rng.integers(0, 3, 40)
    others[:, 1] = 1e4 + 1e-3 * others[:, 1]
    assert same_rows(others[:9].astype(np.float32), others).all()
    assert same_rows(others[:9], others.astype(np.float32)).all()
    other = rng.normal(loc=[0.1, 1e4, 0, 0, 0], size=(9, 5))
    assert not same_rows(other, others).any()
