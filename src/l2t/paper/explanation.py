"""Explanation of a prediction: its terms, its kernels, and the most similar past experiences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from l2t.experiences import Experience
from l2t.experiences.experience import TrainedOn
from l2t.paper.function import Reflection
from l2t.statistics import KernelBank, PairStatistics
from l2t.typing import Array

N_SIMILAR = 5
#: Measured ratios are averaged over label counts up to this one: with more labels all are near 1.
MOST_LABELS = 30
_TERMS = ("mmd", "variance", "discriminant")
_MEANING = {
    "mmd": "how far apart the domains are",
    "variance": "how uncertain that distance is",
    "discriminant": "how poorly W separates near from far target rows",
    "bias": "the same for every transfer",
}


@dataclass(frozen=True)
class PredictedRun:
    """A run with its predicted ratio and the mean of its measured ratios."""

    run_key: str
    algorithm: str
    source_name: str
    target_name: str
    predicted: float
    actual: float

    @classmethod
    def of(cls, rows: Sequence[Experience], predicted: float, **more: Any) -> Self:
        """Return the run of some experiences."""
        names = ("run_key", "algorithm", "source_name", "target_name")
        actual = float(np.mean([row.improvement_ratio for row in rows]))
        named = {name: getattr(rows[0], name) for name in names}
        return cls(**named, predicted=predicted, actual=actual, **more)


@dataclass(frozen=True)
class Neighbor(PredictedRun):
    """A past run and its distance: that of its terms, in standard deviations of past terms."""

    distance: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """A prediction split into its terms.

    Attributes
    ----------
    predicted : float
        The predicted improvement ratio.
    terms : dict of str to float
        The terms mmd, variance, discriminant and bias, whose sum is 1/f.
    by_kernel : dict of str to array of shape (K,)
        The first three terms by kernel; each sums to its term.
    weights : array of shape (K,)
        The weight of each kernel (beta in the paper's form), divided by their sum.
    kernels : KernelBank
        The kernels.
    nearest : tuple of Neighbor
        Past runs with the most similar terms, nearest first.
    """

    predicted: float
    terms: dict[str, float]
    by_kernel: dict[str, Array]
    weights: Array
    kernels: KernelBank
    nearest: tuple[Neighbor, ...]

    def __str__(self) -> str:
        total = round(sum(self.terms.values()), 5)
        shown = {name: round(term, 5) for name, term in self.terms.items()}
        # The largest term absorbs the rounding, so that the displayed terms add up.
        shown[max(shown, key=lambda name: shown[name])] += total - sum(shown.values())
        lines = [f"predicted improvement ratio {self.predicted:.3f}; 1/f is the sum of"]
        lines += [f"  {shown[name]:8.5f}  {name} ({_MEANING[name]})" for name in shown]
        lines.append(f"  {total:8.5f}  in total; 1 / {total:.5f} = {self.predicted:.3f}")
        if self.weights.any():
            widths = self.kernels.exponents[np.argsort(-self.weights)[:3]]
            lines.append(
                "kernels with the largest weights: bandwidths 2^"
                + ", 2^".join(f"{p:g}" for p in widths)
            )
        for neighbor in self.nearest:
            lines.append(
                f"  similar: {neighbor.algorithm} on {neighbor.source_name} -> {neighbor.target_name}: "
                f"predicted {neighbor.predicted:.3f}, measured {neighbor.actual:.3f}"
            )
        return "\n".join(lines)


def explain(
    function: Reflection,
    statistics: PairStatistics,
    n_labels: int | None,
    past: Iterable[Experience],
) -> Explanation:
    """Split a prediction into its terms and kernels, and find the most similar runs among `past`."""
    terms = function.terms(statistics)
    by_kernel, weights = function.by_kernel(statistics), function.kernel_weights
    weights = weights / weights.sum() if weights.any() else weights
    nearest = _nearest(function, terms, n_labels, past)
    predicted = function.predict(statistics, n_labels)
    return Explanation(predicted, terms, by_kernel, weights, function.kernels, nearest)


def by_run(experiences: Iterable[Experience], trained_on: TrainedOn) -> list[list[Experience]]:
    """Return the experiences of each finished run, of classifiers trained on `trained_on`."""
    runs: dict[str, list[Experience]] = {}
    for experience in experiences:
        done = (
            experience.statistics is not None
            and experience.n_labels is not None
            and experience.status == "done"
        )
        if done and experience.trained_on == trained_on:
            runs.setdefault(experience.run_key, []).append(experience)
    return list(runs.values())


def _nearest(
    function: Reflection,
    terms: dict[str, float],
    n_labels: int | None,
    past: Iterable[Experience],
) -> tuple[Neighbor, ...]:
    def is_comparable(n: int | None) -> bool:
        return n in (n_labels, 0) or (n_labels is None and n is not None and n <= MOST_LABELS)

    comparable = (experience for experience in past if is_comparable(experience.n_labels))
    runs, statistics = [], []
    for rows in by_run(comparable, function.trained_on):
        known = rows[0].statistics
        assert known is not None  # ensured by `by_run`
        if known.n_neighbors == function.n_neighbors:
            runs.append(rows)
            statistics.append(known.restrict(function.kernels))
    if not runs:
        return ()
    terms_of_runs = [function.terms(values) for values in statistics]
    table = np.array([[values[name] for name in _TERMS] for values in terms_of_runs])
    spread = table.std(axis=0)
    gaps = (table - [terms[name] for name in _TERMS]) / np.where(spread > 0, spread, 1.0)
    distances = np.linalg.norm(gaps, axis=1)
    return tuple(
        Neighbor.of(runs[i], function.predict(statistics[i], n_labels), distance=distances[i])
        for i in np.argsort(distances, kind="stable")[:N_SIMILAR]
    )
