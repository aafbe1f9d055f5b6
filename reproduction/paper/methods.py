"""What is measured on a pair: base algorithms, the paper's method, L2T, and running everything."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from l2t import algorithms
from l2t.algorithms.base import fit_quietly
from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.experiences import evaluate, improvement_ratio
from l2t.experiences.evaluation import labeled_draws, nearest_accuracy
from l2t.inference import infer
from l2t.numerics import squared_distances
from l2t.reflection import ReflectionFunction
from l2t.reflection.plan import Plan
from l2t.typing import AnyArray, Array

__all__ = ["L2T", "Base", "Exhaustive", "Method", "PaperMethod", "Source", "Trial"]

#: What takes the place of the source: Gaussian noise with its means, variances and labels; the source of
#: another pair; or the target's own rows without labels, from which there is nothing to learn.
Source = Literal["itself", "noise", "another", "none"]


class Trial:
    """A testing pair, with what was fitted to it already.

    Parameters
    ----------
    pair : DomainPair
        The pair; its target carries labels for measuring.
    other : DomainPair
        Another pair, of which the source may be taken.
    seed : int
        The seed of the draws of labelled rows.
    """

    def __init__(self, pair: DomainPair, other: DomainPair, seed: int) -> None:
        self.pair, self._other, self._seed = pair, other, seed
        self._fitted: dict[str, tuple[AnyArray, float]] = {}
        self.before = evaluate(
            pair.target.X,
            pair.target.codes,
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

    def fitted(self, name: str, params: Mapping[str, Any]) -> tuple[AnyArray, float]:
        """Return the target under an algorithm's W, and the seconds that it took."""
        key = _digest([name, dict(params)])
        if key not in self._fitted:
            start = time.perf_counter()
            factors = fit_quietly(algorithms.make(name, **params), self.pair)
            taken = time.perf_counter() - start
            self._fitted[key] = factors.transform(self.pair.target), taken
        return self._fitted[key]

    def unlabelled(self, source: Source) -> DomainPair:
        """Return the pair without target labels, with something in place of its source."""
        own, target = self.pair.source, Domain(self.pair.target.X, name=self.pair.target.name)
        if source == "another":
            own = self._other.source
        elif source == "noise":
            X = own.X.astype(np.float64)
            noise = np.random.default_rng(0).standard_normal(X.shape)
            own = Domain(noise * X.std(axis=0) + X.mean(axis=0), own.y, name="noise")
        elif source == "none":
            own = Domain(target.X, name="no source")
        return DomainPair(own, target)


class Method(Protocol):
    """Something that can be measured on a pair."""

    @property
    def key(self) -> str:
        """What distinguishes it from every other method, whatever name it is shown under."""
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
        Z, seconds = trial.fitted(self.name, self.params)
        return {"ratio": trial.ratios(Z).tolist(), "seconds": seconds}


@dataclass(frozen=True, eq=False)
class PaperMethod:
    """The paper's method: the W that conjugate gradient finds on f is always used.

    Attributes
    ----------
    reflection : ReflectionFunction
        The function, in the paper's form.
    plan : Plan
        How W is searched.
    source : {"itself", "noise", "another", "none"}
        What takes the place of the source.
    """

    reflection: ReflectionFunction
    plan: Plan = field(default_factory=Plan)
    source: Source = "itself"

    @property
    def key(self) -> str:
        """A digest of everything that W depends on."""
        f, bank = self.reflection, self.reflection.kernels
        parts = [
            f.beta.tolist(),
            [f.lambda_, f.mu, f.n_neighbors, f.q_mode],
            [bank.first, bank.last, bank.step],
            asdict(self.plan),
            self.source,
        ]
        return f"paper {_digest(parts)}"

    def measure(self, trial: Trial) -> dict[str, Any]:
        """Return the ratios."""
        start = time.perf_counter()
        found = infer(
            trial.unlabelled(self.source), self.reflection, method="paper", plan=self.plan
        )
        seconds = time.perf_counter() - start
        assert found.search is not None  # the method is the paper's
        return {
            "ratio": trial.ratios(trial.pair.target.X @ found.search.W).tolist(),
            "seconds": seconds,
        }


@dataclass(frozen=True, eq=False)
class L2T:
    """L2T as it ships: its choice at each number of labels, with no labelled rows as evidence.

    Attributes
    ----------
    past : KnownClasses, optional
        Labelled targets of the past, beside the source's own classes.
    source : {"itself", "noise", "another", "none"}
        What takes the place of the source.
    """

    past: KnownClasses | None = None
    source: Source = "itself"

    @property
    def key(self) -> str:
        """A digest of what the choice depends on, beside the package itself."""
        return f"l2t {_digest([self.past and self.past.fingerprint, self.source])}"

    def measure(self, trial: Trial) -> dict[str, Any]:
        """Return ratios, choices, predictions and intervals."""
        target, pair = trial.pair.target, trial.unlabelled(self.source)
        ratios: dict[str, Array] = {}  # the W of a candidate does not depend on the label count
        rows: dict[str, list[Any]] = {
            name: [] for name in ("ratio", "choice", "predicted", "low", "high", "seconds")
        }
        for at, count in enumerate(trial.before.label_counts):
            start = time.perf_counter()
            found = infer(pair, n_labels=count, n_classes=len(target.classes), known=self.past)
            seconds = time.perf_counter() - start
            if found.choice not in ratios:
                ratios[found.choice] = trial.ratios(found.transform(target))
            low, high = found.interval or (float("nan"), float("nan"))
            row = (ratios[found.choice][at], found.choice, found.predicted, low, high, seconds)
            for values, value in zip(rows.values(), row, strict=True):
                values.append(value)
        return rows | {"seconds": rows["seconds"][0]}  # the first includes the rehearsal


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
        codes, before = trial.pair.target.codes, trial.before
        distances = [squared_distances(np.asarray(Z, dtype=np.float64)) for Z, _ in fitted]
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
