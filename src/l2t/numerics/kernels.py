"""Pairwise distances and the weighted scatter that every kernel gradient is made of.

``Lap(C) V = Σ_ij C_ij (x_i - x_j)' (x_i - x_j) V`` for a symmetric C (n x n) and rows x_i (1 x m)
equals ``2 X' (r * Z - C Z)`` with ``Z = X V`` and ``r = C 1`` (errata section 4); no m x m matrix is
ever formed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from l2t.typing import Array, Mask

#: Pairs of rows per block: small enough for the cache, and enough work for each call of numpy.
PAIRS = 16384


def upper_blocks(n: int, others: int = 0) -> Iterator[tuple[slice, slice, Mask]]:
    """Yield rows and columns of blocks, and which places of a block stand above the diagonal.

    Together they hold each pair of n rows once, and all pairs of a row with one of `others` more
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


#: Rows whose distances are compared with their norms at a time.
BLOCK = 256


def squared_distances(A: Array, B: Array | None = None, *, rounding: float = 0.0) -> Array:
    """Return ``D_ij = ||a_i - b_j||²`` (n x k), never negative, with no other array of that size.

    B is A if None, and the diagonal exactly zero then. Distances up to the share `rounding` of
    ``||a_i||² + ||b_j||²`` are zero: those rows coincide.

    >>> squared_distances(np.array([[0.0], [3.0]])).tolist()
    [[0.0, 9.0], [9.0, 0.0]]
    """
    other = A if B is None else B
    a = np.einsum("ij,ij->i", A, A)
    b = a if B is None else np.einsum("ij,ij->i", B, B)
    D = A @ other.T  # numpy computes one half of it where B is A
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
    """Return the mean of ``||a_i - b_j||²`` over all pairs, without forming them.

    >>> mean_squared_distance(np.array([[0.0], [2.0]]), np.array([[1.0]]))
    1.0
    """
    gap = A.mean(axis=0) - B.mean(axis=0)
    return float(A.var(axis=0).sum() + B.var(axis=0).sum() + gap @ gap)


def rbf_kernel(X: Array, bandwidth: float | None = None) -> Array:
    """Return ``exp(-D / bandwidth)`` of all rows; the bandwidth is their mean squared distance if None."""
    K = squared_distances(X)
    K /= -(mean_squared_distance(X, X) if bandwidth is None else bandwidth)
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


def unit_rows(Z: Array) -> Array:
    """Return rows divided by their Euclidean norm; a zero row stays zero."""
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.asarray(Z / np.where(lengths > 0, lengths, 1.0))
