"""What the agent answers: its own W, or one that it can learn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from l2t.agent.exploring import base_factors, cheap_factors, upper_end
from l2t.domains import DomainPair
from l2t.inference import Inference, PastTargets, Step, infer
from l2t.inference.verdict import Verdict, decide, triple_vote
from l2t.numerics import fingerprint
from l2t.reflection import ReflectionFunction
from l2t.statistics import PairStatistics, pair_statistics

__all__ = ["Answer", "Explore", "answer"]

#: The probability of trying something else, or the acquisition rule.
Explore = float | Literal["upper"]


@dataclass(frozen=True, eq=False)
class Answer:
    """A W, where it comes from, and what to expect of it."""

    algorithm: str
    W: npt.NDArray[Any]
    statistics: PairStatistics
    predicted: float | None
    interval: tuple[float, float] | None
    verdict: Verdict
    reason: str
    inference: Inference | None = None


def answer(
    pair: DomainPair,
    n_labels: int | None,
    function: ReflectionFunction | None,
    past: PastTargets | None,
    explore: Explore,
    random_state: int,
    callback: Callable[[Step], None] | None = None,
) -> Answer:
    """Return what to suggest; what is random in it depends on the seed and the pair's rows alone."""
    sides = (int(fingerprint(side.X)[:16], 16) for side in (pair.source, pair.target))
    rng = np.random.default_rng([random_state, *sides])
    if function is None:
        name, W = base_factors(pair, rng, random_state)
        statistics = pair_statistics(pair, W, random_state=random_state)
        reason = "nothing has been learned yet, so base algorithms are tried by turns"
        return Answer(name, W, statistics, None, None, "transfer", reason)
    if explore != "upper" and rng.random() < explore:
        name, W = base_factors(pair, rng, random_state)
        return _expected(pair, name, W, n_labels, function, random_state)
    found = infer(
        pair, function, n_labels=n_labels, past=past, random_state=random_state, callback=callback
    )
    said = (found.predicted, found.interval, found.verdict, found.reason)
    own = Answer("l2t", found.W, found.statistics, *said, inference=found)
    if explore != "upper":
        return own
    others = [
        _expected(pair, name, W, n_labels, function, random_state)
        for name, W in cheap_factors(pair, random_state)
    ]
    return max((own, *others), key=lambda each: upper_end(function, each.statistics, n_labels))


def _expected(
    pair: DomainPair,
    name: str,
    W: npt.NDArray[Any],
    n_labels: int | None,
    function: ReflectionFunction,
    random_state: int,
) -> Answer:
    """Return what to expect of the W of a base algorithm."""
    bank, r = function.kernels, function.n_neighbors
    statistics = pair_statistics(pair, W, kernels=bank, n_neighbors=r, random_state=random_state)
    predicted = function.predict(statistics, n_labels)
    interval = function.interval(statistics, n_labels) if function.calibration else None
    verdict, reason = decide(function.rule, predicted, triple_vote(pair, W))
    return Answer(name, W, statistics, predicted, interval, verdict, reason)
