"""Evidence: what the user's own labelled target rows say of a candidate.

Two things are measured on them, with W and without, over all rows that have another labelled row of their
class:

* order: the share of triples (the row, another of its class, one of another class) in which the row of the
  same class is nearer. 15 labels of three classes make 600 triples;
* nearest: the share of rows whose nearest other labelled row is of their class: the leave-one-out accuracy of
  1-NN. 15 labels make only 15 tests.

With k labels per class the log improvement ratio is about ``1.3 ((1 - w) gain_order + w gain_nearest)``,
``w = k / (k + 5)``, with an error of ``0.5 / sqrt(n)`` over n rows: rounded from regressions on
1,728 draws of labelled rows from tasks of six kinds, harmful ones among them (docs/adr/0014).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from l2t.numerics import squared_distances
from l2t.numerics.graphs import TIE
from l2t.typing import AnyArray, Array

__all__ = ["Evidence", "LabelledRows"]

#: Of more labelled rows so many random ones are used: distances grow with their square.
MAX_ROWS = 500
SLOPE = 1.3
EVEN_SHOTS = 5
ERROR = 0.5


@dataclass(frozen=True)
class Evidence:
    """What the labelled rows say of one candidate.

    Attributes
    ----------
    n_rows : int
        Labelled rows with another of their class, and one of another class.
    shots : float
        Labelled rows per class.
    order, order_without : float
        The mean share of triples in order, with W and without.
    nearest, nearest_without : float
        The share of rows whose nearest labelled row is of their class, with W and without.
    """

    n_rows: int
    shots: float
    order: float
    order_without: float
    nearest: float
    nearest_without: float

    @property
    def log_ratio(self) -> float:
        """The log improvement ratio that the rows suggest."""
        w = self.shots / (self.shots + EVEN_SHOTS)
        order, nearest = self.order - self.order_without, self.nearest - self.nearest_without
        return SLOPE * ((1.0 - w) * order + w * nearest)

    @property
    def error(self) -> float:
        """The standard error of that."""
        return ERROR / float(np.sqrt(self.n_rows))


class LabelledRows:
    """Labelled target rows, ready to be asked about candidates.

    Parameters
    ----------
    X : array of shape (n, m)
        The rows.
    codes : int array of shape (n,)
        Their classes.
    """

    def __init__(self, X: AnyArray, codes: AnyArray) -> None:
        if len(X) > MAX_ROWS:
            rows = np.sort(np.random.default_rng(0).permutation(len(X))[:MAX_ROWS])
            X, codes = X[rows], codes[rows]
        same = codes[:, None] == codes
        np.fill_diagonal(same, False)
        other = codes[:, None] != codes
        self._rows = np.flatnonzero(same.any(axis=1) & other.any(axis=1))
        self._same, self._other = same[self._rows], other[self._rows]
        self._shots = len(X) / max(len(np.unique(codes)), 1)
        if len(self._rows):
            self._X = X - X.mean(axis=0, dtype=np.float64)
            self._without = self._measure(self._X)

    def evidence(self, W: AnyArray) -> Evidence | None:
        """Return the evidence on W; None where no class has two labelled rows, or there is one class."""
        if not len(self._rows):
            return None
        order, nearest = self._measure(self._X @ W)
        plain_order, plain_nearest = self._without
        return Evidence(len(self._rows), self._shots, order, plain_order, nearest, plain_nearest)

    def _measure(self, Z: AnyArray) -> tuple[float, float]:
        """Return the mean share of triples in order, and of rows whose nearest is of their class."""
        D = squared_distances(Z)[self._rows]
        order, nearest = [], []
        for row, near, far in zip(D, self._same, self._other, strict=True):
            others = np.sort(row[far])
            # Distances that differ by rounding alone are ties, and count half.
            nearer = np.searchsorted(others, row[near] * (1.0 - TIE), "left")
            not_farther = np.searchsorted(others, row[near] * (1.0 + TIE), "right")
            shares: Array = 1.0 - 0.5 * (nearer + not_farther) / len(others)
            order.append(shares.mean())
            first = np.argmin(row[near])
            nearest.append(0.5 * (float(nearer[first] == 0) + float(not_farther[first] == 0)))
        return float(np.mean(order)), float(np.mean(nearest))
