"""Eigenvectors of symmetric matrices, largest first, with a fixed sign."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

__all__ = ["leading_eigenpairs", "principal_axes"]

Array = npt.NDArray[np.float64]


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
    values, vectors = eigh(A, subset_by_index=subset, check_finite=False)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    peak = np.abs(vectors).argmax(axis=0)
    signs = np.where(vectors[peak, np.arange(k)] < 0, -1.0, 1.0)
    return np.ascontiguousarray(values), vectors * signs


def principal_axes(X: Array, k: int) -> Array:
    """Return the leading principal axes (columns) of the rows of X, centred by their mean.

    There are k of them, or as many as the rank of the centred rows where that is less. Works with
    whichever of X'X and XX' is smaller.
    """
    centred = X - X.mean(axis=0)
    n, m = centred.shape
    if not centred.any():
        return np.empty((m, 0))
    tall = m <= n
    values, vectors = leading_eigenpairs(
        centred.T @ centred if tall else centred @ centred.T, min(k, n - 1, m)
    )
    rank = int((values > max(n, m) * np.finfo(float).eps * values.max(initial=0.0)).sum())
    if tall:
        return vectors[:, :rank]
    # Squaring X costs digits in the small directions: orthonormalise what comes back.
    axes, triangle = np.linalg.qr(centred.T @ vectors[:, :rank])
    return np.asarray(axes * np.sign(np.diag(triangle)))
