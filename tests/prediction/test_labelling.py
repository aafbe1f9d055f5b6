"""Which rows to label next, and how many labels a higher accuracy needs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from l2t.prediction.labelling import NOISE, STRATEGIES, labels_needed, suggest_rows
from l2t.prediction.promise import Promise


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


@pytest.mark.parametrize("n_labelled", [0, 5])
def test_informative_rows_reduce_the_variance_of_the_uncertain_sum_most(n_labelled):
    """Row by row, against the posterior variances of scikit-learn's Gaussian process."""
    rng = np.random.default_rng(0)
    Z, P = rng.normal(size=(40, 3)), rng.dirichlet(np.ones(3), size=40)
    labelled = np.arange(40) < n_labelled
    known, free = list(range(n_labelled)), np.arange(n_labelled, 40)
    best = np.sort(P[free], axis=1)
    uncertainty = 1.0 - (best[:, -1] - best[:, -2])
    kernel = RBF(np.sqrt(np.median(pdist(Z, "sqeuclidean")) / 2), "fixed")

    def variance(given):
        process = GaussianProcessRegressor(kernel, alpha=NOISE, optimizer=None)
        if given:
            process.fit(Z[given], np.zeros(len(given)))
        C = process.predict(Z[free], return_cov=True)[1]
        return uncertainty @ C @ uncertainty

    rows = suggest_rows(Z.__getitem__, P, labelled, 4, "informative")
    for row in rows.tolist():
        others = [other for other in free.tolist() if other not in known]
        assert row == min(others, key=lambda other: variance([*known, other]))
        known.append(row)


def test_fewer_informative_rows_are_the_first_of_more():
    rng = np.random.default_rng(0)
    Z, P = rng.normal(size=(1200, 3)), rng.dirichlet(np.ones(3), size=1200)
    few, many = (suggest_rows(Z.__getitem__, P, np.arange(1200) < 5, n) for n in (10, 1100))
    assert few.tolist() == many[:10].tolist()
    assert len(set(many.tolist())) == 1100


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
            "About 2 more labels per class should raise the accuracy to 90 % (90 % interval 83 to 96 %).",
        ),
        (
            0.4,
            {1: 0.4, 2: 0.5},
            "About 1 more label per class should raise the accuracy to 50 % (90 % interval 39 to 61 %).",
        ),
        (0.85, {5: 0.85, 10: 0.86}, None),
        (0.85, {5: 0.85}, None),
        (0.995, {5: 0.85, 10: 0.99}, None),
        (0.9, {5: 1.0, 10: 1.0}, None),
    ],
)
def test_labels_needed(accuracy, curve, sentence):
    promise = Promise.of(accuracy, 60.0, 1000)
    assert labels_needed(min(curve), promise, 1000, curve) == sentence
