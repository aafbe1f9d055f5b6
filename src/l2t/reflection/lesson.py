"""What is to be learned from a table of experiences, and what is held out of it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from l2t.reflection.calibration import LabelCurve
from l2t.reflection.loss import Problem, Settings, Units
from l2t.reflection.table import Table
from l2t.typing import Array, Indices, Mask

#: Which runs to learn from, and which to predict.
Split = tuple[Mask, Mask]

#: One of this many target domains is held out.
SHARE = 4
#: Settings are chosen, and starts compared, on about this many runs at most.
SAMPLE = 2000


@dataclass(frozen=True, eq=False)
class Lesson:
    """A table, and the experiences `run` and `y` of it that shape the function."""

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

    def problem(self, settings: Settings, runs: Mask | None = None) -> Problem:
        """Return the learning problem, over some of the runs or over all."""
        kept = slice(None) if runs is None else runs[self.run]
        return Problem(self.table, self.run[kept], self.y[kept], self.units, settings)

    def levels(self) -> Array:
        """Return the mean l_hat of each run; NaN for runs that do not shape the function."""
        counts = np.bincount(self.run, minlength=self.table.n_runs)
        sums = np.bincount(self.run, 1.0 / self.y, minlength=self.table.n_runs)
        with np.errstate(invalid="ignore"):
            return np.asarray(sums / counts)


def held_out(target: str) -> bool:
    """Return whether all pairs with a target are held out, which follows from its fingerprint alone."""
    return zlib.crc32(target.encode()) % SHARE == 0


def pair_splits(pair: Indices, n_folds: int, rng: np.random.Generator) -> list[Split]:
    """Return n_folds splits, each pair held out in one of them; none where there is one pair only."""
    n_pairs = int(pair.max()) + 1
    n_folds = min(n_folds, n_pairs)
    if n_folds < 2:
        return []
    fold = (rng.permutation(n_pairs) % n_folds)[pair]
    return [(fold != k, fold == k) for k in range(n_folds)]
