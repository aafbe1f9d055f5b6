"""The rows that are drawn of each domain, and what is fitted to them."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain
from l2t.inference.shared import infer_shared
from l2t.inference.shared.task import Task


def rows(rng, codes, shift=0.0):
    """Return rows of classes that lie along the axes."""
    return 3.0 * np.eye(12)[codes] + 0.5 * rng.normal(size=(len(codes), 12)) + shift


@pytest.fixture
def target(rng):
    return Domain(rows(rng, np.arange(90) % 3))


@pytest.fixture
def small(monkeypatch):
    """At most 60 rows of each domain are drawn."""
    monkeypatch.setattr("l2t.inference.shared.task.MAX_ROWS", 60)


@pytest.mark.usefixtures("small")
def test_all_labelled_rows_of_a_large_source_are_trained_on(rng, target):
    codes = np.arange(3000) % 3
    labeled = np.arange(3000) >= 2970
    source = Domain(rows(rng, codes), codes, labeled=labeled)
    task = Task.of(target, [source], 0)
    assert np.bincount(task.codes[task.source] + 1).tolist() == [30, 10, 10, 10]
    np.testing.assert_array_equal(task.X[task.source][30:], source.X[labeled])
    found = infer_shared(target, source, candidates=("means",))
    assert np.mean(found.predict(target.X) == np.arange(90) % 3) > 0.9


@pytest.mark.usefixtures("small")
def test_a_rare_class_of_a_large_source_is_trained_on(rng, target):
    codes = np.where(np.arange(3000) < 3, 2, np.arange(3000) % 2)
    task = Task.of(target, [Domain(rows(rng, codes), codes)], 0)
    sizes = np.bincount(task.codes[task.source])
    assert (sizes.sum(), sizes[2]) == (60, 3)


@pytest.mark.usefixtures("small")
def test_a_large_source_with_frequent_classes_is_sampled_as_its_shares_are(rng, target):
    codes = np.where(np.arange(3000) % 10 == 0, 1, 0)
    source = Domain(rows(rng, codes), codes)
    task = Task.of(target, [source], 0)
    drawn = np.sort(np.random.default_rng(0).permutation(3000)[:60])
    np.testing.assert_array_equal(task.X[task.source], source.X[drawn])
