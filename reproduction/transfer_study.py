"""L2T compared with base algorithms on pairs whose targets have labels: ratios by label count."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from l2t import algorithms
from l2t.algorithms.base import fit_quietly
from l2t.domains import Domain, DomainPair
from l2t.experiences import evaluate, improvement_ratio
from l2t.experiences.executors import Executor
from l2t.inference.inference import infer
from l2t.progress import progress_bar
from l2t.typing import Array


@dataclass(frozen=True, eq=False)
class TransferStudy:
    """Ratios of L2T and of base algorithms over no transfer."""

    names: tuple[str, ...]
    label_counts: tuple[int, ...]
    #: Accuracy with the algorithm over accuracy without transfer (algorithms, pairs, counts).
    base: Array
    #: The same for the candidate that L2T chose (pairs, counts).
    l2t: Array
    #: The ratio that was predicted for it (pairs, counts).
    predicted: Array
    #: Accuracy without transfer (pairs, counts).
    original: Array

    def mean(self, ratios: Array) -> Array:
        """Return the mean over pairs; NaN where no target was large enough for a count."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a mean of nothing
            return np.asarray(np.nanmean(ratios, axis=-2))

    def standard_error(self, ratios: Array) -> Array:
        """Return the standard error of the mean over pairs."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            spread = np.nanstd(ratios, axis=-2, ddof=1)
        return np.asarray(spread / np.sqrt(np.isfinite(ratios).sum(axis=-2).clip(1)))


def measure_transfer(
    pairs: Sequence[DomainPair],
    *,
    names: Sequence[str] = algorithms.PAPER,
    label_counts: Sequence[int] = (3, 15, 30, 60, 120),
    n_draws: int = 10,
    n_jobs: int = 1,
    random_state: int = 0,
    progress: bool = True,
    **options: Any,
) -> TransferStudy:
    """Compare L2T with base algorithms on pairs whose targets have labels for evaluation.

    Label counts, draws and the seed are those of `evaluate`; `options` are other arguments of `infer`.
    """
    chosen, counts = tuple(names), tuple(label_counts)
    tasks = [
        (i, pair, chosen, counts, n_draws, random_state, options) for i, pair in enumerate(pairs)
    ]
    rows: dict[int, Array] = {}
    with progress_bar(len(pairs), "testing", shown=progress) as advance:
        for index, found in Executor(n_jobs).map(_measured, tasks):
            rows[index] = found
            advance("testing")
    table = np.stack([rows[i] for i in range(len(pairs))], axis=1)
    return TransferStudy(chosen, counts, table[: len(chosen)], *table[len(chosen) :])


def _measured(
    task: tuple[int, DomainPair, tuple[str, ...], tuple[int, ...], int, int, dict[str, Any]],
) -> tuple[int, Array]:
    """Return one pair's ratios (algorithms + [L2T, predicted, accuracy before], counts)."""
    index, pair, names, counts, n_draws, seed, options = task
    target = pair.target

    def accuracies(Z: Any, wanted: Sequence[int]) -> Any:
        protocol: Any = {"n_draws": n_draws, "groups": target.group_codes, "random_state": seed}
        return evaluate(Z, target.codes, label_counts=wanted, **protocol)

    before = accuracies(target.X, counts)
    at = [counts.index(count) for count in before.label_counts]
    rows = np.full((len(names) + 3, len(counts)), np.nan)
    rows[-1, at] = before.mean
    for row, name in enumerate(names):
        factors = fit_quietly(algorithms.make(name, random_state=seed), pair)
        after = accuracies(factors.transform(target), before.label_counts)
        rows[row, at] = improvement_ratio(before.mean, after.mean, before.n_test)
    bare = Domain(target.X, name=target.name, prepared=target.prepared)
    unlabelled = DomainPair(pair.source, bare)
    settings = {"n_classes": len(target.classes), "random_state": seed} | options
    measured = zip(at, before.label_counts, before.mean, before.n_test, strict=True)
    for i, count, plain, n_test in measured:
        found = infer(unlabelled, n_labels=count, **settings)
        after = accuracies(found.transform(target), (count,))
        rows[-3, i] = improvement_ratio(plain, after.mean[0], n_test)
        rows[-2, i] = found.predicted
    return index, rows
