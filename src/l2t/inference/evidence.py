"""Evidence: how well a candidate separates the classes of the user's labelled target rows.

Two shares are measured, with W and without, over all rows that have another labelled row of their class. Rows
of the same group are not compared:

* order: the share of triples (the row, another of its class, one of another class) in which the row of the
  same class is nearer; 15 labels in three classes give 600 triples;
* nearest: the share of rows whose nearest other labelled row is of their class, the leave-one-out accuracy of
  1-NN; 15 labels give only 15 tests.

The improvement ratio that they suggest, and its error, were learned (`Forecast.suggested`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from l2t.forecast import Expectation, Forecast
from l2t.numerics import squared_distances
from l2t.numerics.graphs import TIE
from l2t.typing import AnyArray, Array

#: Maximum number of labelled rows, drawn at random: the cost is quadratic.
MAX_EVIDENCE_ROWS = 500


class Agreement(NamedTuple):
    """How well distances between labelled rows agree with their classes; fields as in `Evidence`."""

    n_rows: int
    shots: float
    order: float
    nearest: float


@dataclass(frozen=True)
class Evidence:
    """Evidence from the labelled rows on one candidate.

    Attributes
    ----------
    n_rows : int
        Number of labelled rows with another row of their class and one of another class, in other groups.
    shots : float
        Number of labelled rows per class.
    order, order_without : float
        The mean share of triples in order, with W and without.
    nearest, nearest_without : float
        The share of rows whose nearest labelled row is of their class, with W and without.
    suggests : Expectation
        The log improvement ratio that this suggests.
    """

    n_rows: int
    shots: float
    order: float
    order_without: float
    nearest: float
    nearest_without: float
    suggests: Expectation


class LabelledRows:
    """Labelled target rows X (n, m), their classes and groups; `without` is their agreement without W."""

    def __init__(self, X: AnyArray, codes: AnyArray, groups: AnyArray | None = None) -> None:
        if len(X) > MAX_EVIDENCE_ROWS:
            rows = np.sort(np.random.default_rng(0).permutation(len(X))[:MAX_EVIDENCE_ROWS])
            X, codes = X[rows], codes[rows]
            groups = None if groups is None else groups[rows]
        self._X = X - X.mean(axis=0, dtype=np.float64) if len(X) else X
        self._codes, self._groups = codes, groups
        self.without = agreement(squared_distances(self._X), codes, groups) if len(X) else None

    def evidence(self, W: AnyArray, forecast: Forecast) -> Evidence | None:
        """Return the evidence on W; None if there is one class, or no class has two rows to compare."""
        before = self.without
        after = before and agreement(squared_distances(self._X @ W), self._codes, self._groups)
        if before is None or after is None:
            return None
        return Evidence(
            n_rows=after.n_rows,
            shots=after.shots,
            order=after.order,
            order_without=before.order,
            nearest=after.nearest,
            nearest_without=before.nearest,
            suggests=forecast.suggested(
                after.order - before.order,
                after.nearest - before.nearest,
                after.n_rows,
                after.shots,
            ),
        )


def agreement(D: AnyArray, codes: AnyArray, groups: AnyArray | None = None) -> Agreement | None:
    """Return how well squared distances D (n, n) between rows of different groups agree with their classes.

    None if there is one class, or no class has two labelled rows of different groups.
    """
    same = codes[:, None] == codes
    codes_of_groups = np.arange(len(codes)) if groups is None else groups
    differ = codes_of_groups[:, None] != codes_of_groups
    same, other = same & differ, ~same & differ
    rows = np.flatnonzero(same.any(axis=1) & other.any(axis=1))
    if not len(rows):
        return None
    order, nearest = [], []
    for i in rows:
        others = np.sort(D[i, other[i]])
        mates = D[i, same[i]]
        # Distances that differ only by rounding are ties, which count half.
        nearer = np.searchsorted(others, mates * (1.0 - TIE), "left")
        not_farther = np.searchsorted(others, mates * (1.0 + TIE), "right")
        shares: Array = 1.0 - 0.5 * (nearer + not_farther) / len(others)
        order.append(shares.mean())
        first = np.argmin(mates)
        nearest.append(0.5 * (float(nearer[first] == 0) + float(not_farther[first] == 0)))
    shots = len(codes) / len(np.unique(codes))
    return Agreement(len(rows), shots, float(np.mean(order)), float(np.mean(nearest)))
