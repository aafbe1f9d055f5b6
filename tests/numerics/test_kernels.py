"""Distances and weighted scatters against their definitions."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from l2t.numerics import laplacian_product, mean_squared_distance, rbf_kernel, squared_distances


def test_squared_distances(rng):
    A, B = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    np.testing.assert_allclose(squared_distances(A, B), cdist(A, B) ** 2, atol=1e-12)
    own = squared_distances(A + 1e3)
    np.testing.assert_allclose(own, cdist(A, A) ** 2, atol=1e-8)
    assert (np.diag(own) == 0).all()
    assert (own >= 0).all()


def test_distances_that_are_rounding_are_zero(rng):
    A = rng.normal(size=(600, 4))  # more rows than a block
    twins = A + 1e-9 * rng.normal(size=A.shape)
    D = squared_distances(A, twins, rounding=1e-14)
    assert (np.diag(D) == 0).all()
    apart = ~np.eye(len(A), dtype=bool)
    np.testing.assert_allclose(D[apart], (cdist(A, twins) ** 2)[apart], atol=1e-12)
    assert (squared_distances(A, A + 1e-3, rounding=1e-14) > 0).all()


def test_the_bandwidth_of_an_rbf_kernel(rng):
    X = rng.normal(size=(7, 3))
    np.testing.assert_allclose(rbf_kernel(X, 2.0), np.exp(-(cdist(X, X) ** 2) / 2.0))
    np.testing.assert_allclose(rbf_kernel(X), rbf_kernel(X, mean_squared_distance(X, X)))


def test_mean_squared_distance(rng):
    A, B = rng.normal(size=(7, 3)), rng.normal(size=(5, 3)) + 2
    assert np.isclose(mean_squared_distance(A, B), (cdist(A, B) ** 2).mean())
    assert mean_squared_distance(A[:1], A[:1]) == 0


def test_laplacian_product_is_the_double_sum(rng):
    X, V = rng.normal(size=(6, 4)), rng.normal(size=(4, 2))
    C = rng.normal(size=(6, 6))
    C += C.T
    naive = sum(
        C[i, j] * np.outer(X[i] - X[j], X[i] - X[j]) @ V for i in range(6) for j in range(6)
    )
    np.testing.assert_allclose(laplacian_product(C, X, X @ V), naive, atol=1e-12)
