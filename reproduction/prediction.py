"""How well the reflection function predicts the ratios of pairs whose classes it has never met."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest, spearmanr

from l2t.experiences import Experience, ExperienceStore
from l2t.experiences.collection import collect
from l2t.reflection import ReflectionFunction, learn, restated
from l2t.statistics import KernelBank, PairStatistics
from l2t.typing import Array
from reproduction.families import Pairs

__all__ = ["ABLATIONS", "Coverage", "PredictionStudy", "measure_prediction"]


#: Label counts over which a run's actual ratio is averaged.
MEASURED_AT = (3, 15, 30)
#: Neighbours of tau to choose from, on held-out training pairs.
NEIGHBORS = (5, 10, 20, 40)
ABLATIONS: dict[str, tuple[str, ...]] = {
    "no MMD": ("variance", "discriminant"),
    "no variance": ("mmd", "discriminant"),
    "no discriminant": ("mmd", "variance"),
    "MMD alone": ("mmd",),
    "variance alone": ("variance",),
    "discriminant alone": ("discriminant",),
}
BANKS = {
    "2^-2 ... 2^2": KernelBank(-2, 2, 0.5),
    "2^-4 ... 2^4": KernelBank(-4, 4, 0.5),
    "2^-8 ... 2^8, steps of 2": KernelBank(-8, 8, 2),
}


@dataclass(frozen=True)
class Coverage:
    """How many fresh pairs an interval covered at one number of labels; None: at one a pair, by turns."""

    n_labels: int | None
    covered: int
    pairs: int
    level: float

    @property
    def agrees(self) -> bool:
        """Whether the share agrees with the level (exact binomial test, 5 %)."""
        return bool(binomtest(self.covered, self.pairs, self.level).pvalue > 0.05)


@dataclass(frozen=True, eq=False)
class PredictionStudy:
    """What was measured.

    Attributes
    ----------
    reflection : ReflectionFunction
        Learned from the training pairs with everything on.
    rank_correlations : mapping
        Spearman between predicted and actual ratio, pooled over runs of testing pairs, by ablation.
    within : mapping
        The same within a pair, averaged over pairs.
    predicted, actual, algorithms : arrays, one entry a run
        The points behind the first of them.
    coverage : tuple of Coverage
        Of 90 % intervals, one fresh pair a run.
    n_train, n_test : int
        Runs learned from and tested on.
    """

    reflection: ReflectionFunction
    rank_correlations: Mapping[str, float]
    within: Mapping[str, float]
    predicted: Array
    actual: Array
    algorithms: tuple[str, ...]
    coverage: tuple[Coverage, ...]
    n_train: int
    n_test: int


def measure_prediction(
    train: Pairs,
    test: Pairs,
    fresh: Pairs,
    stores: Sequence[ExperienceStore],
    *,
    n_jobs: int = 1,
    level: float = 0.9,
    progress: bool = True,
) -> PredictionStudy:
    """Collect, learn and predict.

    Parameters
    ----------
    train, test : Pairs
        All eight algorithms are run on these.
    fresh : Pairs
        One random algorithm is run on each of these, for the coverage of intervals.
    stores : three stores
        For the runs of each; what they have already is not done again.
    n_jobs : int
        Local processes.
    level : float
        Of the intervals.
    progress : bool
        Whether to show progress bars.
    """
    for pairs, store, one in zip((train, test, fresh), stores, (False, False, True), strict=True):
        collect(pairs, store, one_per_pair=one, n_jobs=n_jobs, progress=progress)
    collected = list(stores[0].experiences(status="done"))
    reflection = learn(collected, n_neighbors=NEIGHBORS, store=stores[0])
    r = reflection.n_neighbors
    # From here on all statistics are those of the neighbours that were chosen.
    experiences = list(restated(collected, stores[0], n_neighbors=r))
    tested, fresh_runs = (
        list(restated(store.experiences(status="done"), store, n_neighbors=r))
        for store in stores[1:]
    )
    runs = _runs(tested)
    functions = {"all three": reflection}
    for name, components in ABLATIONS.items():
        functions[name] = learn(experiences, components=components)
    for name, bank in BANKS.items():
        functions[name] = learn(experiences, kernels=bank)
    correlations, within = {}, {}
    for name, function in functions.items():
        scores = _scores(function, runs)
        correlations[name], within[name] = _pooled(*scores[:2]), _within(*scores)
    predicted, actual, _ = _scores(reflection, runs)
    return PredictionStudy(
        reflection,
        correlations,
        within,
        predicted,
        actual,
        tuple(run.algorithm for run in runs),
        _coverage(reflection, fresh_runs, level),
        len({each.run_key for each in experiences}),
        len(runs),
    )


@dataclass(frozen=True, eq=False)
class _TestedRun:
    algorithm: str
    pair: tuple[str, str]
    statistics: PairStatistics
    ratio: float


def _runs(experiences: Iterable[Experience]) -> list[_TestedRun]:
    """Return runs with their ratio averaged over `MEASURED_AT`."""
    found: dict[str, list[Experience]] = {}
    for each in experiences:
        if each.n_labels in MEASURED_AT:
            found.setdefault(each.run_key, []).append(each)
    runs = []
    for rows in found.values():
        first = rows[0]
        assert first.statistics is not None
        ratio = float(np.mean([row.improvement_ratio for row in rows]))
        pair = (first.source, first.target)
        runs.append(_TestedRun(first.algorithm, pair, first.statistics, ratio))
    return runs


def _scores(
    function: ReflectionFunction, runs: Sequence[_TestedRun]
) -> tuple[Array, Array, list[tuple[str, str]]]:
    bank = function.kernels
    predicted = [function.predict(run.statistics.restrict(bank)) for run in runs]
    return np.array(predicted), np.array([run.ratio for run in runs]), [run.pair for run in runs]


def _pooled(predicted: Array, actual: Array) -> float:
    """Return Spearman's rank correlation; 0 where all predictions are the same."""
    if np.ptp(predicted) < 1e-9:
        return 0.0
    return float(spearmanr(predicted, actual).statistic)


def _within(predicted: Array, actual: Array, pairs: Sequence[tuple[str, str]]) -> float:
    places: dict[tuple[str, str], list[int]] = {}
    for i, pair in enumerate(pairs):
        places.setdefault(pair, []).append(i)
    return float(np.mean([_pooled(predicted[at], actual[at]) for at in places.values()]))


def _coverage(
    function: ReflectionFunction, experiences: Iterable[Experience], level: float
) -> tuple[Coverage, ...]:
    covered: dict[str, dict[int, bool]] = {}
    for each in experiences:
        assert each.statistics is not None
        assert each.n_labels is not None
        low, high = function.interval(each.statistics, each.n_labels, level=level)
        covered.setdefault(each.run_key, {})[each.n_labels] = low <= each.improvement_ratio <= high
    counts = sorted({count for run in covered.values() for count in run})
    found = []
    for count in counts:
        hits = [run[count] for run in covered.values() if count in run]
        found.append(Coverage(count, sum(hits), len(hits), level))
    # One test for all counts: each pair at one of them.
    turns = [list(run.values())[i % len(run)] for i, run in enumerate(covered.values())]
    return (*found, Coverage(None, sum(turns), len(turns), level))
