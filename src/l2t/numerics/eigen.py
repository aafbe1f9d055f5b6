"""Eigenvectors of symmetric matrices, largest first, with a fixed sign.

Small problems are solved by LAPACK. A large one given as a product ``V -> A V`` is solved by Lanczos
(ARPACK) without forming A. Lanczos may miss a copy of a repeated eigenvalue: if a second, short run on the
orthogonal complement finds a larger one, LAPACK solves the problem instead.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from l2t.typing import AnyArray, Array

#: The size up to which LAPACK is as fast as Lanczos.
DENSE_SIZE = 256
#: Steps of the second run, on the orthogonal complement.
CHECKING_STEPS = 20


def leading_eigenpairs(A: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenvalues of a symmetric A and their orthonormal eigenvectors.

    Signs are fixed (the entry of largest absolute value is positive), so that the same matrix gives the same
    vectors with every LAPACK driver.

    >>> values, vectors = leading_eigenpairs(np.diag([1.0, 3.0, 2.0]), 2)
    >>> values.tolist()
    [3.0, 2.0]
    """
    n = A.shape[0]
    # A partial solve is faster only for fewer than half of the vectors.
    subset = (n - k, n - 1) if k < n // 2 else None
    # LAPACK needs Fortran order: the transpose of a symmetric matrix avoids a copy.
    values, vectors = eigh(A.T, subset_by_index=subset, check_finite=False)
    return values[::-1][:k].copy(), _with_fixed_signs(vectors[:, ::-1][:, :k])


def leading_eigenpairs_of(product: Callable[[Array], Array], n: int, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenpairs of a symmetric positive semi-definite n x n matrix A.

    `product` maps V, a vector or a matrix with n rows, to ``A V``.
    """
    if n > DENSE_SIZE and 8 * k < n:
        pairs = _lanczos(product, n, k)
        if pairs is not None:
            return pairs
    A = product(np.eye(n))
    return leading_eigenpairs(0.5 * (A + A.T), k)


def _lanczos(product: Callable[[Array], Array], n: int, k: int) -> tuple[Array, Array] | None:
    """Return the k largest eigenpairs by Lanczos, or None if the check finds a larger eigenvalue."""
    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=(2, n))
    try:
        values, vectors = eigsh(operator, k, v0=start[0], tol=1e-13)
    except ArpackError:
        return None
    values, vectors = values[::-1].copy(), vectors[:, ::-1]
    missed = _largest_ritz_value(
        lambda v: _project_out(vectors, product(_project_out(vectors, v))), start[1], CHECKING_STEPS
    )
    if missed > values[-1] + 1e-10 * values[0]:
        return None
    return values, _with_fixed_signs(vectors)


def _project_out(Q: Array, v: Array) -> Array:
    """Return v minus its projection on the span of the orthonormal columns of Q."""
    return v - Q @ (Q.T @ v)


def _largest_ritz_value(product: Callable[[Array], Array], v: Array, steps: int) -> float:
    """Return the largest Ritz value of a Krylov space, a lower bound of the largest eigenvalue."""
    basis, images = np.zeros((len(v), steps)), np.zeros((len(v), steps))
    for step in range(steps):
        v = _project_out(basis, _project_out(basis, v))
        norm = float(np.linalg.norm(v))
        if norm == 0:  # an invariant subspace
            break
        basis[:, step] = v / norm
        v = images[:, step] = product(basis[:, step])
    return float(np.linalg.eigvalsh(basis.T @ images)[-1])


def _with_fixed_signs(vectors: Array) -> Array:
    """Make the entry of largest absolute value in each column positive."""
    peak = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[peak, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


def principal_axes(X: Array, k: int) -> Array:
    """Return the k leading principal axes of the rows of X as columns; fewer if their rank is lower."""
    mean = X.mean(axis=0)
    centred = X - mean
    n, m = centred.shape
    k = min(k, n - 1, m)
    if k < 1:
        return np.empty((m, 0))
    tall = m <= n
    values, vectors = leading_eigenpairs(centred.T @ centred if tall else centred @ centred.T, k)
    # Squaring halves the digits, and centring equal rows leaves the rounding error of their mean.
    noise = rounding(X.shape, float(np.linalg.norm(mean)) * np.sqrt(n))
    rank = int((values > max(rounding(X.shape, float(values[0])), noise**2)).sum())
    if tall:
        return vectors[:, :rank]
    axes, triangle = np.linalg.qr(centred.T @ vectors[:, :rank])
    return np.asarray(axes * np.sign(np.diag(triangle)))


def leading_coordinates(X: Array, k: int) -> Array:
    """Return the rows of X, which is not centred here, in their k leading principal coordinates or fewer."""
    if X.shape[1] <= len(X):
        return X @ leading_eigenpairs(X.T @ X, k)[1]
    values, vectors = leading_eigenpairs(X @ X.T, k)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def matrix_power(S: Array, exponent: float, ridge: float) -> Array:
    """Return ``(S + ridge I)^exponent`` for a symmetric positive semi-definite S.

    >>> matrix_power(np.diag([3.0, 8.0]), 0.5, 1.0).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    values, vectors = np.linalg.eigh(S)
    return np.asarray((vectors * (np.maximum(values, 0.0) + ridge) ** exponent) @ vectors.T)


def rounding(shape: tuple[int, ...], size: float) -> float:
    """Return the largest rounding error of a zero in products of a matrix with this shape and norm."""
    return max(shape) * float(np.finfo(np.float64).eps) * size


def two_components(*sets: AnyArray, like: Array | None = None) -> list[Array]:
    """Return each set of rows in the two leading principal components of all sets together.

    `like` has two coordinates for each row of all sets: the result is rotated and reflected to be closest to
    it, so that the points of successive plots stay in place.

    >>> left, right = two_components(np.array([[0.0, 1.0, 0.0]]), np.array([[0.0, 3.0, 0.0]]))
    >>> float(abs(left - right)[0, 0]), abs(float(left[0, 1]))
    (2.0, 0.0)
    """
    rows = np.concatenate([np.asarray(part, dtype=np.float64) for part in sets])
    rows = rows - rows.mean(axis=0)
    flat = np.zeros((len(rows), 2))
    coordinates = leading_coordinates(rows, 2)
    flat[:, : coordinates.shape[1]] = coordinates
    if like is not None:
        U, _, Vt = np.linalg.svd(flat.T @ like)
        flat = flat @ (U @ Vt)
    return np.split(flat, np.cumsum([len(part) for part in sets])[:-1])
