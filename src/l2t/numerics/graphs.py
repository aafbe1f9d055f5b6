"""Nearest-neighbour graphs with cosine weights, in time that grows like n log n with the rows.

Rows of norm 1 are neighbours by angle exactly when they are neighbours by distance. Brute force would
compare all n² pairs: instead candidates come from a k-d tree over the leading principal coordinates of
the unit rows, and the exact cosines of the candidates decide.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import KDTree

from l2t.numerics.eigen import leading_eigenpairs

__all__ = ["cosine_graph"]

Array = npt.NDArray[np.float64]

#: Rows up to this number are compared exactly; the tree would cost more.
EXACT_ROWS = 512
COORDINATES = 10
CANDIDATES = 4
BLOCK = 512


def cosine_graph(X: Array, n_neighbors: int) -> sparse.csr_array:
    """Return the symmetric graph that joins each row to its nearest ones, weighted by their cosine.

    An edge stands where either row is among the other's nearest; weights are never negative, and
    zero rows have no edge.

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
    near, cosines = _neighbors(unit, k)
    weights = np.maximum(cosines, 0.0).ravel()
    rows = np.repeat(live, k)
    graph = sparse.csr_array((weights, (rows, live[near].ravel())), shape=(n, n))
    symmetric = graph.maximum(graph.T)
    symmetric.eliminate_zeros()
    return sparse.csr_array(symmetric)


def _neighbors(unit: Array, k: int) -> tuple[npt.NDArray[np.intp], Array]:
    """Return the k nearest other rows of each unit row, and the cosines."""
    n = len(unit)
    if n <= EXACT_ROWS:
        cosines = unit @ unit.T
        np.fill_diagonal(cosines, -np.inf)
        return _best(cosines, np.broadcast_to(np.arange(n), (n, n)), k)
    small = unit if unit.shape[1] <= COORDINATES else _project(unit)
    candidates = KDTree(small).query(small, k=min(CANDIDATES * k + 1, n))[1]
    near, best = np.empty((n, k), dtype=np.intp), np.empty((n, k))
    for at in range(0, n, BLOCK):
        rows = np.arange(at, min(at + BLOCK, n))
        cosines = np.einsum("ij,ikj->ik", unit[rows], unit[candidates[rows]], optimize=True)
        cosines[candidates[rows] == rows[:, None]] = -np.inf
        near[rows], best[rows] = _best(cosines, candidates[rows], k)
    return near, best


def _project(unit: Array) -> Array:
    """Return the rows in their leading principal coordinates, from the smaller Gram matrix."""
    n, m = unit.shape
    if m <= n:
        return unit @ leading_eigenpairs(unit.T @ unit, COORDINATES)[1]
    values, vectors = leading_eigenpairs(unit @ unit.T, COORDINATES)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _best(
    cosines: Array, indices: npt.NDArray[np.intp], k: int
) -> tuple[npt.NDArray[np.intp], Array]:
    order = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(cosines, order, axis=1)
