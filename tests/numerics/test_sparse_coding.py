"""The batched lasso against scikit-learn and its own optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from l2t.numerics import lasso_objective, sparse_codes, sparse_coding


def kkt_breach(D, T, codes, alpha):
    """The optimality conditions, written from their definition."""
    G = (T - codes @ D) @ D.T
    active = codes != 0
    on = np.abs(G - alpha * np.sign(codes))[active].max(initial=0)
    off = (np.abs(G) - alpha)[~active].max(initial=0)
    return max(on, off) / alpha


@settings(max_examples=40)
@given(
    n=st.integers(1, 8),
    k=st.integers(1, 25),
    d=st.integers(1, 12),
    share=st.floats(0.05, 0.9),
    seed=st.integers(0, 2**16),
)
def test_optimality_conditions_hold(n, k, d, share, seed):
    rng = np.random.default_rng(seed)
    D, T = rng.normal(size=(k, d)), rng.normal(size=(n, d))
    alpha = share * np.abs(T @ D.T).max()
    found = sparse_codes(D, T, alpha, tol=1e-6)
    assert found.violation <= 1e-6
    assert kkt_breach(D, T, found.codes, alpha) <= 2e-6


def test_agrees_with_coordinate_descent(rng):
    D, T = rng.normal(size=(30, 12)), rng.normal(size=(5, 12))
    found = sparse_codes(D, T, 2.0, tol=1e-8)
    for row, code in zip(T, found.codes, strict=True):
        peer = Lasso(alpha=2.0 / 12, fit_intercept=False, tol=1e-12)
        np.testing.assert_allclose(peer.fit(D.T, row).coef_, code, atol=1e-6)


def test_forbidden_atoms_stay_zero(rng):
    D = rng.normal(size=(20, 6))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    own = np.arange(20)
    free = sparse_codes(D, D, 0.01)
    barred = sparse_codes(D, D, 0.01, forbidden=own, start=free.codes)
    assert (np.abs(np.diag(free.codes)) > 0.5).all(), "left alone, every row explains itself"
    assert (np.diag(barred.codes) == 0).all()
    assert barred.codes.any()


def test_a_large_alpha_gives_no_code_and_its_edge_is_exact(rng):
    D, T = rng.normal(size=(9, 4)), rng.normal(size=(6, 4))
    edge = np.abs(T @ D.T).max()
    assert not sparse_codes(D, T, edge * 1.0001).codes.any()
    assert sparse_codes(D, T, edge * 0.99).codes.any()


def test_a_warm_start_leads_to_the_same_codes(rng):
    D, T = rng.normal(size=(15, 20)), rng.normal(size=(10, 20))
    cold = sparse_codes(D, T, 1.0, tol=1e-7)
    warm = sparse_codes(D, T, 1.0, start=cold.codes, tol=1e-6)
    np.testing.assert_array_equal(warm.codes, cold.codes)
    other = sparse_codes(D, T, 1.0, start=rng.normal(size=(10, 15)), tol=1e-7)
    assert lasso_objective(D, T, other.codes, 1.0) == pytest.approx(
        lasso_objective(D, T, cold.codes, 1.0), rel=1e-10
    )


def test_zero_atoms(rng):
    assert not sparse_codes(np.zeros((3, 2)), np.ones((4, 2)), 1.0).codes.any()


def test_a_search_that_ends_too_early_reports_its_violation(rng, monkeypatch):
    D, T = rng.normal(size=(30, 8)), rng.normal(size=(9, 8))
    assert sparse_codes(D, T, 0.5, tol=1e-8).violation <= 1e-8
    monkeypatch.setattr(sparse_coding, "ROUNDS", 0)
    assert sparse_codes(D, T, 0.5, tol=1e-8).violation > 1e-8


@pytest.mark.parametrize("kind", ["integers", "copies", "weak directions", "non-negative", "own"])
def test_the_search_finishes_on_awkward_data(rng, kind):
    """Ties, atoms that depend on each other, and rows that may not explain themselves."""
    for _ in range(20):
        k, d, n = rng.integers(2, 60), rng.integers(1, 20), rng.integers(1, 40)
        D, T = rng.normal(size=(k, d)), rng.normal(size=(n, d))
        if kind == "integers":
            D, T = np.sign(D), np.rint(T)
        elif kind == "copies":
            D = np.repeat(D, 3, axis=0)
        elif kind == "weak directions":
            D = D * 10.0 ** -rng.uniform(0, 6, size=d)
        elif kind == "non-negative":
            D, T = np.abs(D), np.abs(T)
        own = np.arange(k) if kind == "own" else None
        T = D + 1e-3 * rng.normal(size=D.shape) if kind == "own" else T
        alpha = float(10.0 ** rng.uniform(-3, 0))
        assert sparse_codes(D, T, alpha, forbidden=own).violation <= 1e-3


def test_copies_of_an_atom_are_no_trouble(rng):
    D = np.repeat(rng.normal(size=(6, 5)), 3, axis=0)
    D[::4] *= -1
    T = rng.normal(size=(20, 5))
    found = sparse_codes(D, T, 0.3, tol=1e-6)
    assert found.violation <= 1e-6
    assert kkt_breach(D, T, found.codes, 0.3) <= 2e-6


def test_a_warm_start_on_an_atom_of_zeros(rng):
    D, T = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 2.0], [3.0, 0.0]])
    found = sparse_codes(D, T, 0.1, start=np.array([[100.0, 0.0], [1.0, 1.0]]))
    np.testing.assert_allclose(found.codes, [[0, 0], [0, 2.9]], atol=1e-6)
