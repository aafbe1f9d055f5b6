"""Pairwise distances and the weighted scatter that every kernel gradient is made of.

``Lap(C) V = Σ_ij C_ij (x_i - x_j)' (x_i - x_j) V`` for a symmetric C (n x n) and rows x_i (1 x m)
equals ``2 X' (r * Z - C Z)`` with ``Z = X V`` and ``r = C 1`` (errata section 4); no m x m matrix is
ever formed.
"""

from __future__ import annotations

import numpy as np

from l2t.typing import Array

__all__ = [
    "laplacian_product",
    "mean_gap_weights",
    "mean_squared_distance",
    "rbf_kernel",
    "squared_distances",
]


def squared_distances(A: Array, B: Array | None = None) -> Array:
    """Return ``D_ij = ||a_i - b_j||²``, never negative; B = A (with an exact zero diagonal) if None.

    >>> squared_distances(np.array([[0.0], [3.0]])).tolist()
    [[0.0, 9.0], [9.0, 0.0]]
    """
    other = A if B is None else B
    D = A @ (-2.0 * other.T)
    D += np.einsum("ij,ij->i", A, A)[:, None]
    D += np.einsum("ij,ij->i", other, other)
    np.maximum(D, 0.0, out=D)
    if B is None:
        np.fill_diagonal(D, 0.0)
    return D


def mean_squared_distance(A: Array, B: Array) -> float:
    """Return the mean of ``||a_i - b_j||²`` over all pairs, without forming them.

    >>> mean_squared_distance(np.array([[0.0], [2.0]]), np.array([[1.0]]))
    1.0
    """
    gap = A.mean(axis=0) - B.mean(axis=0)
    return float(A.var(axis=0).sum() + B.var(axis=0).sum() + gap @ gap)


def rbf_kernel(X: Array) -> Array:
    """Return ``exp(-D / s)`` of all rows, s their mean squared distance."""
    K = squared_distances(X)
    K /= -mean_squared_distance(X, X)
    return np.asarray(np.exp(K, out=K))


def mean_gap_weights(ns: int, nt: int) -> Array:
    """Return e (ns + nt): ``e'X`` is the mean of the first rows less that of the others.

    >>> mean_gap_weights(2, 1).tolist()
    [0.5, 0.5, -1.0]
    """
    return np.concatenate([np.full(ns, 1 / ns), np.full(nt, -1 / nt)])


def laplacian_product(C: Array, X: Array, Z: Array) -> Array:
    """Return ``Lap(C) V`` for symmetric C, given X (n x m) and ``Z = X V`` (n x u)."""
    weighted = C.sum(axis=1)[:, None] * Z
    weighted -= C @ Z
    return np.asarray(2.0 * (X.T @ weighted))
