"""Methods that are measured on a pair: base algorithms, the paper's method, L2T, and all algorithms."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from typing import Any, Literal, Protocol

import numpy as np

from l2t import algorithms
from l2t.algorithms.base import fit_quietly
from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.experiences import evaluate, improvement_ratio
from l2t.experiences.evaluation import LABEL_COUNTS, labeled_draws, nearest_accuracy
from l2t.forecast import Forecast
from l2t.inference import infer
from l2t.inference.candidates import candidate_algorithms, fit_candidates
from l2t.inference.choice import choose
from l2t.numerics import few_threads, squared_distances
from l2t.paper import Reflection, ReflectionFunction
from l2t.paper.plan import Plan
from l2t.paper.starts import Starts
from l2t.rehearsal import rehearse
from l2t.task import Task
from l2t.typing import AnyArray, Array

__all__ = ["L2T", "Base", "Exhaustive", "Method", "PaperMethod", "Source", "Trial"]

#: What takes the place of the source: Gaussian noise with its means, variances and labels; the source of
#: another pair; the target's own rows without labels, from which there is nothing to learn; or the source
#: with its labels permuted.
Source = Literal["itself", "noise", "another", "none", "permuted"]

#: What a choice of L2T rests on beside the code.
FORECAST = files("l2t.forecast").joinpath("forecast.json")


class Trial:
    """A testing pair, with a cache of algorithms fitted to it.

    Parameters
    ----------
    pair : DomainPair
        The pair; its target has labels for evaluation.
    other : DomainPair
        Another pair, whose source may be used.
    seed : int
        The seed of the draws of labelled rows.
    label_counts : sequence of int
        How many rows are labelled.
    """

    def __init__(
        self,
        pair: DomainPair,
        other: DomainPair,
        seed: int,
        label_counts: Sequence[int] = LABEL_COUNTS,
    ) -> None:
        self.pair, self._other, self._seed = pair, other, seed
        self._fitted: dict[str, tuple[AnyArray, float]] = {}
        self._pairs: dict[Source, DomainPair] = {}
        self.before = evaluate(
            pair.target.X,
            pair.target.codes,
            label_counts=label_counts,
            groups=pair.target.group_codes,
            random_state=seed,
        )

    def ratios(self, Z: AnyArray) -> Array:
        """Return the improvement ratios (counts,) of the target's rows in another representation."""
        target, before = self.pair.target, self.before
        after = evaluate(
            Z,
            target.codes,
            label_counts=before.label_counts,
            groups=target.group_codes,
            random_state=self._seed,
        )
        return improvement_ratio(before.mean, after.mean, before.n_test)

    def fitted(
        self, name: str, params: Mapping[str, Any], source: Source = "itself"
    ) -> tuple[AnyArray, float]:
        """Return an algorithm's W, and the seconds that it took."""
        key = _digest([name, dict(params), source])
        if key not in self._fitted:
            start = time.perf_counter()
            W = fit_quietly(algorithms.make(name, **params), self.unlabelled(source)).W
            self._fitted[key] = W, time.perf_counter() - start
        return self._fitted[key]

    def unlabelled(self, source: Source) -> DomainPair:
        """Return the pair without target labels, with something in place of its source; the same each time.

        What is fitted to it shares its joint span.
        """
        if source not in self._pairs:
            self._pairs[source] = self._make_unlabelled(source)
        return self._pairs[source]

    def _make_unlabelled(self, source: Source) -> DomainPair:
        own, target = self.pair.source, Domain(self.pair.target.X, name=self.pair.target.name)
        if source == "another":
            own = self._other.source
        elif source == "noise":
            X = own.X.astype(np.float64)
            noise = np.random.default_rng(0).standard_normal(X.shape)
            own = Domain(noise * X.std(axis=0) + X.mean(axis=0), own.y, name="noise")
        elif source == "none":
            own = Domain(target.X, name="no source")
        elif source == "permuted":
            codes = np.random.default_rng(0).permutation(own.codes)
            own = Domain(own.X, codes, name="permuted labels")
        return DomainPair(own, target)


class Method(Protocol):
    """Something that can be measured on a pair."""

    @property
    def key(self) -> str:
        """A key that identifies the method, whatever its displayed name."""
        ...

    def measure(self, trial: Trial) -> dict[str, Any]:
        """Return plain values; lists have an entry for each label count of the trial."""
        ...


@dataclass(frozen=True)
class Base:
    """A base algorithm with its parameters."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Name and parameters."""
        return f"{self.name} {json.dumps(dict(self.params), sort_keys=True)}"

    def measure(self, trial: Trial) -> dict[str, Any]:
        """Return the ratios."""
        W, seconds = trial.fitted(self.name, self.params)
        return {"ratio": trial.ratios(trial.pair.target.X @ W).tolist(), "seconds": seconds}


