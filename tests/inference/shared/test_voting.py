"""Cross-validation on the labelled target rows."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain
from l2t.inference.shared import infer_shared


@pytest.fixture
def copies(rng):
    """Rows of 40 groups, each five near copies of one row, with a random class for each group."""
    X = np.repeat(rng.normal(size=(40, 12)), 5, axis=0) + 0.01 * rng.normal(size=(200, 12))
    return X, np.repeat(rng.integers(0, 3, 40), 5), np.repeat(np.arange(40), 5)


@pytest.fixture
def source(rng):
    return Domain(rng.normal(size=(120, 12)), np.arange(120) % 3)


def accuracies(X, y, groups, source):
    target = Domain(X, y, groups=groups, labeled=np.ones(len(X), dtype=bool))
    return infer_shared(target, source, candidates=("means",)).decision.accuracies


def test_groups_are_left_out_together(copies, source):
    X, y, groups = copies
    assert accuracies(X, y, None, source)["target"] > 0.5
    found = accuracies(X, y, groups, source)
    assert max(found.values()) < 0.45


def test_groups_of_one_row_change_nothing(copies, source):
    X, y, _ = copies
    assert accuracies(X, y, np.arange(200), source) == accuracies(X, y, None, source)


def test_a_class_of_one_group_cannot_be_cross_validated(copies, source):
    X, _, groups = copies
    y = np.minimum(groups, 2)
    assert set(accuracies(X, y, groups, source)) == {"source", "plain source"}
