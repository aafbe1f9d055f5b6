"""Leading eigenvectors and principal axes."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.numerics import leading_eigenpairs, principal_axes


@pytest.mark.parametrize("k", [1, 5, 11, 12])
def test_eigenpairs_solve_the_problem(rng, k):
    A = rng.normal(size=(12, 12))
    A += A.T
    values, vectors = leading_eigenpairs(A, k)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(values, np.sort(np.linalg.eigvalsh(A))[::-1][:k], atol=1e-12)
    peaks = vectors[np.abs(vectors).argmax(axis=0), np.arange(k)]
    assert (peaks > 0).all()


@pytest.mark.parametrize("shape", [(30, 8), (9, 40)])
def test_principal_axes_span_the_leading_singular_vectors(rng, shape):
    X = rng.normal(size=shape) * np.linspace(3, 1, shape[1]) + 5
    axes = principal_axes(X, 4)
    expected = np.linalg.svd(X - X.mean(axis=0))[2][:4].T
    np.testing.assert_allclose(axes @ axes.T, expected @ expected.T, atol=1e-9)


def test_principal_axes_stop_at_the_rank(rng):
    low = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 7))
    assert principal_axes(low, 5).shape == (7, 2)
    assert principal_axes(low.T, 5).shape[1] == 2
    assert principal_axes(np.ones((4, 3)), 2).shape == (3, 0)
