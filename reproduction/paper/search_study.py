"""A study of the settings of the paper's search, one at a time, on validation pairs alone."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.stats import spearmanr

from l2t.algorithms.base import Diagnostics, LatentFactors
from l2t.domains import DomainPair
from l2t.experiences import Experience, collect, open_store
from l2t.paper import ReflectionFunction
from l2t.paper.plan import Plan
from l2t.paper.search import search
from l2t.statistics import KernelBank, pair_statistics
from reproduction.paper.measuring import Measured, measure
from reproduction.paper.methods import Base, Method, PaperMethod, Trial
from reproduction.paper.section import Section, Table, mean, paragraph, standard_error
from reproduction.paper.study import ALGORITHMS, NEIGHBORS, Study

__all__ = ["search_study"]

#: Steps at which the function and the real ratio are compared along one search.
STEPS = (0, 1, 3, 10, 30)
#: Label counts that the tables show.
SHOWN = (3, 15, 30, 60, 120)
#: Training pairs on which the search practises.
PRACTICE = 40


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of the function for the W's of the base algorithms, and their ratios."""

    reflection: ReflectionFunction

    @property
    def key(self) -> str:
        """That of the paper's method with this function."""
        return f"predictions {PaperMethod(self.reflection).key}"

    def measure(self, trial: Trial) -> dict[str, Any]:
        """Return predictions and ratios at the fewest labels, one per algorithm."""
        start = time.perf_counter()
        f = self.reflection
        factors = [trial.fitted(name, {})[0] for name in ALGORITHMS]
        options: dict[str, Any] = {"kernels": f.kernels, "n_neighbors": f.n_neighbors}
        predicted = [f.predict(pair_statistics(trial.pair, W, **options)) for W in factors]
        ratios = [float(trial.ratios(trial.pair.target.X @ W)[0]) for W in factors]
        return {
            "predicted": predicted,
            "ratio": ratios,
            "seconds": time.perf_counter() - start,
        }


def _rank(predicted: Iterable[float], ratios: Iterable[float]) -> float:
    rank = float(spearmanr([*predicted], [*ratios]).statistic)
    return rank if np.isfinite(rank) else 0.0


@dataclass(frozen=True)
class Searched:
    """The W of the paper's search as an algorithm, so that it can be collected as experience."""

    reflection: ReflectionFunction
    plan: Plan
    name: ClassVar[str] = "searched"

    @property
    def params(self) -> dict[str, Any]:
        """How W is searched."""
        return asdict(self.plan)

    def fit(self, pair: DomainPair) -> LatentFactors:
        """Return the W of the search."""
        found = search(pair, self.reflection, self.plan)
        done = Diagnostics(found.history, len(found.history) - 1, found.stop_reason)
        return LatentFactors(found.W.copy(), "linear", self.name, done)


def search_study(study: Study) -> Section:
    """Vary the settings of the paper's method, each from its defaults, on validation pairs."""
    f = study.function
    steps = {n: PaperMethod(f, Plan(n_iter=n)) for n in STEPS}
    groups: dict[str, dict[str, Method]] = {
        "columns u": {f"u = {u}": PaperMethod(f, Plan(n_components=u)) for u in (5, 10, 40, 80)},
        "steps": {f"{n} steps": each for n, each in steps.items()},
        "start": dict(_starts(f)),
        "gauge": dict(_gauges(f)),
        "what f was learned with": {
            name: PaperMethod(function) for name, function in _functions(study).items()
        },
    }
    methods = {name: each for several in groups.values() for name, each in several.items()}
    bases: dict[str, Method] = {f"{name.upper()}, as it ships": Base(name) for name in ALGORITHMS}
    pairs = study.setting.pairs("validation", study.setting.sizes.varied)
    wanted = {**methods, **bases, "predictions": Predictions(f)}
    found = measure(wanted, pairs, study.setting, "the search on validation pairs")
    best, top = (max(of, key=lambda name: float(mean(found[name])[0])) for of in (bases, methods))
    along = [
        _rank([row["predicted"] for row in rows], [row["ratio"][0] for row in rows])
        for rows in zip(*(found.rows[f"{n} steps"] for n in STEPS), strict=True)
    ]
    across = [_rank(row["predicted"], row["ratio"]) for row in found.rows["predictions"]]
    taught = mean(found[f"runs of {study.teacher.upper()} alone"])
    shown = {group: [*several] for group, several in groups.items()}
    shown["base algorithms"] = [*bases]
    text = paragraph(
        "search_study",
        pairs=len(found.names),
        best=best.split(",")[0],
        best_ratio=mean(found[best])[0],
        top=top,
        top_ratio=mean(found[top])[0],
        default_ratio=mean(found["10 steps"])[0],
        ranks={"algorithms": np.mean(across), "steps": np.mean(along)},
        steps=STEPS,
        by_steps=[f"{mean(found[f'{n} steps'])[0]:.3f}" for n in STEPS],
        by_free_steps=[f"{mean(found[name])[0]:.3f}" for name in [*groups["gauge"]][:3]],
        orthonormal=mean(found["the best of all eight by f, no step"])[0],
        free=mean(found["free columns, the best of all eight by f, no step"])[0],
        teacher=study.teacher.upper(),
        taught=taught[0],
        better=int((taught > mean(found["10 steps"])).sum()),
        counts=len(taught),
        widths={
            "all": _width(f),
            "one": _width(study.from_one(study.teacher)),
        },
    )
    return Section("Why the paper's search is where it is", text, [_table(found, shown)])


