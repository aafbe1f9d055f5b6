"""The manifold-regularised classifier: its equation, and rows that were not there."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.algorithms.jda import class_gap_weights, conditional_share
from l2t.classifiers.cross_domain import (
    CROSS_DOMAIN_CLASSIFIERS,
    ManifoldClassifier,
    make_classifier,
)
from l2t.numerics import cosine_graph, mean_gap_weights, unit_rows


@pytest.fixture
def task(rng):
    """Three classes on the sphere; the target is turned a little."""
    codes = np.arange(60) % 3
    X = np.eye(3)[codes] + 0.25 * rng.normal(size=(60, 3))
    X[30:] += [0.3, 0.0, -0.2]
    source = np.arange(60) < 30
    return unit_rows(X), codes, source


def fitted(kind, task):
    Z, codes, source = task
    return make_classifier(kind).fit(Z, np.where(source, codes, -1), source, np.ones(60))


def test_the_solution_satisfies_its_equation(task):
    Z, codes, source = task
    model = ManifoldClassifier()
    model.fit(Z, np.where(source, codes, -1), source, np.ones(60))
    K = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2) / 2)
    predicted = model.decision_function(Z)[30:].argmax(axis=1)
    share = conditional_share(Z[:30], codes[:30], Z[30:], predicted)
    domains = mean_gap_weights(30, 30)[:, None] * np.sqrt(3 * (1 - share))
    classes = class_gap_weights(30, 60, np.arange(30), codes[:30], predicted)
    G = np.hstack([domains, classes * np.sqrt(share)])
    M = G @ G.T / np.linalg.norm(G @ G.T)
    graph = cosine_graph(Z, 10).toarray()
    root = np.diag(graph.sum(axis=1) ** -0.5)
    L = np.eye(60) - root @ graph @ root
    E = np.diag(source.astype(float))
    Y = E @ np.eye(3)[codes]
    expected = np.linalg.solve((E + 10.0 * M + L) @ K + 0.1 * np.eye(60), Y)
    np.testing.assert_allclose(model.decision_function(Z), K @ expected, atol=1e-8)


@pytest.mark.parametrize("kind", CROSS_DOMAIN_CLASSIFIERS)
def test_every_classifier_predicts_a_turned_target(kind, task):
    Z, codes, _ = task
    probabilities = fitted(kind, task).predict_proba(Z[30:])
    assert probabilities.shape == (30, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert np.mean(probabilities.argmax(axis=1) == codes[30:]) > 0.8


def test_labelled_target_rows_keep_their_classes(task):
    Z, codes, source = task
    wrong = np.where(source, codes, -1)
    wrong[30] = (codes[30] + 1) % 3
    weights = np.where(source, 1.0, 200.0)
    scores = make_classifier("manifold").fit(Z, wrong, source, weights).predict_proba(Z[30:31])
    assert scores.argmax() == wrong[30]


def test_without_source_rows_the_graph_alone_is_used(task):
    Z, codes, _ = task
    few = np.where(np.arange(60) < 9, codes, -1)
    model = make_classifier("manifold").fit(Z, few, np.zeros(60, bool), np.ones(60))
    assert np.mean(model.predict_proba(Z).argmax(axis=1) == codes) > 0.8
