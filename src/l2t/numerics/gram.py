"""Coordinates of few rows with very many features, from their Gram matrix.

``A A' = U s² U'`` for all rows A (n x m) gives ``Z = U s`` (n x r) with the distances, angles and norms of A,
without a dense array of m columns. A factor V (r x u) of the coordinates is ``W = B V`` in the features, with
the basis ``B = A' U / s``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from l2t.typing import Array, Matrix


@dataclass(frozen=True, eq=False)
class GramSpan:
    """The row space of several stacked arrays or sparse matrices.

    `coordinates` are those of each part.

    >>> span = GramSpan.of([np.eye(2, 5000), np.ones((1, 5000))])
    >>> [rows.shape for rows in span.coordinates], span.lift(np.eye(3)).shape
    ([(2, 3), (1, 3)], (5000, 3))
    """

    rows: Matrix
    coordinates: list[Array]
    back: Array  # U / s

    @classmethod
    def of(cls, parts: Sequence[Matrix]) -> GramSpan:
        """Compute the span of arrays or sparse matrices with the same features."""
        some = any(sparse.issparse(part) for part in parts)
        rows = sparse.vstack(parts, "csr", np.float64) if some else np.concatenate(parts)
        rows = rows.astype(np.float64)
        G = rows @ rows.T
        values, U = np.linalg.eigh(G.toarray() if some else G)
        kept = values > len(values) * np.finfo(float).eps * values[-1]
        s, U = np.sqrt(values[kept]), U[:, kept]
        ends = np.cumsum([part.shape[0] for part in parts])[:-1]
        return cls(rows, np.split(U * s, ends), U / s)

    def lift(self, V: Array) -> Array:
        """Map a factor V (r x u) of the coordinates to W (m x u)."""
        return np.asarray(self.rows.T @ (self.back @ V))


@dataclass(frozen=True, eq=False)
class Lifted:
    """A factor ``W = rows' V`` (m x u), stored as the sparse rows (n x m) and V (n x u).

    ``X @ W`` is computed as ``(X rows') V`` for an array or a sparse matrix X.

    >>> W = Lifted(sparse.csr_array(np.eye(2, 5)), np.ones((2, 1)))
    >>> W.shape, (np.ones((1, 5)) @ W).tolist()
    ((5, 1), [[2.0]])
    """

    rows: Matrix
    V: Array

    __array_ufunc__ = None  # so that numpy calls __rmatmul__

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (m, u)."""
        return self.rows.shape[1], self.V.shape[1]

    def __rmatmul__(self, X: Matrix) -> Array:
        products = X @ self.rows.T
        return np.asarray(products @ self.V)

    def toarray(self) -> Array:
        """Return W as an array."""
        return np.asarray(self.rows.T @ self.V)
