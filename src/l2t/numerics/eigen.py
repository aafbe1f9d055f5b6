"""Eigenvectors of symmetric matrices, largest first, with a fixed sign.

Small problems are solved by LAPACK. A large one given as a product ``V -> A V`` is solved by Lanczos
(ARPACK) without forming A. Lanczos may miss a copy of a repeated eigenvalue, so a second, short run on the
orthogonal complement must find nothing larger; otherwise LAPACK solves it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from l2t.typing import AnyArray, Array

#: Up to this size LAPACK is as fast.
DENSE_SIZE = 256
#: Steps of the run that looks for a larger eigenvalue among what is left.
CHECKING_STEPS = 20


def leading_eigenpairs(A: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenvalues of a symmetric A and their orthonormal eigenvectors.

    Signs are fixed (the entry of largest modulus is positive), so that the same matrix gives the
    same vectors whatever the LAPACK driver.

    >>> values, vectors = leading_eigenpairs(np.diag([1.0, 3.0, 2.0]), 2)
    >>> values.tolist()
    [3.0, 2.0]
    """
    n = A.shape[0]
    # A partial solve pays only while few of the vectors are wanted.
    subset = (n - k, n - 1) if k < n // 2 else None
    # A symmetric matrix is its own transpose, and LAPACK wants columns: .T spares a copy.
    values, vectors = eigh(A.T, subset_by_index=subset, check_finite=False)
    return values[::-1][:k].copy(), _with_fixed_signs(vectors[:, ::-1][:, :k])


def leading_eigenpairs_of(product: Callable[[Array], Array], n: int, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenpairs of the symmetric n x n matrix A behind ``V -> A V``.

    `product` takes a vector or a matrix of columns. A must be positive semi-definite.
    """
    if n > DENSE_SIZE and 8 * k < n:
        found = _lanczos(product, n, k)
        if found is not None:
            return found
    A = product(np.eye(n))
    return leading_eigenpairs(0.5 * (A + A.T), k)


def _lanczos(product: Callable[[Array], Array], n: int, k: int) -> tuple[Array, Array] | None:
    """Return the eigenpairs by Lanczos, or None where they do not stand the check."""
    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=(2, n))
    try:
        values, vectors = eigsh(operator, k, v0=start[0], tol=1e-13)
    except ArpackError:
        return None
    values, vectors = values[::-1].copy(), vectors[:, ::-1]
    left = _largest_ritz_value(
        lambda v: _without(vectors, product(_without(vectors, v))), start[1], CHECKING_STEPS
    )
    if left > values[-1] + 1e-10 * values[0]:
        return None
    return values, _with_fixed_signs(vectors)


def _without(Q: Array, v: Array) -> Array:
    """Return v less its part in the span of the orthonormal Q."""
    return v - Q @ (Q.T @ v)


def _largest_ritz_value(product: Callable[[Array], Array], v: Array, steps: int) -> float:
    """Return the largest Ritz value of a Krylov space, a lower bound of the largest eigenvalue."""
    basis, images = np.zeros((len(v), steps)), np.zeros((len(v), steps))
    for step in range(steps):
        v = _without(basis, _without(basis, v))
        norm = float(np.linalg.norm(v))
        if norm == 0:  # the space is exhausted
            break
        basis[:, step] = v / norm
        v = images[:, step] = product(basis[:, step])
    return float(np.linalg.eigvalsh(basis.T @ images)[-1])


def _with_fixed_signs(vectors: Array) -> Array:
    """Make the entry of largest modulus of each column positive."""
    peak = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[peak, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


def principal_axes(X: Array, k: int) -> Array:
    """Return the k leading principal axes (columns) of the rows of X, or as many as their rank."""
    mean = X.mean(axis=0)
    centred = X - mean
    n, m = centred.shape
    k = min(k, n - 1, m)
    if k < 1:
        return np.empty((m, 0))
    tall = m <= n
    values, vectors = leading_eigenpairs(centred.T @ centred if tall else centred @ centred.T, k)
    # A square has half of the digits; and rows that are all the same leave the rounding of their mean.
    noise = rounding(X.shape, float(np.linalg.norm(mean)) * np.sqrt(n))
    rank = int((values > max(rounding(X.shape, float(values[0])), noise**2)).sum())
    if tall:
        return vectors[:, :rank]
    axes, triangle = np.linalg.qr(centred.T @ vectors[:, :rank])
    return np.asarray(axes * np.sign(np.diag(triangle)))


def leading_coordinates(X: Array, k: int) -> Array:
    """Return the centred rows X in their leading principal coordinates: k, or as many as rows or columns."""
    if X.shape[1] <= len(X):
        return X @ leading_eigenpairs(X.T @ X, k)[1]
    values, vectors = leading_eigenpairs(X @ X.T, k)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def rounding(shape: tuple[int, ...], size: float) -> float:
    """Return what rounding may leave of a zero in products of a matrix of this shape and size."""
    return max(shape) * float(np.finfo(np.float64).eps) * size


def two_components(*sets: AnyArray, like: Array | None = None) -> list[Array]:
    """Return each set of rows in the two leading principal components of all of them.

    `like` is an earlier picture of the same rows, all sets together: the new one is rotated and mirrored to
    be nearest to it, so that a sequence of pictures does not jump.

    >>> left, right = two_components(np.array([[0.0, 1.0, 0.0]]), np.array([[0.0, 3.0, 0.0]]))
    >>> float(abs(left - right)[0, 0]), abs(float(left[0, 1]))
    (2.0, 0.0)
    """
    rows = np.concatenate([np.asarray(each, dtype=np.float64) for each in sets])
    rows = rows - rows.mean(axis=0)
    flat = np.zeros((len(rows), 2))
    coordinates = leading_coordinates(rows, 2)
    flat[:, : coordinates.shape[1]] = coordinates
    if like is not None:
        U, _, Vt = np.linalg.svd(flat.T @ like)
        flat = flat @ (U @ Vt)
    return np.split(flat, np.cumsum([len(each) for each in sets])[:-1])
