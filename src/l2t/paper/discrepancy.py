"""The discrepancy of projected rows, and its derivative in the rows: the terms of d and Q of 1/f.

With ``F = Σ_k a_k K_k`` for all pairs of rows z_a, z_b (1 x u) of both domains, and ``w_a = 1/ns`` for
source rows, ``-1/nt`` for target rows:

``a'd = Σ_ab w_a w_b F_ab``
``a'Q a = Σ_ij (h_ij - mean h)² / (n² - 1)``,
``h_ij = F(s_i, s_j) - F(s_i, t_j) - F(t_i, s_j) + F(t_i, t_j)``

over the n pairs (s_i, t_i) of a source row with a target row. As ``Σ (h - mean h) = 0``, the derivative of
``a'd + lambda a'Q a`` in F_ab is ``C_ab = w_a w_b ± 2 lambda / (n² - 1) (h_ij - mean h)``, where the second
term is for paired rows only and has the sign of F_ab in h. With ``F' = Σ_k (a_k / delta_k) K_k``,
``P = C * F'`` and ``L = diag(P 1) Z - P Z`` (errata section 4) the derivative in Z is

``-4 (L - <Z, L> / eta E)``,  ``E_a = |w_a| (z_a - mean of the other domain)``,  ``<Z, E> = eta``;

its second term is due to the bandwidths, which are proportional to eta (erratum E9). With weights of the
diagonal of Q, ``a'd + Σ_k v_k Q_kk`` (erratum E2), each of their kernels has its own h.

Every pair of rows is visited once, in tiles: a block of rows with itself, and with each later block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsymm

from l2t.numerics import squared_distances
from l2t.paper.kernel_stack import MAX_STORED, KernelStack
from l2t.statistics import KernelBank
from l2t.statistics.variance import SIGNS
from l2t.typing import Array, Indices

#: Number of rows, or of pairs of rows, per block.
BLOCK = 256


class Discrepancy:
    """The value for stacked rows Z of source (ns) and target (nt), ``Z -> a'd + lambda a'Q a``.

    `paired` holds the indices of paired source and target rows, `mmd` (K,) the weights a, and `variance` the
    number lambda, or the weights (K,) of the diagonal of Q. Q is not computed if it has no weight.
    """

    def __init__(
        self,
        ns: int,
        nt: int,
        paired: tuple[Indices, Indices],
        kernels: KernelBank,
        mmd: Array,
        variance: float | Array,
    ) -> None:
        n = len(paired[0])
        diagonal = np.flatnonzero(variance) if isinstance(variance, np.ndarray) else None
        counted = mmd if diagonal is None else mmd + variance
        self._stack = stack = KernelStack(kernels, counted)
        # The combinations of kernels: that of d, and those whose variances count, which are in `_varied`.
        self._weights = mmd[None, stack.index]
        if diagonal is None:
            self._varied, strengths = slice(0, 1), np.full(1, variance)
        else:
            alone_in_row = (stack.index == diagonal[:, None]).astype(np.float64)
            self._weights = np.concatenate([self._weights, alone_in_row])
            self._varied, strengths = slice(1, None), np.asarray(variance)[diagonal]
        self._n = n = n if n > 1 and strengths.any() else 0
        self._strengths = strengths / max(n * n - 1, 1)
        # Rows without a partner come first, then the pairs: s_1, t_1, s_2, t_2 ...
        pairs = np.stack([paired[0][:n], ns + paired[1][:n]], axis=1).ravel()
        unpaired = np.setdiff1d(np.arange(ns + nt), pairs)
        self._order = np.concatenate([unpaired, pairs])
        source = self._order < ns
        self._w = np.where(source, 1.0 / ns, -1.0 / nt)
        self._means = np.abs(self._w) * [source, ~source]  # times Z: the domain means
        self._other = source.astype(np.intp)
        self._w_pairs = np.outer([1.0 / ns, -1.0 / nt], [1.0 / ns, -1.0 / nt]).reshape(4, 1)
        self._alone = list(_tiles(0, len(unpaired), ns + nt, 1))
        self._pairs = list(_tiles(len(unpaired), ns + nt, ns + nt, 2))

    def __call__(self, Z: Array, eta: float) -> tuple[float, Array]:
        """Return the value and its derivative in Z, for the eta of Z."""
        Z = Z[self._order]
        rows = _Rows(Z, eta)
        value = self._add_alone(rows) + self._add_pairs(rows)
        L = rows.products[:, -1:] * Z - rows.products[:, :-1]
        E = np.abs(self._w)[:, None] * (Z - (self._means @ Z)[self._other])
        derivative = np.empty_like(Z)
        derivative[self._order] = (L - float(np.vdot(Z, L)) / eta * E) * (-4.0 / eta)
        return value, derivative

    def _add_alone(self, rows: _Rows) -> float:
        """Add the pairs with a row that has no partner, and return their part of beta'd."""
        d = 0.0
        for tile in self._alone:
            F, slopes = self._stack.sums(rows.distances(tile), self._weights[:1])
            weights = np.outer(self._w[tile.rows], self._w[tile.columns]).take(tile.index)
            d += float((F[0] * weights)[0] @ tile.counts)
            rows.add(tile, slopes[0] * weights)
        return d

    def _add_pairs(self, rows: _Rows) -> float:
        """Add the pairs of partnered rows, and return their part of the terms of d and Q."""
        n_sums = sum(5 * len(tile.counts) for tile in self._pairs)
        fits = 8 * len(self._weights) * n_sums <= MAX_STORED
        kept, d, squares, sums = [], 0.0, 0.0, np.zeros(len(self._strengths))
        for tile in self._pairs:
            F, slopes = self._stack.sums(rows.distances(tile), self._weights)
            h = SIGNS @ F[self._varied]
            d += float(np.sum((F[0] @ tile.counts) @ self._w_pairs))
            sums += h @ tile.counts
            squares += float(self._strengths @ (h**2 @ tile.counts))
            if fits:
                kept.append((slopes, h))
        means = sums / max(self._n**2, 1)
        for at, tile in enumerate(self._pairs):
            if fits:
                slopes, h = kept[at]
            else:
                F, slopes = self._stack.sums(rows.distances(tile), self._weights)
                h = SIGNS @ F[self._varied]
            h = (2.0 * self._strengths[:, None]) * (h - means[:, None])
            P = (h[:, None] * slopes[self._varied]).sum(axis=0)
            P *= SIGNS[:, None]
            P += self._w_pairs * slopes[0]
            rows.add(tile, P)
        return d + squares - self._n**2 * float(self._strengths @ means**2)


