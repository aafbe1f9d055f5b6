"""Rows that are found again, against a comparison of all pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from l2t import Domain
from l2t.domains import copies
from l2t.domains.copies import SAME_ROW, join_copies, joint_groups, same_rows
from l2t.domains.encoding import TableEncoder


@pytest.fixture(params=[7, 50_000], ids=["blocks", "one block"])
def block(request, monkeypatch):
    monkeypatch.setattr(copies, "BLOCK", request.param)


@pytest.mark.usefixtures("block")
def test_the_rows_found_are_those_of_all_pairs(rng):
    others = rng.normal(size=(60, 8))
    X = rng.normal(size=(40, 8))
    X[:5] = 3.0 * others[10:15]
    X[5:10] = others[20:25] * (1.0 + 1e-7 * rng.normal(size=(5, 8)))
    X[10:15] = others[20:25] + 0.5
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (X, others)]
    gaps = np.linalg.norm(unit[0][:, None] - unit[1], axis=2).min(axis=1)
    np.testing.assert_array_equal(same_rows(X, others), gaps < SAME_ROW)
    assert same_rows(X, others)[:10].all()
    assert not same_rows(X, others)[10:].any()


@pytest.mark.usefixtures("block")
def test_a_row_among_many_that_look_alike_is_found(rng):
    """Rows that differ in directions that are not looked at crowd those that are compared first."""
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(8, copies.N_DIRECTIONS)))[0]
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
    X = rng.normal(size=(28, 5))
    groups = ["a", "b", *[None] * 23]
    target = Domain(np.concatenate([X[:4], X[:1], X[8:]]), groups=groups)
    source = Domain(np.concatenate([X[2:3].round(3), 3.0 * X[5:8], X[5:6] + 1.0]))
    joined = join_copies(target, [source])
    groups, theirs = joint_groups([joined.target, *joined.sources])
    assert groups[0] == groups[4], "a copy joins the declared group"
    assert groups[2] == theirs[0], "a rounded copy in the source"
    assert len(np.unique(np.concatenate([groups, theirs]))) == 28
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


ROUNDINGS = {
    "decimals": lambda X: X.round(2),
    "decimals per column": lambda X: np.stack(
        [column.round(1 + j % 3) for j, column in enumerate(X.T)], 1
    ),
    "one column exact": lambda X: np.column_stack([X[:, 0], X[:, 1:].round(3)]),
    "significant digits": lambda X: np.array([[float(f"{x:.4g}") for x in row] for row in X]),
    "float16": lambda X: X.astype(np.float16),
    "truncated": lambda X: np.trunc(1000 * X) / 1000,
    "shifted a little": lambda X: X + 1e-4,
}


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_rounded_copies_are_recognised_in_any_unit(rng, rounding, scale, proves):
    X = rng.normal(size=(200, 12))
    rounded = ROUNDINGS[rounding](X[:60]).astype(float)
    joined = join_copies(Domain(scale * X), [Domain(scale * rounded)])
    assert (joined.n_in_sources, joined.n_in_target) == (60, 0)
    assert same_rows(scale * rounded, scale * X).all()
    proves("Copies of rows are recognised, however they were rounded", 60, "rows")


def test_rounded_copies_of_sparse_rows_are_recognised():
    X = sparse.random(200, 6000, 0.005, format="csr", random_state=0)
    rounded = X[:60].copy()
    rounded.data = rounded.data.round(3)
    joined = join_copies(Domain(X), [Domain(rounded)])
    assert joined.n_in_sources > 55  # a rare value may be rounded to 0
    assert joined.n_in_target == 0


@pytest.mark.parametrize("m", [2, 3, 6, 30])
@pytest.mark.parametrize("kind", ["normal", "uniform", "heavy tails", "clusters", "mixed"])
def test_different_rows_are_seldom_copies(m, kind):
    n_found = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, m))
        if kind == "uniform":
            X = rng.random((400, m))
        elif kind == "heavy tails":
            X = rng.standard_t(2, (400, m))
        elif kind == "clusters":
            X = 0.01 * X + rng.normal(size=(4, m))[np.arange(400) % 4]
        elif kind == "mixed":
            X[:, 1:] = X[:, 1:] > 0
        joined = join_copies(Domain(X[:200]), [Domain(X[200:])])
        n_found += joined.n_in_sources + joined.n_in_target
    assert n_found <= 2


@pytest.mark.parametrize("m", [1, 2, 12])
def test_exact_copies_are_recognised_in_any_number_of_columns(rng, m):
    X = rng.normal(size=(200, m))
    assert join_copies(Domain(X), [Domain(X[:60])]).n_in_sources == 60
    binary = rng.integers(0, 2, (200, 12)).astype(float)
    assert join_copies(Domain(binary), [Domain(binary[:60])]).n_in_sources == 60


@pytest.mark.parametrize("away", [1e3, 1e7])
def test_a_source_far_away_makes_no_copies(rng, away):
    X = rng.normal(size=(400, 12))
    assert join_copies(Domain(X[:200]), [Domain(X[200:] + away)]).sentence == ""
    X[0] *= 1e8  # a single row
    assert join_copies(Domain(X[:200]), [Domain(X[200:])]).sentence == ""


def test_groups_are_equal_by_what_they_name(proves):
    kinds = [["1", "2", "3.0"], [1, 2, 3], np.array([1.0, 2.0, 3.0]), [" 1", "2 ", "3"]]
    first, *others = joint_groups([Domain(np.eye(3), groups=groups) for groups in kinds])
    for other in others:
        np.testing.assert_array_equal(first, other)
    proves("Groups are equal across domains, as text and as numbers", len(kinds), "kinds of names")


def test_rows_of_a_table_with_the_same_text_are_no_copies(rng):
    """Directions of texts that the target lacks hold rounding, which is no unit of its rows."""
    places = [f"{a}{b}{c}" for a in "ABCDE" for b in "FGHI" for c in "KLMN"]
    tables = [
        pd.DataFrame({"delay": rng.normal(size=300), "place": rng.choice(some, 300)})
        for some in (places, places[:6])
    ]
    encoder = TableEncoder.fit(tables)
    assert [column.kind for column in encoder.columns] == ["number", "text"]
    source, target = (Domain(encoder.transform(table), encoder=encoder) for table in tables)
    assert join_copies(target, [source]).sentence == ""
