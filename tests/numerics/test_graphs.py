"""Nearest-neighbour graphs: exact where small, nearly exact and sub-quadratic where large."""

from __future__ import annotations

import numpy as np

from l2t.numerics import cosine_graph, graphs


def brute_force(X, k):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -np.inf)
    edges = np.zeros_like(cosines)
    for row, near in enumerate(np.argsort(-cosines, axis=1)[:, :k]):
        edges[row, near] = np.maximum(cosines[row, near], 0)
    return np.maximum(edges, edges.T)


def test_small_graphs_are_exact(rng):
    X = np.abs(rng.normal(size=(60, 9)))
    np.testing.assert_allclose(cosine_graph(X, 5).toarray(), brute_force(X, 5), atol=1e-12)


def test_large_graphs_find_nearly_all_of_the_weight(rng, monkeypatch):
    """Rows around many centres, as features of real data are: the tree misses few of them."""
    monkeypatch.setattr(graphs, "EXACT_ROWS", 512)
    n = 1500
    X = np.abs(rng.normal(size=(n // 8, 40)))[rng.integers(n // 8, size=n)]
    X += 0.2 * np.abs(rng.normal(size=X.shape))
    found, exact = cosine_graph(X, 10).toarray(), brute_force(X, 10)
    assert found.sum() / exact.sum() > 0.97
    np.testing.assert_allclose(found, found.T)
    assert (np.diag(found) == 0).all()


def test_zero_rows_have_no_edges_and_few_rows_are_enough():
    X = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    graph = cosine_graph(X, 10).toarray()
    assert not graph[1].any()
    assert graph[0, 2] > 0.7
    assert not cosine_graph(np.zeros((3, 2)), 2).toarray().any()
    assert not cosine_graph(np.ones((1, 2)), 2).toarray().any()


def test_ties_do_not_depend_on_the_order_of_rows(rng):
    X = rng.integers(0, 2, size=(80, 4)).astype(float)
    order = rng.permutation(80)
    graph, shuffled = cosine_graph(X, 3).toarray(), cosine_graph(X[order], 3).toarray()
    np.testing.assert_allclose(shuffled, graph[np.ix_(order, order)])