@dataclass(frozen=True, eq=False)
class PaperMethod:
    """The paper's method: the W that conjugate gradient finds on f is always used.

    Attributes
    ----------
    reflection : ReflectionFunction or ConvexReflection
        The function.
    plan : Plan
        How W is searched.
    source : {"itself", "noise", "another", "none", "permuted"}
        What takes the place of the source.
    starts : sequence of str, optional
        The base algorithms from whose W the search may begin, beside PCA; those of `infer` by default.
    past : KnownClasses, optional
        Labelled targets of the past, in whose geometry W is searched.
    """

    reflection: Reflection
    plan: Plan = field(default_factory=Plan)
    source: Source = "itself"
    starts: tuple[str, ...] | None = None
    past: KnownClasses | None = None

    @property
    def key(self) -> str:
        """A digest of everything that W depends on."""
        f, bank = self.reflection, self.reflection.kernels
        if isinstance(f, ReflectionFunction):
            of_f = [f.beta.tolist(), [f.lambda_, f.mu, f.n_neighbors, f.q_mode]]
        else:
            weights = f.term_weights
            variance = np.asarray(weights.variance).tolist()
            of_f = [weights.mmd.tolist(), variance, weights.discriminant.tolist(), f.n_neighbors]
        parts = [
            *of_f,
            [bank.first, bank.last, bank.step],
            asdict(self.plan),
            self.source,
            *([] if self.starts is None else [self.starts]),
            *([] if self.past is None else [self.past.fingerprint]),
        ]
        return f"paper {_digest(parts)}"

    def measure(self, trial: Trial) -> dict[str, Any]:
        """Return the ratios."""
        start = time.perf_counter()
        pair, options = trial.unlabelled(self.source), {"n_components": self.plan.sizes[-1]}
        starts: Starts | None = None
        if self.starts is not None:
            starts = {name: trial.fitted(name, options, self.source)[0] for name in self.starts}
        found = infer(
            pair, self.reflection, method="paper", plan=self.plan, starts=starts, known=self.past
        ).search
        seconds = time.perf_counter() - start
        assert found is not None  # the method is the paper's
        return {
            "ratio": trial.ratios(trial.pair.target.X @ found.W).tolist(),
            "seconds": seconds,
            "start": found.start,
            "predicted": found.explanation.predicted,
        }


@dataclass(frozen=True, eq=False)
class L2T:
    """L2T with its defaults: its choice at each number of labels, without labelled rows as evidence.

    Attributes
    ----------
    past : KnownClasses, optional
        Labelled targets of the past, beside the source's own classes.
    source : {"itself", "noise", "another", "none", "permuted"}
        What takes the place of the source.
    """

    past: KnownClasses | None = None
    source: Source = "itself"

    @property
    def key(self) -> str:
        """A digest of everything that the choice depends on, with the forecast that ships."""
        forecast = hashlib.sha256(FORECAST.read_bytes()).hexdigest()
        return f"l2t {_digest([forecast, self.past and self.past.fingerprint, self.source])}"

    def measure(self, trial: Trial) -> dict[str, Any]:
        """Return the ratios of the choice and of all candidates, choices, predictions and intervals.

        As `infer` at each number of labels, but computations that do not depend on that number are done once.
        """
        start = time.perf_counter()
        target, pair = trial.pair.target, trial.unlabelled(self.source)
        n_classes, forecast = len(target.classes), Forecast.default()
        task = Task.of([pair.source], pair.target, n_classes=n_classes)
        pair = DomainPair(task.sources[0], task.target)  # its joint span belongs to the time
        algorithms = candidate_algorithms(None, 0)
        with few_threads((len(pair.source) + len(target)) * target.n_features):
            known = task.known_classes([] if self.past is None else [self.past])
            rehearsal = rehearse(
                known,
                {name: each for name, each in algorithms.items() if name != "identity"},
                n_classes=n_classes,
                rows_per_class=max(len(target) // n_classes, 1),
            )
            factors, failed = fit_candidates(algorithms, pair, known, 0)
            seconds = time.perf_counter() - start
            settings = (factors, failed, rehearsal, known, forecast, None)
            found = [
                choose(replace(task, n_labels=count), *settings)
                for count in trial.before.label_counts
            ]
            ratios = {name: trial.ratios(target.X @ W).tolist() for name, W in factors.items()}
        intervals = [each.interval or (float("nan"), float("nan")) for each in found]
        return {
            "ratio": [ratios[each.choice][at] for at, each in enumerate(found)],
            "candidates": ratios,
            "choice": [each.choice for each in found],
            "predicted": [each.predicted for each in found],
            "low": [low for low, _ in intervals],
            "high": [high for _, high in intervals],
            "seconds": seconds,
        }


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

    def measure(self, trial: Trial) -> dict[str, Any]:
        """Return the ratios of the pick by labelled rows, and of the pick by test rows."""
        fitted = [trial.fitted(base.name, base.params) for base in self.bases]
        X, codes, before = trial.pair.target.X, trial.pair.target.codes, trial.before
        distances = [squared_distances(np.asarray(X @ W, dtype=np.float64)) for W, _ in fitted]
        picked, best = [], []
        for count, plain in zip(before.label_counts, before.mean, strict=True):
            scores: list[tuple[float, float]] = []
            for rows in labeled_draws(codes, count):
                test = np.delete(np.arange(len(codes)), rows)
                alone = [_leave_one_out(D, codes, rows) for D in distances]
                right = [nearest_accuracy(D, codes, rows, test) for D in distances]
                scores.append((right[int(np.argmax(alone))], max(right)))
            means = np.mean(scores, axis=0) / plain
            picked.append(float(means[0]))
            best.append(float(means[1]))
        return {"ratio": picked, "best": best, "seconds": sum(taken for _, taken in fitted)}


def _leave_one_out(D: Array, codes: AnyArray, rows: AnyArray) -> float:
    """Return the accuracy of 1-NN on labelled rows, each left out in turn."""
    among = D[np.ix_(rows, rows)]
    np.fill_diagonal(among, np.inf)
    return float(np.mean(codes[rows][among.argmin(axis=1)] == codes[rows]))


def _digest(parts: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
