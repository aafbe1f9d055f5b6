"""The agent over a stream of pairs: what its suggestions were worth, and what learning from them cost.

Every pair comes once, with a number of labels. The agent is asked, which uses no label of the target, and
told what its W did, whatever its verdict; from then on the target's labels are known to it. One base
algorithm, a random one, is observed on the pair as well, as people do who compare.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from l2t import algorithms
from l2t.agent import Agent
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.experiences import ExperienceStore, FunctionVersion, improvement_ratio
from l2t.experiences.evaluation import evaluate
from l2t.inference import PastTargets, infer
from l2t.inference.trials import without_labels
from l2t.progress import progress_bar
from l2t.reflection import ReflectionFunction
from l2t.typing import Array

__all__ = ["LABEL_COUNTS", "Stream", "measure_stream", "ratios_of"]


#: The numbers of labels that pairs of a stream have by turns.
LABEL_COUNTS = (3, 15, 30)


@dataclass(frozen=True, eq=False)
class Stream:
    """What happened on each pair of a stream, in order.

    Attributes
    ----------
    ratio : array of shape (pairs,)
        What people got: the ratio of W where the verdict was to transfer, 1 elsewhere.
    always : array of shape (pairs,)
        The ratio of W whatever the verdict.
    predicted, low, high : arrays of shape (pairs,)
        What was predicted, with its interval; NaN where nothing had been learned yet.
    version : array of shape (pairs,)
        The version of the function that was asked.
    runs, seconds : arrays of shape (refinements,)
        How many runs had been taken in when the agent refined its function, and the processor's time for
        each run that was new: telling, and refining.
    versions : list of FunctionVersion
        All versions.
    """

    ratio: Array
    always: Array
    predicted: Array
    low: Array
    high: Array
    version: Array
    runs: Array
    seconds: Array
    versions: list[FunctionVersion]

    def running_mean(self, window: int | None = None) -> Array:
        """Return the mean ratio up to each pair; over the last `window` pairs, if told."""
        sums = np.r_[0.0, np.cumsum(self.ratio)]
        ends = np.arange(1, len(sums))
        starts = np.zeros_like(ends) if window is None else np.maximum(ends - window, 0)
        return np.asarray((sums[ends] - sums[starts]) / (ends - starts))

    @property
    def coverage(self) -> float:
        """The share of measured ratios inside their 90 % intervals."""
        known = np.isfinite(self.low)
        inside = (self.low <= self.always) & (self.always <= self.high)
        return float(inside[known].mean()) if known.any() else np.nan


def measure_stream(
    pairs: Sequence[DomainPair],
    store: ExperienceStore,
    *,
    reflection: ReflectionFunction | str | Path | None = None,
    label_counts: Sequence[int] = LABEL_COUNTS,
    refine_every: int = 20,
    random_state: int = 0,
    progress: bool = True,
) -> Stream:
    """Let an agent go through pairs whose targets carry labels for scoring."""
    # Refined here, so that it can be timed.
    agent = Agent(store, reflection=reflection, refine_every=10**9, random_state=random_state)
    rng = np.random.default_rng(random_state)
    names = algorithms.names()
    rows: list[tuple[float, ...]] = []
    costs: list[tuple[float, float]] = []
    told, spent = 0, 0.0
    with progress_bar(len(pairs), "asking", shown=progress) as advance:
        for i, pair in enumerate(pairs):
            count = label_counts[i % len(label_counts)]
            suggestion = agent.ask(pair, count)
            before, after = _accuracies(pair, suggestion.W, count)
            worth = float(improvement_ratio(before, after, len(pair.target) - count))
            used = suggestion.verdict == "transfer"
            low, high = suggestion.interval or (np.nan, np.nan)
            expected = np.nan if suggestion.predicted is None else suggestion.predicted
            rows.append((worth if used else 1.0, worth, expected, low, high, suggestion.version))
            start = time.process_time()
            agent.tell(suggestion, before, after)
            spent += time.process_time() - start
            name = names[int(rng.integers(len(names)))]
            told += 1 + _observe(agent, pair, name, count, before)
            if len(store.unused_runs(refine_every)) == refine_every:
                start = time.process_time()
                version = agent.refine()
                spent += time.process_time() - start
                if version is not None:
                    costs.append((float(version.n_runs), spent / told))
                    told, spent = 0, 0.0
            advance("asking")
    ratio, always, predicted, low, high, version_of_pair = np.array(rows).T
    runs, seconds = np.array(costs).reshape(-1, 2).T
    said = (predicted, low, high, version_of_pair)
    return Stream(ratio, always, *said, runs, seconds, agent.versions())


def ratios_of(
    function: ReflectionFunction,
    pairs: Sequence[DomainPair],
    label_counts: Sequence[int] = LABEL_COUNTS,
    *,
    past: PastTargets | None = None,
    first: int = 0,
    random_state: int = 0,
    progress: bool = True,
) -> Array:
    """Return what people get with a fixed function and past on pairs of a stream, from pair `first` on."""
    ratios = []
    with progress_bar(len(pairs), "comparing", shown=progress) as advance:
        for i, pair in enumerate(pairs, start=first):
            count = label_counts[i % len(label_counts)]
            found = infer(
                without_labels(pair),
                function,
                n_labels=count,
                past=past,
                random_state=random_state,
            )
            before, after = _accuracies(pair, found.W, count)
            worth = float(improvement_ratio(before, after, len(pair.target) - count))
            ratios.append(worth if found.verdict == "transfer" else 1.0)
            advance("comparing")
    return np.array(ratios)


def _observe(agent: Agent, pair: DomainPair, name: str, count: int, before: float) -> int:
    """Let the agent observe a base algorithm; 0 where that cannot be run on the pair."""
    try:
        factors = algorithms.make(name).fit(without_labels(pair))
    except InvalidInputError:
        return 0
    agent.observe(pair, factors, before, _accuracies(pair, factors.W, count)[1], count)
    return 1


def _accuracies(pair: DomainPair, W: npt.NDArray[np.floating], count: int) -> tuple[float, float]:
    target = pair.target
    found = [
        float(evaluate(Z, target.codes, label_counts=(count,)).mean[0])
        for Z in (target.X, target.X @ W)
    ]
    return found[0], found[1]
