"""Results of methods on pairs: measured once, kept in the ledger, and returned as arrays."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from l2t.domains import DomainPair
from l2t.experiences.executors import Executor
from l2t.numerics import few_threads
from l2t.progress import progress_bar
from l2t.typing import Array
from reproduction.families import Pairs
from reproduction.paper.ledger import Ledger
from reproduction.paper.methods import Method, Trial
from reproduction.paper.setting import Setting

__all__ = ["Measured", "measure", "p_values"]


@dataclass(frozen=True, eq=False)
class Measured:
    """The results of methods on pairs.

    Attributes
    ----------
    label_counts : tuple of int
        The label counts.
    names : tuple of (str, str)
        Source and target of each pair.
    before : array of shape (pairs, counts)
        Accuracy without transfer; NaN where the target is too small.
    rows : mapping from method names to the rows of its pairs
        As `Method.measure` returns them.
    """

    label_counts: tuple[int, ...]
    names: tuple[tuple[str, str], ...]
    before: Array
    rows: Mapping[str, Sequence[Mapping[str, Any]]]

    def __getitem__(self, method: str) -> Array:
        """Return the improvement ratios (pairs, counts) of a method."""
        return self.field(method, "ratio")

    def field(self, method: str, name: str) -> Array:
        """Return a field (pairs, counts) of a method; NaN where the target is too small."""
        table = np.full((len(self.names), len(self.label_counts)), np.nan)
        for i, row in enumerate(self.rows[method]):
            table[i, : len(row[name])] = row[name]  # counts that do not fit are the largest ones
        return table

    def seconds(self, method: str) -> float:
        """Return the mean seconds of a method on a pair."""
        return float(np.mean([row["seconds"] for row in self.rows[method]]))


def measure(methods: Mapping[str, Method], pairs: Pairs, setting: Setting, title: str) -> Measured:
    """Measure methods on pairs; results in the ledger are reused."""
    ledger = Ledger(setting.work / "measured.jsonl")
    keys = {name: method.key for name, method in methods.items()}
    tasks, order = [], []
    for i, pair in enumerate(pairs):
        place = f"{pair.source.fingerprint} {pair.target.fingerprint}"
        order.append(place)
        missing = {
            keys[name]: method
            for name, method in methods.items()
            if (keys[name], place) not in ledger
        }
        if missing or ("before", place) not in ledger:
            tasks.append((i, place, missing))
    work = (
        (pairs[i], pairs[(i + 1) % len(pairs)], place, missing, setting.label_counts, setting.seed)
        for i, place, missing in tasks
    )
    executor = Executor(setting.n_jobs, setting.cluster)
    with (
        setting.timed(title),
        progress_bar(len(tasks), title, shown=setting.progress) as advance,
    ):
        for place, found in executor.map(_measured, work):
            for key, row in found.items():
                ledger.add(key, place, row)
            advance(title)
    before = [ledger["before", place] for place in order]
    counts = max((tuple(row["label_counts"]) for row in before), key=len)
    table = np.full((len(order), len(counts)), np.nan)
    for i, row in enumerate(before):
        table[i, : len(row["accuracy"])] = row["accuracy"]
    return Measured(
        counts,
        tuple((row["source"], row["target"]) for row in before),
        table,
        {name: [ledger[key, place] for place in order] for name, key in keys.items()},
    )


def p_values(ours: Array, theirs: Array) -> Array:
    """Return two-sided paired t-tests (counts,) of ratios (pairs, counts)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # identical ratios
        return np.asarray(ttest_rel(ours, theirs, axis=0, nan_policy="omit").pvalue, dtype=float)


def _measured(
    task: tuple[DomainPair, DomainPair, str, Mapping[str, Method], tuple[int, ...], int],
) -> tuple[str, dict[str, dict[str, Any]]]:
    pair, other, place, methods, label_counts, seed = task
    trial = Trial(pair, other, seed, label_counts)
    found: dict[str, dict[str, Any]] = {
        "before": {
            "label_counts": list(trial.before.label_counts),
            "accuracy": trial.before.mean.tolist(),
            "source": pair.source.name,
            "target": pair.target.name,
        }
    }
    with few_threads((len(pair.source) + len(pair.target)) * pair.n_features):
        for key, method in methods.items():
            found[key] = method.measure(trial)
    return place, found
