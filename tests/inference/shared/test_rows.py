"""The rows that are drawn of each domain, and what is fitted to them."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair, algorithms
from l2t.algorithms.base import fit_quietly
from l2t.inference.shared import infer_shared
from l2t.inference.shared.rows import SharedRows


def rows(rng, codes, shift=0.0):
    """Return rows of classes that lie along the axes."""
    return 3.0 * np.eye(12)[codes] + 0.5 * rng.normal(size=(len(codes), 12)) + shift


@pytest.fixture
def target(rng):
    return Domain(rows(rng, np.arange(90) % 3))


@pytest.fixture
def small(monkeypatch):
    """At most 60 rows of each domain are drawn."""
    monkeypatch.setattr("l2t.inference.shared.rows.MAX_SHARED_ROWS", 60)


@pytest.mark.usefixtures("small")
def test_all_labelled_rows_of_a_large_source_are_trained_on(rng, target):
    codes = np.arange(3000) % 3
    labeled = np.arange(3000) >= 2970
    source = Domain(rows(rng, codes), codes, labeled=labeled)
    task = SharedRows.of(target, [source], 0)
    assert np.bincount(task.codes[task.source] + 1).tolist() == [30, 10, 10, 10]
    np.testing.assert_array_equal(task.X[task.source][30:], source.X[labeled])
    found = infer_shared(target, source, candidates=("means",))
    assert np.mean(found.predict(target.X) == np.arange(90) % 3) > 0.9


@pytest.mark.usefixtures("small")
def test_a_rare_class_of_a_large_source_is_trained_on(rng, target):
    codes = np.where(np.arange(3000) < 3, 2, np.arange(3000) % 2)
    task = SharedRows.of(target, [Domain(rows(rng, codes), codes)], 0)
    sizes = np.bincount(task.codes[task.source])
    assert (sizes.sum(), sizes[2]) == (60, 3)


@pytest.mark.usefixtures("small")
def test_a_large_source_with_frequent_classes_is_sampled_as_its_shares_are(rng, target):
    codes = np.where(np.arange(3000) % 10 == 0, 1, 0)
    source = Domain(rows(rng, codes), codes)
    task = SharedRows.of(target, [source], 0)
    drawn = np.sort(np.random.default_rng(0).permutation(3000)[:60])
    np.testing.assert_array_equal(task.X[task.source], source.X[drawn])


@pytest.mark.parametrize("name", ["itl", "jda", "classes"])
def test_unlabelled_source_rows_are_not_a_class(name, rng, target):
    codes, labeled = np.arange(60) % 3, np.arange(60) < 30
    X = rows(rng, codes)
    task = SharedRows.of(target, [Domain(X, codes, labeled=labeled)], 0)
    source = Domain(X, np.where(labeled, codes, 7), labeled=labeled)
    spaces, failed = task.spaces((name,))
    fitted = fit_quietly(algorithms.make(name), DomainPair(source, target))
    np.testing.assert_allclose(spaces[name].W, fitted.W, atol=1e-10)
    assert not failed


def test_algorithms_that_need_labels_are_left_out_without_labelled_source_rows(rng, target):
    source = Domain(rng.normal(size=(30, 12)))
    spaces, failed = SharedRows.of(target, [source], 0).spaces(("means", "jda", "itl"))
    assert list(spaces) == ["means"]
    assert failed["jda"] == "jda needs labels in the source, got none"
    assert failed["itl"] == "itl needs labels in the source, got none"


@pytest.mark.usefixtures("small")
def test_the_number_of_labelled_target_rows_is_bounded(rng, monkeypatch):
    monkeypatch.setattr("l2t.inference.shared.rows.MAX_LABELLED", 90)
    codes = np.where(np.arange(3000) % 100 == 0, 2, np.arange(3000) % 2)
    X = rows(rng, codes)
    target = Domain(X, codes, labeled=np.ones(3000, dtype=bool))
    task = SharedRows.of(target, [Domain(X[:60], codes[:60])], 0)
    assert 90 <= len(task.target_rows) <= 60 + 90
    assert np.bincount(task.codes[~task.source])[2] >= 30
    np.testing.assert_array_equal(task.codes[~task.source], codes[task.target_rows])
    assert task.neighbors.shape == (len(task.target_rows), 10)


def near_copies(rng):
    """Return rows of 40 groups, each five near copies of one row, with a random class for each group."""
    X = np.repeat(rng.normal(size=(40, 12)), 5, axis=0) + 0.01 * rng.normal(size=(200, 12))
    return X, np.repeat(np.arange(40) % 2, 5), np.repeat(np.arange(40), 5)


def test_groups_of_a_source_are_held_out_together(rng, target):
    X, codes, groups = near_copies(rng)
    plain, grouped = (
        SharedRows.of(target, [source], 0)
        for source in (Domain(X, codes), Domain(X, codes, groups=groups))
    )
    assert plain.held_out("1-nn", plain.plain) == 1.0
    assert grouped.held_out("1-nn", grouped.plain) < 0.7


def test_a_source_that_only_groups_separate_is_not_informative(rng, target):
    X, codes, groups = near_copies(rng)
    good = Domain(rows(rng, np.arange(90) % 3), np.arange(90) % 3)
    noise = Domain(X, codes, groups=groups)
    assert SharedRows.of(target, [good, noise], 0).informative_sources() == [0]
    alone = Domain(X, codes)
    assert SharedRows.of(target, [good, alone], 0).informative_sources() == [0, 1]


def test_every_row_keeps_its_group(rng, target):
    X, codes, groups = near_copies(rng)
    task = SharedRows.of(target, [Domain(X, codes), Domain(X, codes, groups=groups)], 0)
    sizes = [len(np.unique(task.groups[task.origin == at])) for at in range(3)]
    assert sizes == [200, 40, 90]
    assert len(np.unique(task.groups)) == sum(sizes)
    assert len(np.unique(task.only([1]).groups)) == 40 + 90
