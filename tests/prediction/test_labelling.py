"""Which rows to label next, and how many labels a higher accuracy needs."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.prediction.labelling import STRATEGIES, labels_needed, suggest_rows


def test_suggested_rows_are_uncertain_and_differ():
    """Two far groups of uncertain rows, and many certain ones: one row of each group."""
    Z = np.concatenate([np.full((3, 2), 9.0), np.full((3, 2), -9.0), np.zeros((30, 2))])
    Z += 0.01 * np.random.default_rng(0).normal(size=Z.shape)
    P = np.where(np.arange(36)[:, None] < 6, [0.5, 0.5], [0.99, 0.01])
    labelled = np.arange(36) == 35
    rows = suggest_rows(Z.__getitem__, P, labelled, 2)
    assert sorted(np.sign(Z[rows, 0]).tolist()) == [-1, 1]
    assert max(rows) < 6
    assert sorted(suggest_rows(Z.__getitem__, P, labelled, 50).tolist()) == list(range(35))
    assert len(suggest_rows(np.zeros((10, 2)).__getitem__, P[:10], labelled[:10], 3)) == 3
    assert len(suggest_rows(Z.__getitem__, P[:, :1], labelled, 2)) == 2


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("n", [1, 7, 34, 50])
def test_every_strategy_suggests_distinct_rows_without_a_label(strategy, n):
    rng = np.random.default_rng(0)
    Z, P = rng.normal(size=(40, 3)), rng.dirichlet(np.ones(3), size=40)
    labelled = np.arange(40) < 5
    rows = suggest_rows(Z.__getitem__, P, labelled, n, strategy)
    assert len(set(rows.tolist())) == min(n, 35)
    assert rows.min() >= 5
    same = np.zeros((40, 3))
    assert len(set(suggest_rows(same.__getitem__, P, labelled, n, strategy))) == min(n, 35)


def four_groups():
    """Groups of 40, 30, 20 and 10 rows; half of the rows of each are uncertain."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2, 3], [40, 30, 20, 10])
    Z = 9.0 * np.eye(4)[groups] + 0.1 * rng.normal(size=(100, 4))
    sure = np.where(np.arange(100) % 2, 0.9, 0.4)
    P = np.full((100, 4), 1.0) * ((1 - sure) / 3)[:, None]
    P[np.arange(100), groups] = sure
    return groups, Z, P


def test_covering_rows_are_of_the_largest_groups_without_a_label():
    groups, Z, P = four_groups()
    labelled = np.arange(100) == 0  # in the largest group
    rows = suggest_rows(Z.__getitem__, P, labelled, 3, "covering")
    assert groups[rows].tolist() == [1, 2, 3]


def test_balanced_rows_are_of_the_classes_with_the_fewest_labels():
    groups, Z, P = four_groups()
    labelled = np.isin(np.arange(100), [0, 1, 2, 40, 41, 70])  # 3, 2, 1 and 0 of the groups
    rows = suggest_rows(Z.__getitem__, P, labelled, 6, "balanced")
    assert np.bincount(groups[rows], minlength=4).tolist() == [0, 1, 2, 3]


def test_diverse_rows_are_of_uncertain_groups():
    groups, Z, P = four_groups()
    P[groups < 2] = np.eye(4)[0]  # certain
    rows = suggest_rows(Z.__getitem__, P, np.zeros(100, dtype=bool), 2, "diverse")
    assert sorted(groups[rows].tolist()) == [2, 3]


@pytest.mark.parametrize(
    ("accuracy", "curve", "sentence"),
    [
        (
            0.85,
            {5: 0.85, 10: 0.95},
            "About 2 more labels per class should raise the accuracy to 90 %.",
        ),
        (0.4, {1: 0.4, 2: 0.5}, "About 1 more label per class should raise the accuracy to 50 %."),
        (0.85, {5: 0.85, 10: 0.86}, None),
        (0.85, {5: 0.85}, None),
        (0.995, {5: 0.85, 10: 0.99}, None),
        (0.9, {5: 1.0, 10: 1.0}, None),
    ],
)
def test_labels_needed(accuracy, curve, sentence):
    assert labels_needed(min(curve), accuracy, curve) == sentence
