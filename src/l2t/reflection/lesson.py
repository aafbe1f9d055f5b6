"""What is to be learned from a table of experiences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from l2t.reflection.label_counts import LabelCurve
from l2t.reflection.loss import Problem, Settings, Units
from l2t.reflection.table import Table
from l2t.typing import Array

__all__ = ["Lesson"]

Indices = npt.NDArray[np.intp]

#: Settings are chosen, and starts compared, on about so many runs at most.
SAMPLE = 2000


@dataclass(frozen=True, eq=False)
class Lesson:
    """A table, and what is to be learned from it.

    `run` and `y` are the experiences that shape the function; `units` those of the whole table.
    """

    table: Table
    curve: LabelCurve
    max_labels: int | None
    units: Units
    run: Indices
    y: Array

    @classmethod
    def of(
        cls, table: Table, curve: LabelCurve, max_labels: int | None, units: Units | None = None
    ) -> Lesson:
        """Take the experiences with few labels to learn from; all where none has few."""
        shaping = np.ones(len(table), dtype=bool)
        if max_labels is not None and (table.n_labels <= max_labels).any():
            shaping = table.n_labels <= max_labels
        l_hat = table.ratio * curve.factor(table.n_labels)
        units = units or Units.of(table)
        return cls(table, curve, max_labels, units, table.run[shaping], 1.0 / l_hat[shaping])

    def sample(self, random_state: int) -> Lesson:
        """Return the lesson of random pairs with about `SAMPLE` runs, or this one if it has no more."""
        if self.table.n_runs <= SAMPLE:
            return self
        order = np.random.default_rng(random_state).permutation(int(self.table.pair.max()) + 1)
        sizes = np.bincount(self.table.pair)[order]
        kept = order[: max(2, int(np.searchsorted(np.cumsum(sizes), SAMPLE)))]
        part = self.table.take(np.flatnonzero(np.isin(self.table.pair, kept)))
        return Lesson.of(part, self.curve, self.max_labels, self.units)

    def problem(self, settings: Settings, runs: npt.NDArray[np.bool_] | None = None) -> Problem:
        """Return the learning problem, over some of the runs or over all."""
        kept = slice(None) if runs is None else runs[self.run]
        return Problem(self.table, self.run[kept], self.y[kept], self.units, settings)

    def outcomes(
        self, inverse: Array, known: npt.NDArray[np.bool_]
    ) -> tuple[Array, Array, Indices, Indices, Array]:
        """Return what `calibrate` takes of the known runs, given their predictions 1/f."""
        kept = known[self.table.run]
        run = (np.cumsum(known) - 1)[self.table.run[kept]]
        n_labels, ratio = self.table.n_labels[kept], self.table.ratio[kept]
        return inverse[known], self.levels()[known], run, n_labels, ratio

    def levels(self) -> Array:
        """Return the mean l_hat of each run; NaN for runs that do not shape the function."""
        counts = np.bincount(self.run, minlength=self.table.n_runs)
        sums = np.bincount(self.run, 1.0 / self.y, minlength=self.table.n_runs)
        with np.errstate(invalid="ignore"):
            return np.asarray(sums / counts)
