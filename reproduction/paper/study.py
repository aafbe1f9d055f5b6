"""The functions that a reproduction learns, and the settings of base algorithms; each is cached.

The paper's method is `l2t.paper` with its defaults and the convex form of 1/f. The only choices are the
parameters of base algorithms at each label count, which are made on validation pairs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from l2t.domains import KnownClasses
from l2t.exceptions import L2TWarning
from l2t.experiences import Experience, ExperienceStore, Run
from l2t.experiences.executors import Executor
from l2t.paper import ConvexReflection, Reflection, learn, load_reflection
from l2t.statistics import KernelBank, PairStatistics, pair_statistics
from reproduction.paper.measuring import Measured, measure
from reproduction.paper.methods import L2T, Base, Exhaustive, Method, PaperMethod
from reproduction.paper.setting import Setting

__all__ = ["ALGORITHMS", "PUBLISHED", "SETTINGS", "THE_PAPERS", "WITH_PAST", "Study"]

#: The base algorithms in the paper's order.
ALGORITHMS = ("tca", "itl", "cmf", "lsdt", "gfk", "stl", "dip", "sie")
#: The settings of the public code of each algorithm or, for ITL and STL, of its publication. There is none of
#: SIE: it gets the dimension of DIP, which is by the same authors.
PUBLISHED: dict[str, dict[str, Any]] = {
    "tca": {"n_components": 30, "mu": 1.0},
    "itl": {"n_components": 20, "lam": 1.0, "max_iter": 100},
    "cmf": {"n_components": 10, "lam": 0.1, "gam": 1.0, "sig": 10.0},
    "lsdt": {"n_components": 20, "max_iter": 30},
    "gfk": {"n_components": 10},
    "stl": {"n_components": 128},
    "dip": {"n_components": 200, "variance": 1.0},
    "sie": {"n_components": 200, "variance": 1.0},
}
_SIZES: tuple[dict[str, Any], ...] = tuple({"n_components": u} for u in (10, 20, 40))
#: What the parameters of each base algorithm are chosen from, beside the published ones.
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "tca": (*_SIZES, {"n_components": 20, "mu": 0.1}),
    "itl": (*_SIZES, {"n_components": 20, "lam": 0.1}),
    "cmf": (*_SIZES, {"n_components": 20, "sig": 0.1}),
    "lsdt": (*_SIZES, {"n_components": 20, "lam": 0.01}),
    "gfk": ({"n_components": 5}, *_SIZES),
    "stl": (*_SIZES, {"n_components": 20, "sparsity": 0.01}),
    "dip": (*_SIZES, {"n_components": 80}, {"n_components": 20, "kernel": "polynomial"}),
    "sie": (*_SIZES, {"n_components": 80}, {"n_components": 20, "variance": 0.9}),
}
#: The paper's method, without past targets and in the geometry of their classes.
THE_PAPERS, WITH_PAST = "the paper's method", "the paper's method with past targets"
#: With a smoke's few pairs there is little to choose from.
SMOKE_OPTIONS: dict[str, Any] = {"gamma": 1e-3, "huber": 0.05}


class Study:
    """A reproduction with everything that it has learned and measured, computed when it is first needed.

    Parameters
    ----------
    setting : Setting
        The data, the scale and the folder of results.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

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
    def function(self) -> ConvexReflection:
        """The function learned from all training experiences."""
        function = self.variant("all")
        assert isinstance(function, ConvexReflection)
        return function

    @cached_property
    def experiences(self) -> list[Experience]:
        """The experiences of the training pairs; a store may hold more."""
        wanted = set(self._pairs)
        done = self.store.experiences(status="done")
        return [each for each in done if (each.source, each.target) in wanted]

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
    def bases(self) -> dict[str, dict[int, dict[str, Any]]]:
        """The parameters of each base algorithm at each label count, best on the validation pairs."""
        if self.smoke:
            return {name: {count: {} for count in self.setting.label_counts} for name in ALGORITHMS}
        settings = {name: (*SETTINGS[name], PUBLISHED[name]) for name in ALGORITHMS}
        methods = {
            f"{name} {i}": Base(name, params)
            for name, several in settings.items()
            for i, params in enumerate(several)
        }
        pairs = self.setting.pairs("validation")
        found = measure(methods, pairs, self.setting, "validation: base algorithms")
        chosen: dict[str, dict[int, dict[str, Any]]] = {}
        for name, several in settings.items():
            means = [np.nanmean(np.log(found[f"{name} {i}"]), axis=0) for i in range(len(several))]
            best = np.argmax(means, axis=0)
            chosen[name] = {
                count: several[i] for count, i in zip(found.label_counts, best, strict=True)
            }
        return chosen

    @cached_property
    def ours(self) -> dict[str, Method]:
        """The paper's method, without and with past targets, by the names that tables show."""
        found: dict[str, Method] = {THE_PAPERS: PaperMethod(self.function)}
        if self.past is not None:
            found[WITH_PAST] = PaperMethod(self.function, past=self.past)
        return found

    @cached_property
    def tested(self) -> Measured:
        """The paper's method and the tuned base algorithms, by their names, on the testing pairs."""
        methods: dict[str, Method] = {}
        for name, by_count in self.bases.items():
            for params in by_count.values():
                base = Base(name, params)
                methods[base.key] = base
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

    @cached_property
    def others(self) -> dict[str, Method]:
        """Other answers to the same pairs: the function and the method that ship, and exhaustive search."""
        fewest = {name: by_count[min(by_count)] for name, by_count in self.bases.items()}
        found: dict[str, Method] = {
            "the paper's method, the function that ships": PaperMethod(load_reflection("default")),
            "L2T": L2T(),
            "all eight, the best by the labelled rows": Exhaustive(
                tuple(Base(name, params) for name, params in fewest.items())
            ),
        }
        if self.past is not None:
            found["L2T with past targets"] = L2T(self.past)
        return found

    def varied(self, methods: Mapping[str, Method], title: str) -> Measured:
        """Measure methods, and ours, on the first testing pairs: those on which something is varied."""
        pairs = self.setting.pairs("test", self.setting.sizes.varied)
        return measure({**methods, **self.ours}, pairs, self.setting, title)

    def learn(self, experiences: Iterable[Experience], **options: Any) -> Reflection:
        """Learn a function, in the convex form if the options do not say otherwise."""
        given: dict[str, Any] = {"form": "convex", "max_labels": self.setting.max_labels}
        return learn(experiences, **given | (SMOKE_OPTIONS if self.smoke else {}) | options)

    def variant(
        self,
        name: str,
        experiences: Callable[[], Iterable[Experience]] | None = None,
        **options: Any,
    ) -> Reflection:
        """Learn from some of the training experiences, or with other options of `learn`."""
        path = self.setting.work / "functions" / f"{name}.json"
        given = [] if path.exists() else list(experiences() if experiences else self.experiences)
        return self.kept(name, lambda: self.learn(given, **options))

    def from_one(self, algorithm: str) -> Reflection:
        """Learn from the runs of one base algorithm alone."""
        return self.variant(
            f"from-{algorithm}",
            lambda: (each for pair in self.runs for each in pair.get(algorithm, [])),
        )

    def from_pairs(self, name: str, places: Iterable[int]) -> Reflection:
        """Learn from the training pairs in these places."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", L2TWarning)  # a single pair cannot be held out
            return self.variant(
                name, lambda: (e for at in places for run in self.runs[at].values() for e in run)
            )

    def with_bank(self, name: str, bank: KernelBank) -> Reflection:
        """Learn with another kernel bank; statistics of a wider one are computed from the stored W."""
        mine = self.function.kernels
        if bank.first >= mine.first and bank.last <= mine.last:
            return self.variant(name, kernels=bank)
        return self.variant(name, lambda: self._recomputed(bank))

    @cached_property
    def permuted(self) -> Reflection:
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
    def equal_weights(self) -> Reflection:
        """The function with the learned weight of each term, spread over all kernels alike."""
        function = self.function
        alike = np.ones(len(function.kernels))
        weights = np.outer(function.weights.mean(axis=1), alike)
        return replace(function, weights=weights, calibration=None)

    def kept(self, name: str, make: Callable[[], Reflection]) -> Reflection:
        """Return the cached function of a name, or learn and cache it."""
        path = self.setting.work / "functions" / f"{name}.json"
        if path.exists():
            return load_reflection(path)
        with self.setting.timed("reflection functions: learning"):
            function = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        function.save(path)
        return function

    def _recomputed(self, kernels: KernelBank) -> list[Experience]:
        """Return the training experiences with the statistics of other kernels."""
        r = self.function.n_neighbors
        keys = dict.fromkeys(each.run_key for each in self.experiences)
        tasks = ((self.store.run(key), kernels, r) for key in keys)
        executor = Executor(self.setting.n_jobs, self.setting.cluster)
        with self.setting.timed("experiences: statistics with other kernels"):
            found = dict(executor.map(_statistics, tasks))
        return [replace(each, statistics=found[each.run_key]) for each in self.experiences]

    @cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        """The training pairs, by the content of source and target."""
        pairs = self.setting.pairs("train")
        return [(pair.source.fingerprint, pair.target.fingerprint) for pair in pairs]


def _statistics(task: tuple[Run, KernelBank, int]) -> tuple[str, PairStatistics]:
    run, kernels, n_neighbors = task
    assert run.W is not None  # the run was done
    options: dict[str, Any] = {"kernels": kernels, "n_neighbors": n_neighbors}
    return run.key, pair_statistics(run.pair, run.W, random_state=run.random_state, **options)
