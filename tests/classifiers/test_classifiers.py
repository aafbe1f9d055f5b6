"""Each classifier on data where its answer is known, and against scikit-learn where there is one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from l2t.classifiers.classifiers import (
    C_DEFAULT,
    CLASSIFIERS,
    DEFAULT,
    Head,
    TrainingSet,
    fit_head,
)

#: Those for candidates; trees are tested in test_trees.py.
NAMES = [name for name in CLASSIFIERS if name not in ("random forest", "gradient boosting")]


@pytest.fixture(scope="module")
def task():
    """Three far classes of 40 rows in five features, three rows of each labelled."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 40)
    Z = 4 * rng.normal(size=(3, 5))[codes] + rng.normal(size=(120, 5))
    Z -= Z.mean(axis=0)
    Z /= np.sqrt(np.mean(np.sum(Z**2, axis=1)))
    at = np.flatnonzero(np.arange(120) % 40 < 3)
    return TrainingSet(Z, at, codes[at], 3), codes


@pytest.mark.parametrize("name", NAMES)
def test_far_classes_are_told_apart(name, task):
    problem, codes = task
    head = fit_head(name, problem)
    assert np.mean(head.scores(problem.Z).argmax(axis=1) == codes) > 0.95


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_scored_one_by_one(name, task):
    problem, _ = task
    head = fit_head(name, problem)
    whole = head.scores(problem.Z)
    alone = np.concatenate([head.scores(problem.Z[i : i + 1]) for i in range(5)])
    np.testing.assert_allclose(alone, whole[:5], atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shift", [[1, 0], [1, 2, 0]])
def test_the_order_of_classes_does_not_count(name, shift, task):
    problem, _ = task
    if len(shift) == 2:
        kept = problem.codes < 2
        problem = TrainingSet(problem.Z, problem.at[kept], problem.codes[kept], 2)
    renamed = problem._replace(codes=np.array(shift)[problem.codes])
    first, second = fit_head(name, problem), fit_head(name, renamed)
    np.testing.assert_array_equal(
        np.array(shift)[first.scores(problem.Z).argmax(axis=1)],
        second.scores(problem.Z).argmax(axis=1),
    )


@pytest.mark.parametrize("name", NAMES)
def test_one_class_is_always_right(name, task):
    problem, _ = task
    only = TrainingSet(problem.Z, problem.at[:3], np.zeros(3, dtype=np.intp), 1)
    assert fit_head(name, only).scores(problem.Z).shape == (120, 1)


def test_smoothed_logistic_uses_a_guess_that_was_trained_already(task):
    problem, _ = task
    guess = CLASSIFIERS[DEFAULT].fit(problem, C_DEFAULT, None)
    expected = CLASSIFIERS["smoothed logistic"].fit(problem, C_DEFAULT, None).scores(problem.Z)
    for head, same in ((guess, True), (Head(-guess.coef, -guess.intercept), False)):
        found = CLASSIFIERS["smoothed logistic"].fit(problem, C_DEFAULT, head).scores(problem.Z)
        assert np.array_equal(found, expected) is same


def test_plain_ones_are_those_of_scikit_learn(task):
    problem, _ = task
    rows = problem.Z[problem.at]
    for name, peer in (
        ("nearest neighbour", KNeighborsClassifier(1)),
        ("nearest centroid", NearestCentroid()),
        ("logistic", LogisticRegression(C=C_DEFAULT, tol=1e-8, max_iter=5000)),
    ):
        found = CLASSIFIERS[name].fit(problem, C_DEFAULT, None).scores(problem.Z).argmax(axis=1)
        np.testing.assert_array_equal(found, peer.fit(rows, problem.codes).predict(problem.Z))


def test_logistic_regression_in_the_span_of_few_rows_is_the_same(task):
    """With more features than rows it is solved in as many dimensions as there are rows."""
    problem, _ = task
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.normal(size=(30, 5)))[0]
    wide = problem._replace(Z=problem.Z @ Q.T)
    first = CLASSIFIERS["logistic"].fit(problem, C_DEFAULT, None).scores(problem.Z)
    second = CLASSIFIERS["logistic"].fit(wide, C_DEFAULT, None).scores(wide.Z)
    np.testing.assert_allclose(
        first - first.mean(axis=1, keepdims=True),
        second - second.mean(axis=1, keepdims=True),
        atol=0.05,
    )


def test_balanced_k_means_gives_every_class_as_many_rows():
    """Two classes that overlap, of 60 rows each, with labels at the far end of one of them."""
    rng = np.random.default_rng(2)
    codes = np.repeat([0, 1], 60)
    Z = rng.normal(size=(120, 2)) * 0.3 + np.array([[0.0, 1.0], [1.0, 0.0]])[codes]
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    task = TrainingSet(Z, np.array([0, 60]), np.array([0, 1]), 2)
    name = "balanced k-means"
    shares = np.bincount(fit_head(name, task).scores(Z).argmax(axis=1), minlength=2) / 120
    assert np.abs(shares - 0.5).max() < 0.1


def test_soft_k_means_finds_uneven_classes():
    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1], [160, 20])
    Z = rng.normal(size=(180, 2)) * 0.2 + np.array([[0.0, 1.0], [1.0, 0.0]])[codes]
    task = TrainingSet(Z, np.array([0, 160]), np.array([0, 1]), 2)
    found = fit_head("soft k-means", task).scores(Z).argmax(axis=1)
    assert np.mean(found == codes) > 0.97


def test_label_spreading_follows_two_moons():
    """Labels spread along each arc, where the nearest labelled row misleads."""
    t = np.linspace(0, np.pi, 100)
    Z = np.concatenate([np.c_[np.cos(t), np.sin(t)], np.c_[1 - np.cos(t), 0.5 - np.sin(t)]])
    Z -= Z.mean(axis=0)
    codes = np.repeat([0, 1], 100)
    task = TrainingSet(Z, np.array([0, 100]), np.array([0, 1]), 2)
    spread = fit_head("label spreading", task).scores(Z).argmax(axis=1)
    nearest = fit_head("nearest neighbour", task).scores(Z).argmax(axis=1)
    assert np.mean(spread == codes) > np.mean(nearest == codes)


def test_far_rows_have_finite_scores():
    head = Head(rows=np.zeros((2, 2)), shares=np.eye(2), bandwidth=1e-3)
    assert np.isfinite(head.scores(np.full((1, 2), 1e6))).all()
