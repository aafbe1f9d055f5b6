"""What is measured on a pair: base algorithms, L2T in its variants, and running everything."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from l2t import algorithms
from l2t.domains import Domain, DomainPair
from l2t.exceptions import L2TWarning
from l2t.experiences.evaluation import labeled_draws, nearest_accuracy
from l2t.inference import PastTargets
from l2t.inference.search import Prepared
from l2t.inference.trials import Trial, without_labels
from l2t.numerics import fingerprint, squared_distances
from l2t.reflection import ReflectionFunction
from l2t.reflection.plan import Plan, nearest_plan
from reproduction.verdicts import leave_one_out_accuracy

__all__ = ["Base", "Exhaustive", "Method", "Search", "Tried"]

Source = Literal["itself", "noise", "another", "none"]


class Tried:
    """A testing pair with what was fitted to it already."""

    def __init__(self, pair: DomainPair, other: DomainPair, trial: Trial) -> None:
        self.pair, self.other, self.trial = pair, other, trial
        self._fitted: dict[str, tuple[npt.NDArray[Any], float]] = {}

    def fitted(self, name: str, params: Mapping[str, Any]) -> tuple[npt.NDArray[Any], float]:
        """Return the target under an algorithm's W, and the seconds that it took."""
        key = _digest([name, dict(params)])
        if key not in self._fitted:
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", L2TWarning)  # clipped components are expected here
                factors = algorithms.make(name, **params).fit(self.pair)
            taken = time.perf_counter() - start
            self._fitted[key] = factors.transform(self.pair.target), taken
        return self._fitted[key]


class Method(Protocol):
    """Something that can be measured on a pair."""

    @property
    def key(self) -> str:
        """What tells it from every other method, however it is called."""
        ...

    def measure(self, tried: Tried) -> dict[str, Any]:
        """Return plain values; lists have an entry for each label count of the trial."""
        ...


@dataclass(frozen=True)
class Base:
    """A base algorithm with its parameters at each label count."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Name and parameters."""
        return f"{self.name} {json.dumps(dict(self.params), sort_keys=True)}"

    def measure(self, tried: Tried) -> dict[str, Any]:
        """Return the ratios."""
        Z, seconds = tried.fitted(self.name, self.params)
        return {"ratio": tried.trial.ratios(Z).tolist(), "seconds": seconds}


@dataclass(frozen=True, eq=False)
class Search:
    """L2T with a reflection function.

    Attributes
    ----------
    reflection : ReflectionFunction
        The function, with its plans and its rule.
    plans : pairs of label count and Plan, optional
        Instead of the function's own.
    past : PastTargets, optional
        Labelled targets of the past.
    source : {"itself", "noise", "another", "none"}
        What stands for the source: Gaussian noise with its mean and covariance's diagonal, the source of
        another pair, or the target's own rows, between which and the target there is nothing to see.
    """

    reflection: ReflectionFunction
    plans: tuple[tuple[int, Plan], ...] = ()
    past: PastTargets | None = None
    source: Source = "itself"

    @property
    def key(self) -> str:
        """A digest of everything that W and the verdict depend on."""
        f, bank = self.reflection, self.reflection.kernels
        parts = [
            f.beta.tolist(),
            [f.lambda_, f.mu, f.b, f.n_neighbors, f.q_mode],
            [bank.first, bank.last, bank.step],
            asdict(f.rule),
            None if f.calibration is None else f.calibration.quantiles.tolist(),
            [[count, asdict(plan)] for count, plan in self.plans or f.plans],
            None if self.past is None else fingerprint(self.past.T),
            self.source,
        ]
        return f"l2t {_digest(parts)}"

    def measure(self, tried: Tried) -> dict[str, Any]:
        """Return ratios, predictions and verdicts, each draw of labelled rows deciding for itself."""
        seen, trial, f = without_labels(self._given(tried)), tried.trial, self.reflection
        plans = self.plans or f.plans
        start = time.perf_counter()
        prepared = Prepared(seen, f, past=self.past)
        found = {
            plan: prepared.infer(plan, None)
            for plan in dict.fromkeys(nearest_plan(plans, n) for n in trial.label_counts)
        }
        seconds = (time.perf_counter() - start) / len(found)
        told: dict[str, Any] = {"seconds": seconds}
        for count in trial.label_counts:
            inferred = found[nearest_plan(plans, count)]
            predicted = f.predict(inferred.statistics, count)
            worth = trial.outcome(inferred.W, predicted, f.rule, count)
            row = {
                "ratio": worth.ratio,
                "always": worth.always,
                "transferred": worth.transferred,
                "right": worth.right,
                "refused_rightly": worth.refused_rightly,
                "predicted": predicted,
            }
            if f.calibration is not None:
                row["low"], row["high"] = f.interval(inferred.statistics, count)
            for name, value in row.items():
                told.setdefault(name, []).append(value)
        return told

    def _given(self, tried: Tried) -> DomainPair:
        source, target = tried.pair.source, tried.pair.target
        if self.source == "noise":
            X = source.X.astype(np.float64)
            rng = np.random.default_rng(0)
            noise = rng.standard_normal(X.shape) * X.std(axis=0) + X.mean(axis=0)
            return DomainPair(Domain(noise), target)
        if self.source == "another":
            return DomainPair(tried.other.source, target)
        return tried.pair if self.source == "itself" else DomainPair(Domain(target.X), target)


@dataclass(frozen=True)
class Exhaustive:
    """All base algorithms, and the one that is best on the labelled rows (or on the test rows).

    At each draw of labelled rows the algorithm with the best leave-one-out 1-NN on them is taken, the first
    of equals; where a class has one row that is nearly a blind choice.
    """

    bases: tuple[Base, ...]

    @property
    def key(self) -> str:
        """The algorithms with their parameters."""
        return "exhaustive " + _digest([base.key for base in self.bases])

    def measure(self, tried: Tried) -> dict[str, Any]:
        """Return the ratios of the pick by labelled rows, and of the pick by test rows."""
        fitted = [tried.fitted(base.name, base.params) for base in self.bases]
        codes, trial = tried.pair.target.codes, tried.trial
        distances = [squared_distances(np.asarray(Z, dtype=np.float64)) for Z, _ in fitted]
        picked, best = [], []
        for at, count in enumerate(trial.label_counts):
            scores: list[tuple[float, float]] = []
            for rows in labeled_draws(codes, count):
                test = np.delete(np.arange(len(codes)), rows)
                alone = [leave_one_out_accuracy(D, codes, rows) for D in distances]
                right = [nearest_accuracy(D, codes, rows, test) for D in distances]
                scores.append((right[int(np.argmax(alone))], max(right)))
            means = np.mean(scores, axis=0) / trial.accuracy_before[at]
            picked.append(float(means[0]))
            best.append(float(means[1]))
        return {"ratio": picked, "best": best, "seconds": sum(taken for _, taken in fitted)}


def _digest(parts: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
