"""L2T beside the base algorithms on testing pairs: ratios by label count, with and without the verdict."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from l2t import algorithms
from l2t.domains import DomainPair
from l2t.exceptions import L2TWarning
from l2t.experiences.executors import choose_executor
from l2t.inference.search import infer
from l2t.inference.trials import Trial, without_labels
from l2t.progress import progress_bar
from l2t.reflection import ReflectionFunction
from l2t.typing import Array

__all__ = ["TransferStudy", "measure_transfer"]


@dataclass(frozen=True, eq=False)
class TransferStudy:
    """Ratios of L2T and of base algorithms over no transfer.

    Attributes
    ----------
    names : tuple of str
        The base algorithms.
    label_counts : tuple of int
        The label counts.
    base : array of shape (algorithms, pairs, counts)
        Accuracy with the algorithm over accuracy without transfer.
    l2t : array of shape (pairs, counts)
        The same for L2T as people use it: W where the verdict is to transfer, X elsewhere. Each draw of
        labelled rows votes for itself.
    always : array of shape (pairs, counts)
        The same for W whatever the verdict.
    transferred : array of shape (pairs, counts)
        The share of draws in which the verdict was to transfer.
    predicted : array of shape (pairs, counts)
        The ratio that was predicted for W.
    original : array of shape (pairs, counts)
        Accuracy without transfer.
    """

    names: tuple[str, ...]
    label_counts: tuple[int, ...]
    base: Array
    l2t: Array
    always: Array
    transferred: Array
    predicted: Array
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
    reflection: ReflectionFunction,
    *,
    names: Sequence[str] | None = None,
    label_counts: Sequence[int] = (3, 15, 30, 60, 120),
    n_draws: int = 10,
    n_jobs: int = 1,
    random_state: int = 0,
    progress: bool = True,
) -> TransferStudy:
    """Compare L2T with base algorithms on pairs whose targets carry labels for scoring."""
    chosen = tuple(algorithms.names() if names is None else names)
    counts = tuple(label_counts)
    tasks = (
        (i, pair, reflection, chosen, counts, n_draws, random_state) for i, pair in enumerate(pairs)
    )
    rows: dict[int, Array] = {}
    with progress_bar(len(pairs), "testing", shown=progress) as advance:
        for index, found in choose_executor(n_jobs, None).map(_measured, tasks):
            rows[index] = found
            advance("testing")
    table = np.stack([rows[i] for i in range(len(pairs))], axis=1)
    base, others = table[: len(chosen)], table[len(chosen) :]
    return TransferStudy(chosen, counts, base, *others)


def _measured(
    task: tuple[int, DomainPair, ReflectionFunction, tuple[str, ...], tuple[int, ...], int, int],
) -> tuple[int, Array]:
    """Return one pair's (algorithms + 5, counts)."""
    index, pair, reflection, names, counts, n_draws, seed = task
    trial = Trial(pair, counts, n_draws, seed)
    rows = np.full((len(names) + 5, len(counts)), np.nan)
    at = [counts.index(count) for count in trial.label_counts]
    for i, name in enumerate(names):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", L2TWarning)  # clipped components are expected here
            factors = algorithms.make(name, random_state=seed).fit(pair)
        rows[i, at] = trial.ratios(factors.transform(pair.target))
    seen = without_labels(pair)
    for i, count in zip(at, trial.label_counts, strict=True):
        found = infer(seen, reflection, n_labels=count, random_state=seed)
        worth = trial.outcome(found.W, found.predicted, reflection.rule, count)
        rows[len(names) : -1, i] = worth.ratio, worth.always, worth.transferred, found.predicted
    rows[-1, at] = trial.accuracy_before
    return index, rows