def _width(f: ReflectionFunction) -> float:
    """Return the mean exponent of the kernels, weighted by beta."""
    return float(f.beta @ f.kernels.exponents / max(float(f.beta.sum()), 1e-300))


def _starts(f: ReflectionFunction) -> Mapping[str, PaperMethod]:
    every = tuple(ALGORITHMS)
    return {
        "from PCA alone": PaperMethod(f, starts=()),
        "from the best of all eight by f": PaperMethod(f, starts=every),
        "the best of all eight by f, no step": PaperMethod(f, Plan(n_iter=0), starts=every),
        "from the best of all eight by f, 1 step": PaperMethod(f, Plan(n_iter=1), starts=every),
        "from the best of all eight by f, 3 steps": PaperMethod(f, Plan(n_iter=3), starts=every),
        "from the best of all eight by f, u = 10, 3 steps": PaperMethod(
            f, Plan(n_components=10, n_iter=3), starts=every
        ),
    }


def _gauges(f: ReflectionFunction) -> Mapping[str, PaperMethod]:
    every = tuple(ALGORITHMS)
    return {
        "free columns (sphere), 1 step": PaperMethod(f, Plan("sphere", n_iter=1)),
        "free columns (sphere), 3 steps": PaperMethod(f, Plan("sphere", n_iter=3)),
        "free columns (sphere), 10 steps": PaperMethod(f, Plan("sphere")),
        "free columns, the best of all eight by f, no step": PaperMethod(
            f, Plan("sphere", n_iter=0), starts=every
        ),
        "free columns, from the best of all eight by f, 1 step": PaperMethod(
            f, Plan("sphere", n_iter=1), starts=every
        ),
    }


def _functions(study: Study) -> dict[str, ReflectionFunction]:
    """Return functions learned with one setting changed each."""
    r = study.function.n_neighbors
    few = study.setting.label_counts[0]
    options: dict[str, dict[str, Any]] = {
        "no label-count correction": {"label_curve": False},
        f"ratios at {few} labels alone": {"max_labels": few},
        "ratios at all label counts": {"max_labels": None},
        "gamma 1e-2": {"gamma": 1e-2},
        "gamma 1e-6": {"gamma": 1e-6},
        "Q's diagonal alone, as printed": {"q_mode": "diag"},
    }
    found = {
        name: study.variant(f"study-{at}", **each)
        for at, (name, each) in enumerate(options.items())
    }
    found["49 kernels"] = study.with_bank("kernels-12", KernelBank(-12, 12, 0.5))
    for other in NEIGHBORS:
        if other != r:
            found[f"{other} neighbours instead of {r}"] = study.with_neighbors(other)
    found |= {f"runs of {name.upper()} alone": study.from_one(name) for name in ALGORITHMS}
    found["with practice: W's of its own searches"] = _practised(study)
    found["targets of 40 rows per class"] = _smaller_targets(study)
    return found


def _practised(study: Study) -> ReflectionFunction:
    """Learn from the training experiences and from searches on some training pairs."""

    def experiences() -> Iterable[Experience]:
        yield from study.experiences
        f, setting = study.function, study.setting
        plans = [Plan(n_iter=n) for n in (3, 10, 30)]
        with open_store(setting.work / "practice.db") as store:
            collect(
                setting.pairs("train", min(PRACTICE, setting.sizes.train)),
                store,
                algorithms=[Searched(f, plan) for plan in plans],
                label_counts=setting.label_counts,
                n_neighbors=f.n_neighbors,
                progress=False,
            )
            yield from store.experiences(status="done")

    return study.variant("study-practice", experiences)


def _smaller_targets(study: Study) -> ReflectionFunction:
    """Learn from as many pairs as practice has, with half as many rows."""
    setting = replace(study.setting, max_per_class=40, work=study.setting.work / "rows-40")
    wanted = min(PRACTICE, setting.sizes.train)

    def learned() -> ReflectionFunction:
        with setting.collected(wanted) as store:
            return study.learn(store.experiences(status="done"))

    return study.kept("study-rows-40", learned)


def _table(found: Measured, groups: Mapping[str, list[str]]) -> Table:
    at = [found.label_counts.index(count) for count in SHOWN if count in found.label_counts]
    counts = [found.label_counts[i] for i in at]
    columns = ["varied", "setting"]
    for count in counts:
        columns += [f"{count} labels", f"{count} labels, standard error"]
    rows = []
    for group, names in groups.items():
        for name in names:
            both = np.stack([mean(found[name])[at], standard_error(found[name])[at]], axis=1)
            rows.append((group, name, *both.ravel().tolist()))
    return Table("search", "Mean improvement ratio on validation pairs.", tuple(columns), rows)
