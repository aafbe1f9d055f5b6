"""Pairwise distances, RBF kernels, and the weighted scatter in the gradients of kernels.

``Lap(C) V = Σ_ij C_ij (x_i - x_j)' (x_i - x_j) V`` for a symmetric C (n x n) and rows x_i (1 x m)
equals ``2 X' (r * Z - C Z)`` with ``Z = X V`` and ``r = C 1`` (errata section 4), without an m x m matrix.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from l2t.typing import Array, Mask

#: Pairs of rows per block: few enough for the cache, and enough to outweigh the overhead of numpy calls.
PAIRS = 16384


def upper_blocks(n: int, others: int = 0) -> Iterator[tuple[slice, slice, Mask]]:
    """Yield the rows and columns of blocks, and the mask of entries above the diagonal.

    Together the masks hold each pair of n rows once, and each pair of a row with one of `others` further
    columns.

    >>> [upper.tolist() for _, _, upper in upper_blocks(2, 1)]
    [[[False, True, True], [False, False, True]]]
    """
    start, width = 0, n + others
    while start < n:
        stop = min(n, start + max(1, PAIRS // (width - start)))
        upper = np.arange(stop - start)[:, None] < np.arange(width - start)
        yield slice(start, stop), slice(start, width), upper
        start = stop


#: Rows whose small distances are rounded to zero at a time.
BLOCK = 256


def squared_distances(A: Array, B: Array | None = None, *, rounding: float = 0.0) -> Array:
    """Return ``D_ij = ||a_i - b_j||²`` (n x k), never negative, without another array of this size.

    With B=None, B is A and the diagonal exactly zero. Distances up to the share `rounding` of
    ``||a_i||² + ||b_j||²`` become zero.

    >>> squared_distances(np.array([[0.0], [3.0]])).tolist()
    [[0.0, 9.0], [9.0, 0.0]]
    """
    other = A if B is None else B
    a = np.einsum("ij,ij->i", A, A)
    b = a if B is None else np.einsum("ij,ij->i", B, B)
    D = A @ other.T  # numpy computes only one half if B is A
    D *= -2.0
    D += a[:, None]
    D += b
    np.maximum(D, 0.0, out=D)
    for at in range(0, len(D) if rounding else 0, BLOCK):
        block = D[at : at + BLOCK]
        block[block <= rounding * (a[at : at + BLOCK, None] + b)] = 0.0
    if B is None:
        np.fill_diagonal(D, 0.0)
    return D


def mean_squared_distance(A: Array, B: Array) -> float:
    """Return the mean of ``||a_i - b_j||²`` over all pairs, without computing the distances.

    >>> mean_squared_distance(np.array([[0.0], [2.0]]), np.array([[1.0]]))
    1.0
    """
    gap = A.mean(axis=0) - B.mean(axis=0)
    return float(A.var(axis=0).sum() + B.var(axis=0).sum() + gap @ gap)


def rbf_kernel(X: Array, bandwidth: float | None = None) -> Array:
    """Return ``exp(-D / bandwidth)`` for all pairs of rows; by default their mean squared distance."""
    K = squared_distances(X)
    K /= -(mean_squared_distance(X, X) if bandwidth is None else bandwidth)
    return np.asarray(np.exp(K, out=K))


def mean_gap_weights(ns: int, nt: int) -> Array:
    """Return e of shape (ns + nt,): ``e'X`` is the mean of the first ns rows minus that of the others.

    >>> mean_gap_weights(2, 1).tolist()
    [0.5, 0.5, -1.0]
    """
    return np.concatenate([np.full(ns, 1 / ns), np.full(nt, -1 / nt)])


def laplacian_product(C: Array, X: Array, Z: Array) -> Array:
    """Return ``Lap(C) V`` for symmetric C, given X (n x m) and ``Z = X V`` (n x u)."""
    weighted = C.sum(axis=1)[:, None] * Z
    weighted -= C @ Z
    return np.asarray(2.0 * (X.T @ weighted))


def unit_rows(Z: Array) -> Array:
    """Return the rows divided by their Euclidean norms; a zero row stays zero."""
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.asarray(Z / np.where(lengths > 0, lengths, 1.0))
