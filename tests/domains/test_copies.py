"""Rows that are found again, against a comparison of all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from l2t import Domain
from l2t.domains import copies
from l2t.domains.copies import SAME_ROW, join_copies, joint_groups, same_rows


@pytest.fixture(params=[7, 50_000], ids=["blocks", "one block"])
def block(request, monkeypatch):
    monkeypatch.setattr(copies, "BLOCK", request.param)


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
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(8, copies.DIRECTIONS)))[0]
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


def test_equal_groups_are_equal_in_all_domains():
    first, second = joint_groups(
        [Domain(np.eye(3), groups=groups) for groups in (["a", "b", None], ["b", np.nan, "a"])]
    )
    assert (first[0], first[1]) == (second[2], second[0])
    assert len(np.unique(np.concatenate([first, second]))) == 4, "rows without one stand alone"


def test_copies_and_declared_groups_are_joined(rng):
    X = rng.normal(size=(8, 5))
    target = Domain(np.concatenate([X[:4], X[:1]]), groups=["a", "b", None, None, None])
    source = Domain(np.concatenate([X[2:3].round(3), 3.0 * X[5:], X[5:6] + 1.0]))
    joined = join_copies(target, [source])
    groups, theirs = joint_groups([joined.target, *joined.sources])
    assert groups[0] == groups[4], "a copy joins the declared group"
    assert groups[2] == theirs[0], "a rounded copy in the source"
    assert len(np.unique(np.concatenate([groups, theirs]))) == 8
    assert (joined.n_in_sources, joined.n_in_target) == (1, 2)
    assert joined.sentence == (
        "1 row of the source repeats target rows and 2 rows of the target occur more than once; copies are "
        "kept together where accuracies are measured."
    )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_of_few_distinct_values_are_equal_by_chance(rng, kind):
    few = rng.integers(0, 3, size=(200, 4)).astype(float)
    assert join_copies(Domain(kind(few)), []).sentence == ""
    many = (rng.random((200, 300)) < 0.05) * rng.random((200, 300))
    found = join_copies(Domain(kind(many)), [Domain(kind(many[:7]))])
    assert (found.n_in_sources, found.n_in_target) == (7, 0)


def test_without_copies_the_domains_are_those_given(rng):
    target, source = (Domain(rng.normal(size=(20, 4))) for _ in range(2))
    found = join_copies(target, [source])
    assert found.target is target
    assert found.sources[0] is source
    assert found.sentence == ""
