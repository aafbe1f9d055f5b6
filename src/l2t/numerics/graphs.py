"""Nearest-neighbour graphs: with cosine weights, and of mutual neighbours.

Up to a few thousand rows all pairs are compared, in one matrix product. Beyond that the work would grow
with the square of the rows: candidates then come from a k-d tree over the leading principal coordinates
of the unit rows (which are neighbours by angle when they are neighbours by distance), and their exact
cosines decide. That finds most of the weight of the exact graph, not every edge of it.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.spatial import KDTree

from l2t.numerics.eigen import leading_coordinates
from l2t.numerics.kernels import upper_blocks
from l2t.typing import Array, Indices, Mask

#: Rows up to this number are compared exactly; a tree would not be faster.
EXACT_ROWS = 2048
COORDINATES = 16
CANDIDATES = 4
#: How much farther than the nearest a candidate may be: without it a tree in 16 dimensions visits all.
SLACK = 3.0
BLOCK = 512
#: Neighbours are equally near where their squared distances agree to this share.
TIE = 1e-9


def cosine_graph(X: Array, n_neighbors: int) -> sparse.csr_array:
    """Return the symmetric graph that joins each row to its nearest ones, weighted by their cosine.

    An edge stands where either row is among the other's nearest; ties with the last of them are kept,
    so that the order of the rows does not matter. Weights are never negative, and zero rows have no
    edge.

    >>> cosine_graph(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]]), 1).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    n = len(X)
    norms = np.linalg.norm(X, axis=1)
    live = np.flatnonzero(norms > 0)
    k = min(n_neighbors, len(live) - 1)
    if k < 1:
        return sparse.csr_array((n, n))
    unit = X[live] / norms[live, None]
    rows, columns, cosines = (_all_pairs if len(live) <= EXACT_ROWS else _candidates)(unit, k)
    graph = sparse.csr_array((cosines, (live[rows], live[columns])), shape=(n, n))
    symmetric = graph.maximum(graph.T)
    symmetric.eliminate_zeros()
    return sparse.csr_array(symmetric)


def _all_pairs(unit: Array, k: int) -> tuple[Indices, Indices, Array]:
    """Return rows, neighbours and cosines from all pairs."""
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -np.inf)
    return _nearest(np.arange(len(unit)), np.arange(len(unit)), cosines, k)


def _candidates(unit: Array, k: int) -> tuple[Indices, Indices, Array]:
    """Return rows, neighbours and cosines from the candidates of a tree, block by block."""
    small = unit if unit.shape[1] <= COORDINATES else leading_coordinates(unit, COORDINATES)
    near = KDTree(small).query(small, k=min(CANDIDATES * k + 1, len(unit)), eps=SLACK)[1]
    found = []
    for at in range(0, len(unit), BLOCK):
        rows = np.arange(at, min(at + BLOCK, len(unit)))
        cosines = np.einsum("ij,ikj->ik", unit[rows], unit[near[rows]], optimize=True)
        cosines[near[rows] == rows[:, None]] = -np.inf
        found.append(_nearest(rows, near[rows], cosines, k))
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))  # type: ignore[return-value]


def _nearest(
    rows: Indices, columns: Indices, cosines: Array, k: int
) -> tuple[Indices, Indices, Array]:
    """Return the entries of each row that reach its k-th largest, where they are positive."""
    least = np.partition(cosines, -k, axis=1)[:, -k, None] - 1e-12
    at = np.nonzero((cosines >= least) & (cosines > 0))
    return rows[at[0]], np.broadcast_to(columns, cosines.shape)[at], cosines[at]


def mutual_neighbors(D: Array, n_neighbors: int) -> Mask:
    """Return which pairs are among each other's nearest; ties with the last neighbour count."""
    n = len(D)
    r = min(n_neighbors, max(1, (n - 1) // 2))
    near = np.empty((n, n), dtype=np.bool_)
    for rows, _, _ in upper_blocks(n):
        # The row itself is the first of the r + 1.
        reach = np.partition(D[rows], r, axis=1)[:, r, None]
        near[rows] = D[rows] <= reach * (1.0 + TIE)
    np.fill_diagonal(near, False)
    near &= near.T
    return near
