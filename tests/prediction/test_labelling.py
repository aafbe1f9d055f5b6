"""Which rows to label next, and how many labels a higher accuracy needs."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.prediction.labelling import labels_needed, suggest_rows


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
