"""Nearest-neighbour graphs: with cosine weights, and of mutual neighbours.

Up to 2,048 rows all pairs are compared in one matrix product. For more rows, whose pairs would be too many,
candidates come from a k-d tree over the leading principal coordinates of the unit rows (neighbours by
distance are then neighbours by angle), and the nearest are chosen by exact cosines. That finds most of the
weight of the exact graph, but not every edge.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.spatial import KDTree

from l2t.numerics.eigen import leading_coordinates
from l2t.numerics.kernels import upper_blocks
from l2t.typing import Array, Indices, Mask

#: Up to this number of rows all pairs are compared; a tree would not be faster.
EXACT_ROWS = 2048
#: Coordinates of the tree, and candidates per neighbour.
COORDINATES = 16
CANDIDATES_PER_NEIGHBOR = 4
#: The relative error of the tree's distances (`eps`): an exact tree in 16 dimensions visits all rows.
SLACK = 3.0
BLOCK = 512
#: Neighbours are tied if their squared distances differ by at most this share.
TIE = 1e-9


def cosine_graph(X: Array, n_neighbors: int) -> sparse.csr_array:
    """Return the symmetric graph of nearest neighbours, weighted by cosine similarity.

    Two rows are joined if either is among the nearest of the other; ties with the last neighbour are kept,
    so that the order of the rows does not matter. Weights are positive, and zero rows have no edge.

    >>> cosine_graph(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]]), 1).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    n = len(X)
    norms = np.linalg.norm(X, axis=1)
    nonzero = np.flatnonzero(norms > 0)
    k = min(n_neighbors, len(nonzero) - 1)
    if k < 1:
        return sparse.csr_array((n, n))
    unit = X[nonzero] / norms[nonzero, None]
    rows, columns, cosines = (_all_pairs if len(nonzero) <= EXACT_ROWS else _candidates)(unit, k)
    graph = sparse.csr_array((cosines, (nonzero[rows], nonzero[columns])), shape=(n, n))
    symmetric = graph.maximum(graph.T)
    symmetric.eliminate_zeros()
    return sparse.csr_array(symmetric)


def _all_pairs(unit: Array, k: int) -> tuple[Indices, Indices, Array]:
    """Return rows, their neighbours and the cosines, from all pairs."""
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -np.inf)
    return _nearest(np.arange(len(unit)), np.arange(len(unit)), cosines, k)


def _candidates(unit: Array, k: int) -> tuple[Indices, Indices, Array]:
    """Return rows, their neighbours and the cosines, from the candidates of a k-d tree."""
    small = unit if unit.shape[1] <= COORDINATES else leading_coordinates(unit, COORDINATES)
    near = KDTree(small).query(small, k=min(CANDIDATES_PER_NEIGHBOR * k + 1, len(unit)), eps=SLACK)[
        1
    ]
    blocks = []
    for at in range(0, len(unit), BLOCK):
        rows = np.arange(at, min(at + BLOCK, len(unit)))
        cosines = np.einsum("ij,ikj->ik", unit[rows], unit[near[rows]], optimize=True)
        cosines[near[rows] == rows[:, None]] = -np.inf
        blocks.append(_nearest(rows, near[rows], cosines, k))
    return tuple(np.concatenate(part) for part in zip(*blocks, strict=True))  # type: ignore[return-value]


def _nearest(
    rows: Indices, columns: Indices, cosines: Array, k: int
) -> tuple[Indices, Indices, Array]:
    """Return the positive entries of each row that are at least its k-th largest."""
    least = np.partition(cosines, -k, axis=1)[:, -k, None] - 1e-12
    at = np.nonzero((cosines >= least) & (cosines > 0))
    return rows[at[0]], np.broadcast_to(columns, cosines.shape)[at], cosines[at]


def mutual_neighbors(D: Array, n_neighbors: int) -> Mask:
    """Return the mask (n x n) of pairs that are among each other's nearest by D, ties included."""
    n = len(D)
    r = min(n_neighbors, max(1, (n - 1) // 2))
    near = np.empty((n, n), dtype=np.bool_)
    for rows, _, _ in upper_blocks(n):
        # The row itself is one of the r + 1 nearest.
        reach = np.partition(D[rows], r, axis=1)[:, r, None]
        near[rows] = D[rows] <= reach * (1.0 + TIE)
    np.fill_diagonal(near, False)
    near &= near.T
    return near
