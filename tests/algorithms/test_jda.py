"""JDA: the eigenproblem, its pseudo-labels, and the published figures."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair
from l2t.algorithms import JDA
from l2t.algorithms.jda import class_gap_weights, conditional_share
from l2t.exceptions import InvalidInputError


def shifted(rng, n=60, gap=3.0):
    """Two classes, and a target in which both are moved by the same vector."""
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 6)) + 4.0 * y[:, None] * np.eye(6)[0]
    return DomainPair(Domain(X, y), Domain(X[::-1] + gap * np.eye(6)[1], y[::-1]))


def test_components_solve_the_generalised_eigenproblem(rng):
    pair = shifted(rng)
    X = np.concatenate([pair.source.X, pair.target.X])
    X = X / (np.linalg.norm(X) / np.sqrt(len(X)))
    W = JDA(n_components=2, lam=0.7, max_iter=1, center=False).fit(pair).W
    n, K = len(X), X @ X.T
    e = np.repeat([1 / 60, -1 / 60], 60)
    M = np.outer(e, e) / (e @ e)
    H = np.eye(n) - 1 / n
    V = np.linalg.pinv(X.T) @ W
    A, B = K @ M @ K + 0.7 * np.eye(n), K @ H @ K
    for v in V.T:
        value = (v @ B @ v) / (v @ A @ v)
        np.testing.assert_allclose(B @ v, value * A @ v, atol=1e-8 * np.linalg.norm(B @ v) + 1e-9)


def test_class_gaps_are_the_differences_of_class_means(rng):
    X = rng.normal(size=(7, 3))
    codes, predicted = np.array([0, 1, 1]), np.array([1, 0, 0, 1])
    E = class_gap_weights(3, 7, np.arange(3), codes, predicted)
    expected = [X[:3][codes == c].mean(axis=0) - X[3:][predicted == c].mean(axis=0) for c in (0, 1)]
    np.testing.assert_allclose(E.T @ X, expected)


def test_a_class_that_no_target_row_has_keeps_its_source_mean():
    E = class_gap_weights(2, 3, np.arange(2), np.array([0, 1]), np.array([0]))
    np.testing.assert_array_equal(E[:, 1], [0.0, 1.0, 0.0])


def test_it_stops_when_the_predicted_classes_stay(rng):
    found = JDA(n_components=3).fit(shifted(rng)).diagnostics
    assert found.stop_reason == "labels-stay"
    assert found.n_iter < 10


def test_the_share_of_classes_is_half_for_a_shift_that_all_classes_make(rng):
    X, codes = rng.normal(size=(100, 3)), np.arange(100) % 2
    moved = X + 50.0 * np.eye(3)[0]
    assert conditional_share(X, codes, moved, codes) == pytest.approx(0.5)


def test_the_share_of_classes_is_large_where_the_domains_have_one_mean(rng):
    codes = np.arange(200) % 2
    X = rng.normal(size=(200, 2)) * 0.1
    X[:, 0] += codes * 2.0 - 1.0
    turned = X[:, ::-1]
    assert conditional_share(X, codes, turned, codes) > 0.6


def test_labels_are_needed(rng):
    pair = DomainPair(Domain(rng.normal(size=(5, 2))), Domain(rng.normal(size=(5, 2))))
    with pytest.raises(InvalidInputError, match="jda needs labels in the source"):
        JDA().fit(pair)


@pytest.mark.parametrize(("parameter", "wrong"), [("lam", 0), ("max_iter", 0)])
def test_parameters_are_checked(parameter, wrong, rng):
    with pytest.raises(InvalidInputError, match=parameter):
        JDA(**{parameter: wrong}).fit(shifted(rng))
