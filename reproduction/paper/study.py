"""The functions that a reproduction learns, and the choices it makes on validation pairs; each is cached.

All choices are made here, on validation pairs alone: the parameters of base algorithms at each label count,
the neighbours of tau, and the search of the paper's method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import nnls

from l2t.domains import KnownClasses
from l2t.experiences import Experience, ExperienceStore, Run
from l2t.experiences.executors import Executor
from l2t.paper import ReflectionFunction, learn, load_reflection
from l2t.paper.plan import Plan
from l2t.statistics import KernelBank, PairStatistics, pair_statistics
from reproduction.paper.measuring import Measured, measure
from reproduction.paper.methods import L2T, Base, Exhaustive, Method, PaperMethod, Source
from reproduction.paper.setting import Setting

__all__ = ["ALGORITHMS", "ONE_TEACHER", "SETTINGS", "THE_PAPERS", "WITH_PAST", "Study"]

#: The base algorithms in the paper's order.
ALGORITHMS = ("tca", "itl", "cmf", "lsdt", "gfk", "stl", "dip", "sie")
_SIZES: tuple[dict[str, Any], ...] = tuple({"n_components": u} for u in (10, 20, 40))
#: What the parameters of each base algorithm are chosen from.
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "tca": (*_SIZES, {"n_components": 20, "mu": 0.1}),
    "itl": (*_SIZES, {"n_components": 20, "lam": 0.1}),
    "cmf": (*_SIZES, {"n_components": 20, "sig": 0.1}),
    "lsdt": (*_SIZES, {"n_components": 20, "lam": 0.01}),
    "gfk": ({"n_components": 5}, *_SIZES),
    "stl": (*_SIZES, {"n_components": 20, "sparsity": 0.01}),
    "dip": (*_SIZES, {"n_components": 20, "kernel": "polynomial"}),
    "sie": (*_SIZES, {"n_components": 20, "variance": 0.9}),
}
NEIGHBORS = (5, 20)
#: What the search of the paper's method is chosen from: plans, and the base algorithms to begin at.
SEARCHES: tuple[tuple[Plan, tuple[str, ...] | None], ...] = (
    (Plan(), None),
    (Plan(n_iter=3), None),
    (Plan(n_components=20), None),
    (Plan(n_components=10), None),
    (Plan(n_components=40, n_iter=3), None),
    (Plan("sphere", n_components=20), None),
    (Plan(n_components=20, n_iter=3), ALGORITHMS),
    (Plan(n_components=10, n_iter=3), ALGORITHMS),
)
#: The names of the paper's own method, and of L2T with the classes of the training pairs' targets.
THE_PAPERS, WITH_PAST = "the paper's method", "L2T with past targets"
#: The paper's method with a function learned from the runs of the best base algorithm alone.
ONE_TEACHER = "the paper's method, one teacher"
#: With a smoke's few pairs there is little to choose from.
SMOKE_OPTIONS: dict[str, Any] = {"gamma": 1e-3, "huber": 0.05, "n_starts": 2}


class Study:
    """A reproduction with everything that it has learned and measured, computed when it is first needed.

    Parameters
    ----------
    setting : Setting
        The data, the scale and the folder of results.
    tuned : bool, default=True
        Whether base algorithms and the plan are chosen on validation pairs, or as they ship.
    """

    def __init__(self, setting: Setting, *, tuned: bool = True) -> None:
        self.setting, self._tuned = setting, tuned and setting.scale != "smoke"
        self._by_neighbors: dict[int, list[Experience]] = {}

    @property
    def smoke(self) -> bool:
        """Whether this is a smoke test, which tries few settings."""
        return self.setting.scale == "smoke"

    @cached_property
    def store(self) -> ExperienceStore:
        """The experiences: all eight algorithms on the training pairs."""
        return self.setting.collected()

    @cached_property
    def past(self) -> KnownClasses | None:
        """The classes of the training pairs' targets, where testing pairs have other classes."""
        return self.setting.past()

    @cached_property
    def function(self) -> ReflectionFunction:
        """The function learned from all training experiences, whose search is best on validation pairs.

        Rank correlation, by which `learn` chooses, prefers functions that tell algorithms apart.
        """
        if not self._tuned:
            return self.with_neighbors(NEIGHBORS[0])
        several = {str(r): self.with_neighbors(r) for r in NEIGHBORS}
        methods = {name: PaperMethod(each) for name, each in several.items()}
        pairs = self.setting.pairs("validation")
        found = measure(methods, pairs, self.setting, "validation: neighbours")
        return several[max(several, key=lambda name: float(np.nanmean(np.log(found[name]))))]

    @property
    def experiences(self) -> list[Experience]:
        """The training experiences, with the statistics of the neighbours that were chosen."""
        return self._stated(self.function.n_neighbors)

    @cached_property
    def runs(self) -> list[dict[str, list[Experience]]]:
        """The experiences of each training pair by algorithm, in the order of the pairs."""
        found: dict[tuple[str, str], dict[str, list[Experience]]] = {
            pair: {} for pair in self._pairs
        }
        for each in self.experiences:
            found[each.source, each.target].setdefault(each.algorithm, []).append(each)
        return list(found.values())

    @cached_property
    def validated(self) -> Measured:
        """All settings of base algorithms and all searches on the validation pairs; they share their fits."""
        methods: dict[str, Method] = {
            f"{name} {i}": Base(name, params)
            for name, several in SETTINGS.items()
            for i, params in enumerate(several)
        }
        for i, (plan, starts) in enumerate(SEARCHES):
            methods[f"search {i}"] = PaperMethod(self.function, plan, starts=starts)
        pairs = self.setting.pairs("validation")
        return measure(methods, pairs, self.setting, "validation: base algorithms and searches")

    @cached_property
    def search(self) -> tuple[Plan, tuple[str, ...] | None]:
        """How the paper's method searches W, and where from: the best on the validation pairs."""
        if not self._tuned:
            return Plan(), None
        found = self.validated
        means = [np.nanmean(np.log(found[f"search {i}"])) for i in range(len(SEARCHES))]
        return SEARCHES[int(np.argmax(means))]

    def paper(self, function: ReflectionFunction, source: Source = "itself") -> PaperMethod:
        """Return the paper's method with a function, searching as was chosen."""
        plan, starts = self.search
        return PaperMethod(function, plan, source, starts)

    @cached_property
    def bases(self) -> dict[str, dict[int, dict[str, Any]]]:
        """The parameters of each base algorithm at each label count, best on the validation pairs."""
        if not self._tuned:
            return {name: {count: {} for count in self.setting.label_counts} for name in ALGORITHMS}
        found = self.validated
        chosen: dict[str, dict[int, dict[str, Any]]] = {}
        for name, several in SETTINGS.items():
            means = [np.nanmean(np.log(found[f"{name} {i}"]), axis=0) for i in range(len(several))]
            best = np.argmax(means, axis=0)
            chosen[name] = {
                count: several[i] for count, i in zip(found.label_counts, best, strict=True)
            }
        return chosen

    @cached_property
    def ours(self) -> dict[str, Method]:
        """The paper's own method and L2T, by the names that tables show."""
        found: dict[str, Method] = {
            THE_PAPERS: self.paper(self.function),
            ONE_TEACHER: PaperMethod(self.from_one(self.teacher)),
            "L2T": L2T(),
        }
        if self.past is not None:
            found[WITH_PAST] = L2T(self.past)
        return found

    @cached_property
    def tested(self) -> Measured:
        """L2T and the tuned base algorithms on the testing pairs; a base algorithm by its name."""
        methods: dict[str, Method] = {}
        for name, by_count in self.bases.items():
            for params in by_count.values():
                base = Base(name, params)
                methods[base.key] = base
        methods["exhaustive"] = Exhaustive(
            tuple(Base(name, by_count[min(by_count)]) for name, by_count in self.bases.items())
        )
        methods |= self.ours
        found = measure(methods, self.setting.pairs("test"), self.setting, "testing")
        rows = dict(found.rows)
        for name, by_count in self.bases.items():
            rows[name] = [
                {
                    "ratio": [
                        rows[Base(name, by_count[count]).key][i]["ratio"][at]
                        for at, count in enumerate(found.label_counts)
                        if np.isfinite(found.before[i, at])
                    ],
                    "seconds": rows[Base(name, by_count[min(by_count)]).key][i]["seconds"],
                }
                for i in range(len(found.names))
            ]
        return replace(found, rows=rows)

    def varied(self, methods: Mapping[str, Method], title: str) -> Measured:
        """Measure methods, and ours, on the first testing pairs: those on which something is varied."""
        pairs = self.setting.pairs("test", self.setting.sizes.varied)
        return measure({**methods, **self.ours}, pairs, self.setting, title)

    def learn(self, experiences: Iterable[Experience], **options: Any) -> ReflectionFunction:
        """Learn a function."""
        given = {"max_labels": self.setting.max_labels} | (SMOKE_OPTIONS if self.smoke else {})
        function = learn(experiences, **given | options)
        assert isinstance(function, ReflectionFunction)  # as for all forms but "convex"
        return function

    def variant(
        self,
        name: str,
        experiences: Callable[[], Iterable[Experience]] | None = None,
        **options: Any,
    ) -> ReflectionFunction:
        """Learn from some of the training experiences, or with other options of `learn`."""
        path = self.setting.work / "functions" / f"{name}.json"
        given = [] if path.exists() else list(experiences() if experiences else self.experiences)
        return self.kept(name, lambda: self.learn(given, **options))

    def from_one(self, algorithm: str) -> ReflectionFunction:
        """Learn from the runs of one base algorithm alone."""
        return self.variant(
            f"from-{algorithm}",
            lambda: (each for pair in self.runs for each in pair.get(algorithm, [])),
        )

    @cached_property
    def teacher(self) -> str:
        """The base algorithm with the best ratios on the training pairs."""
        ratios: dict[str, list[float]] = {}
        for each in self._done():
            if each.n_labels is not None and each.n_labels <= self.setting.max_labels:
                ratios.setdefault(each.algorithm, []).append(each.improvement_ratio)
        return max(ratios, key=lambda name: float(np.mean(np.log(ratios[name]))))

    def first_pairs(self, n_pairs: int) -> ReflectionFunction:
        """Learn from the first training pairs alone."""
        return self.variant(
            f"from-{n_pairs}-pairs",
            lambda: (e for pair in self.runs[:n_pairs] for run in pair.values() for e in run),
        )

    def with_bank(self, name: str, bank: KernelBank) -> ReflectionFunction:
        """Learn with another kernel bank; statistics of a wider one are computed from the stored W."""
        mine, r = self.function.kernels, self.function.n_neighbors
        if bank.first >= mine.first and bank.last <= mine.last:
            return self.variant(name, kernels=bank)
        return self.variant(name, lambda: self._recomputed(kernels=bank, n_neighbors=r))

    def with_neighbors(self, n_neighbors: int) -> ReflectionFunction:
        """Learn with other neighbours in tau."""
        return self.variant(f"neighbors-{n_neighbors}", lambda: self._stated(n_neighbors))

    @cached_property
    def permuted(self) -> ReflectionFunction:
        """A function learned from permuted ratios, a control."""

        def shuffled() -> Iterable[Experience]:
            runs = [run for pair in self.runs for run in pair.values()]
            order = np.random.default_rng(self.setting.seed).permutation(len(runs))
            for run, other in zip(runs, order, strict=True):
                ratios = {each.n_labels: each.improvement_ratio for each in runs[other]}
                for each in run:
                    if each.n_labels in ratios:
                        yield replace(each, improvement_ratio=ratios[each.n_labels])

        return self.variant("permuted", shuffled)

    @cached_property
    def equal_beta(self) -> ReflectionFunction:
        """A function with equal weights of all kernels; the other parameters are fitted by a linear model."""
        rows, levels = [], []
        for run in (run for pair in self.runs for run in pair.values()):
            assert run[0].statistics is not None
            s = run[0].statistics
            rows.append([s.d.sum(), s.Q.sum(), 1.0 / s.tau.sum(), 1.0])
            few = [e.improvement_ratio for e in run if e.n_labels is not None and e.n_labels <= 30]
            levels.append(1.0 / np.mean(few))
        table = np.array(rows)
        units = np.abs(table).mean(axis=0).clip(1e-300)
        (scale, variance, tau, b), _ = nnls(table / units, np.array(levels))
        scale = max(scale / units[0], 1e-12)
        return replace(
            self.function,
            beta=np.full_like(self.function.beta, scale),
            lambda_=float(variance / units[1] / scale**2),
            mu=float(tau / units[2] * scale),
            b=float(b / units[3]),
            calibration=None,
        )

    def kept(self, name: str, make: Callable[[], ReflectionFunction]) -> ReflectionFunction:
        """Return the cached function of a name, or learn and cache it."""
        path = self.setting.work / "functions" / f"{name}.json"
        if path.exists():
            function = load_reflection(path)
            assert isinstance(function, ReflectionFunction)
            return function
        with self.setting.timed("reflection functions: learning"):
            function = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        function.save(path)
        return function

    def _stated(self, n_neighbors: int) -> list[Experience]:
        """Return the training experiences with the statistics of so many neighbours, computed once."""
        if n_neighbors not in self._by_neighbors:
            self._by_neighbors[n_neighbors] = self._recomputed(n_neighbors=n_neighbors)
        return self._by_neighbors[n_neighbors]

    def _recomputed(self, **options: Any) -> list[Experience]:
        """Return the training experiences with the statistics of other kernels or neighbours."""
        done = list(self._done())
        if all(getattr(done[0].statistics, name) == value for name, value in options.items()):
            return done
        runs = (self.store.run(key) for key in dict.fromkeys(each.run_key for each in done))
        tasks = ((run, options) for run in runs)
        executor = Executor(self.setting.n_jobs, self.setting.cluster)
        with self.setting.timed("experiences: statistics with other kernels and neighbours"):
            found = dict(executor.map(_statistics, tasks))
        return [replace(each, statistics=found[each.run_key]) for each in done]

    @cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        """The training pairs, by the content of source and target."""
        pairs = self.setting.pairs("train")
        return [(pair.source.fingerprint, pair.target.fingerprint) for pair in pairs]

    def _done(self) -> Iterable[Experience]:
        """Yield the experiences of the training pairs; a store may hold more."""
        wanted = set(self._pairs)
        for each in self.store.experiences(status="done"):
            if (each.source, each.target) in wanted:
                yield each


def _statistics(task: tuple[Run, dict[str, Any]]) -> tuple[str, PairStatistics]:
    run, options = task
    assert run.W is not None  # the run was done
    return run.key, pair_statistics(run.pair, run.W, random_state=run.random_state, **options)