@dataclass(frozen=True, eq=False)
class _Tile:
    """Pairs of rows: a block of rows with the same block, or with another one."""

    rows: slice
    columns: slice
    #: Flat indices (q, p) of the pairs in the block of rows x columns: q = 1 for p pairs of single rows,
    #: q = 4 for p pairs of (s, t) pairs.
    index: Indices
    #: Multiplicity (p,) of each pair: 2 unless it is on the diagonal.
    counts: Array


def _tiles(start: int, stop: int, end: int, size: int) -> Iterator[_Tile]:
    """Yield tiles of rows start ... stop with those up to `end`; `size` is 2 for (s, t) pairs, else 1."""
    known: dict[tuple[int, int, bool], tuple[Indices, Array]] = {}  # shared by tiles of one shape
    for at in range(start, stop, size * BLOCK):
        rows = slice(at, min(at + size * BLOCK, stop))
        after = range(rows.stop, end, size * BLOCK)
        for columns in (rows, *(slice(to, min(to + size * BLOCK, end)) for to in after)):
            shape = rows.stop - rows.start, columns.stop - columns.start, columns == rows
            if shape not in known:
                known[shape] = _pair_indices(*shape, size)
            yield _Tile(rows, columns, *known[shape])


def _pair_indices(height: int, width: int, own: bool, size: int) -> tuple[Indices, Array]:
    """Return `index` and `counts` of a tile; `own` for a block with itself."""
    i, j = np.indices((height // size, width // size)).reshape(2, -1)
    if own:
        i, j = i[i <= j], j[i <= j]
    corners = [a * width + b for a in range(size) for b in range(size)]
    index = size * (i * width + j) + np.array(corners)[:, None]
    return index, np.where(own & (i == j), 1.0, 2.0)


class _Rows:
    """The rows of one evaluation: their distances, and the accumulated products ``P [Z 1]``."""

    def __init__(self, Z: Array, eta: float) -> None:
        self._scaled = Z / np.sqrt(eta)
        self._Z1 = np.hstack([Z, np.ones((len(Z), 1))])
        self.products = np.zeros_like(self._Z1)

    def distances(self, tile: _Tile) -> Array:
        """Return the squared distances of a tile's pairs, divided by eta."""
        rows, columns = tile.rows, tile.columns
        other = None if rows == columns else self._scaled[columns]
        return squared_distances(self._scaled[rows], other).take(tile.index)

    def add(self, tile: _Tile, P: Array) -> None:
        """Add the product of a tile's part of P with [Z 1]."""
        rows, columns = tile.rows, tile.columns
        block = np.empty((rows.stop - rows.start, columns.stop - columns.start))
        block.reshape(-1)[tile.index] = P
        if rows == columns:  # only the upper triangle is filled
            self.products[rows] += dsymm(1.0, block.T, self._Z1[rows], lower=1)
        else:
            self.products[rows] += block @ self._Z1[columns]
            self.products[columns] += block.T @ self._Z1[rows]
