"""Leading eigenvectors and principal axes."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.numerics import (
    eigen,
    leading_eigenpairs,
    leading_eigenpairs_of,
    matrix_power,
    principal_axes,
)


@pytest.mark.parametrize("k", [1, 5, 11, 12])
def test_eigenpairs_solve_the_problem(rng, k):
    A = rng.normal(size=(12, 12))
    A += A.T
    values, vectors = leading_eigenpairs(A, k)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(values, np.sort(np.linalg.eigvalsh(A))[::-1][:k], atol=1e-12)
    peaks = vectors[np.abs(vectors).argmax(axis=0), np.arange(k)]
    assert (peaks > 0).all()


def test_powers_of_a_matrix(rng):
    S = np.cov(rng.normal(size=(4, 6)).T)  # of rank 3
    shifted = S + 0.3 * np.eye(6)
    root, inverse = matrix_power(S, 0.5, 0.3), matrix_power(S, -0.5, 0.3)
    np.testing.assert_allclose(root @ root, shifted, atol=1e-12)
    np.testing.assert_allclose(inverse @ shifted @ inverse, np.eye(6), atol=1e-12)


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


@pytest.mark.parametrize("n", [40, 400])
@pytest.mark.parametrize("decay", [0.0, 0.5, 2.0])
def test_eigenpairs_of_a_product(rng, n, decay):
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    spectrum = (1.0 + np.arange(n)) ** -decay * (1 + 0.1 * rng.uniform(size=n))
    A = (Q * spectrum) @ Q.T
    values, vectors = leading_eigenpairs_of(lambda V: A @ V, n, 6)
    np.testing.assert_allclose(values, np.sort(spectrum)[::-1][:6], rtol=1e-9)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-9)


@pytest.mark.parametrize(
    "spectrum",
    [
        np.ones(400),
        np.repeat([5.0, 3.0, 1.0, 0.0], 100),
        np.r_[[9.0] * 4, np.linspace(2, 1, 396)],
        np.r_[[4.0, 4.0], np.zeros(398)],
    ],
    ids=["all equal", "four levels", "one of four copies", "low rank"],
)
def test_copies_of_an_eigenvalue_are_all_found(rng, spectrum):
    """Lanczos alone may pass over copies; the answer must not."""
    Q = np.linalg.qr(rng.normal(size=(400, 400)))[0]
    A = (Q * spectrum) @ Q.T
    values, vectors = leading_eigenpairs_of(lambda V: A @ V, 400, 10)
    np.testing.assert_allclose(values, np.sort(spectrum)[::-1][:10], atol=1e-8)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(10), atol=1e-8)


def test_an_answer_that_misses_a_copy_does_not_stand(rng, monkeypatch):
    """Let Lanczos lie: the check must send the problem to LAPACK."""
    Q = np.linalg.qr(rng.normal(size=(400, 400)))[0]
    spectrum = np.linspace(2, 1, 400)
    A = (Q * spectrum) @ Q.T
    lie = lambda *_, **__: (spectrum[1:5][::-1], Q[:, 1:5][:, ::-1])  # noqa: E731
    monkeypatch.setattr(eigen, "eigsh", lie)
    values, _ = leading_eigenpairs_of(lambda V: A @ V, 400, 4)
    np.testing.assert_allclose(values, spectrum[:4], atol=1e-9)


@pytest.mark.parametrize("shape", [(30, 8), (9, 40), (1, 3)])
def test_leading_coordinates_are_those_of_the_singular_vectors(rng, shape):
    X = rng.normal(size=shape)
    found = eigen.leading_coordinates(X, 2)
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    expected = (U * s)[:, :2]
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-10)
