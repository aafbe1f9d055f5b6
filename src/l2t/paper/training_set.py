"""The experiences that a function is fitted to, and those that are held out."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from l2t.paper.calibration import LabelCurve
from l2t.paper.convex_loss import ConvexProblem
from l2t.paper.loss import LossSettings, Problem, Units
from l2t.paper.table import RunTable
from l2t.typing import Array, Indices, Mask

#: Masks of training runs and of test runs.
RunSplit = tuple[Mask, Mask]

#: One in this many target domains is held out.
HELD_OUT_ONE_IN = 4
#: Approximate maximum number of runs for choosing settings and comparing starts.
MAX_SAMPLE = 2000


@dataclass(frozen=True, eq=False)
class LearningSet:
    """A table, and the runs (`run`) and targets 1 / l_hat (`y`) of the experiences that are fitted."""

    table: RunTable
    curve: LabelCurve
    max_labels: int | None
    best: float
    units: Units
    run: Indices
    y: Array

    @classmethod
    def of(
        cls,
        table: RunTable,
        curve: LabelCurve,
        max_labels: int | None,
        best: float = 1.0,
        units: Units | None = None,
    ) -> LearningSet:
        """Select the experiences with at most `max_labels` labels, all if there are none, of the best runs.

        The best runs are those with a mean l_hat of at least the quantile ``1 - best`` of their pair.
        """
        fitted = np.ones(len(table), dtype=bool)
        if max_labels is not None and (table.n_labels <= max_labels).any():
            fitted = table.n_labels <= max_labels
        l_hat = table.ratio * curve.factor(table.n_labels)
        units = units or Units.of(table)
        if best < 1.0:
            levels = _means(table.run[fitted], l_hat[fitted], table)
            fitted &= _best_runs(table, levels, best)[table.run]
        return cls(table, curve, max_labels, best, units, table.run[fitted], 1.0 / l_hat[fitted])

    def sample(self, random_state: int) -> LearningSet:
        """Return random pairs with about `MAX_SAMPLE` runs, or the training set itself if it has no more."""
        if self.table.n_runs <= MAX_SAMPLE:
            return self
        order = np.random.default_rng(random_state).permutation(int(self.table.pair.max()) + 1)
        sizes = np.bincount(self.table.pair)[order]
        kept = order[: max(2, int(np.searchsorted(np.cumsum(sizes), MAX_SAMPLE)))]
        part = self.table.take(np.flatnonzero(np.isin(self.table.pair, kept)))
        return LearningSet.of(part, self.curve, self.max_labels, self.best, self.units)

    def problem(self, settings: LossSettings, runs: Mask | None = None) -> Problem | ConvexProblem:
        """Return the optimisation problem over some of the runs, or over all."""
        kept = slice(None) if runs is None else runs[self.run]
        kind = ConvexProblem if settings.form == "convex" else Problem
        return kind(self.table, self.run[kept], self.y[kept], self.units, settings)

    def levels(self) -> Array:
        """Return the mean l_hat of each run; NaN for runs that are not fitted."""
        return _means(self.run, 1.0 / self.y, self.table)


def _means(run: Indices, l_hat: Array, table: RunTable) -> Array:
    """Return the mean of l_hat (one per experience) over each run; NaN for runs without experiences."""
    counts = np.bincount(run, minlength=table.n_runs)
    sums = np.bincount(run, l_hat, minlength=table.n_runs)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / counts)


def _best_runs(table: RunTable, levels: Array, best: float) -> Mask:
    """Return which runs have at least the quantile ``1 - best`` of the levels of their pair."""
    kept = np.zeros(table.n_runs, dtype=bool)
    for pair in np.unique(table.pair):
        runs = np.flatnonzero((table.pair == pair) & np.isfinite(levels))
        if runs.size:
            kept[runs] = levels[runs] >= np.quantile(levels[runs], 1.0 - best)
    return kept


def held_out(target: str) -> bool:
    """Return whether pairs with a target are held out, which depends only on its fingerprint."""
    return zlib.crc32(target.encode()) % HELD_OUT_ONE_IN == 0


def target_splits(target: Indices, n_folds: int, rng: np.random.Generator) -> list[RunSplit]:
    """Return n_folds splits, each target held out in one of them; none for a single target."""
    n_targets = int(target.max()) + 1
    n_folds = min(n_folds, n_targets)
    if n_folds < 2:
        return []
    fold = (rng.permutation(n_targets) % n_folds)[target]
    return [(fold != k, fold == k) for k in range(n_folds)]
