"""The functions that a reproduction learns, and what it chooses on validation pairs: each once, then kept.

Everything that is chosen is chosen here, on validation pairs alone: the parameters of base algorithms and
the plans of L2T, at each label count; the neighbours of tau on held-out training pairs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import nnls

from l2t.experiences import Experience, ExperienceStore
from l2t.inference import PastTargets
from l2t.inference.tuning import CANDIDATES, choose_plans
from l2t.reflection import ReflectionFunction, learn, load_reflection, restated
from l2t.reflection.plan import Plan
from l2t.statistics import KernelBank
from reproduction.paper.measuring import Measured, measure
from reproduction.paper.methods import Base, Exhaustive, Method, Search
from reproduction.paper.setting import Setting

__all__ = ["ALGORITHMS", "SETTINGS", "Study"]

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
    "stl": (*_SIZES, {"n_components": 40, "sparsity": 0.01}),
    "dip": (*_SIZES, {"n_components": 20, "kernel": "polynomial"}),
    "sie": (*_SIZES, {"n_components": 20, "variance": 0.9}),
}
NEIGHBORS = (5, 10, 20, 40)
#: With a smoke's few pairs there is little to choose from.
SMOKE_OPTIONS: dict[str, Any] = {"gamma": 1e-3, "huber": 0.05, "n_starts": 2}
SMOKE_PLANS = (Plan("grassmann", 20, 3), Plan("soft", None, 0, 1.0), Plan("soft", None, 0, 2.0))


class Study:
    """A reproduction with all that it has learned and measured; nothing is done before it is asked for.

    Parameters
    ----------
    setting : Setting
        The data, the scale and where things are kept.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    @property
    def smoke(self) -> bool:
        """Whether this is a smoke test, in which nothing is chosen from much."""
        return self.setting.scale == "smoke"

    @cached_property
    def store(self) -> ExperienceStore:
        """The experiences: all eight algorithms on the training pairs."""
        return self.setting.collected()

    @cached_property
    def past(self) -> PastTargets | None:
        """The targets of the training pairs, where testing pairs have other classes."""
        return self.setting.past(self.setting.pairs("train"))

    @cached_property
    def function(self) -> ReflectionFunction:
        """The function that L2T stands for, with plans chosen on validation pairs."""
        return self.kept("l2t", lambda: self._planned(self._learned, self.past))

    @cached_property
    def without_past(self) -> ReflectionFunction:
        """The same with plans chosen where no past targets are known."""
        if self.past is None:
            return self.function
        return self.kept("l2t-without-past", lambda: self._planned(self._learned, None))

    @cached_property
    def literal(self) -> tuple[tuple[int, Plan], ...]:
        """The paper's search: the best plan with orthonormal columns on the validation pairs."""
        told = self.without_past.training["plans"]
        literal = [each for each in told["candidates"] if each["constraint"] == "grassmann"]
        chosen = []
        for at, count in enumerate(told["label_counts"]):
            best = max(literal, key=lambda each: each["ratios"][at])
            plan = Plan("grassmann", best["n_components"], best["n_iter"])
            chosen.append((count, plan))
        return tuple(chosen)

    @cached_property
    def bases(self) -> dict[str, dict[int, dict[str, Any]]]:
        """The parameters of each base algorithm at each label count, best on the validation pairs."""
        path = self.setting.work / "bases.json"
        if path.exists():
            told = json.loads(path.read_text())
            return {name: {int(n): p for n, p in each.items()} for name, each in told.items()}
        wanted = {
            name: several[:1] if self.smoke else several for name, several in SETTINGS.items()
        }
        methods = {
            f"{name} {i}": Base(name, params)
            for name, several in wanted.items()
            for i, params in enumerate(several)
        }
        found = measure(methods, self.setting.pairs("validation"), self.setting, "tuning bases")
        chosen: dict[str, dict[int, dict[str, Any]]] = {}
        for name, several in wanted.items():
            means = [np.nanmean(np.log(found[f"{name} {i}"]), axis=0) for i in range(len(several))]
            best = np.argmax(means, axis=0)
            chosen[name] = {
                count: several[i] for count, i in zip(found.label_counts, best, strict=True)
            }
        path.write_text(json.dumps(chosen, indent=1))
        return chosen

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
        methods["L2T"] = Search(self.function, past=self.past)
        methods["L2T without the past"] = Search(self.without_past)
        methods["L2T, the paper's search"] = Search(self.without_past, self.literal)
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
        """Measure methods on the first testing pairs, those on which functions are varied."""
        pairs = self.setting.pairs("test", self.setting.sizes.varied)
        return measure(methods, pairs, self.setting, title)

    def learn(self, experiences: Iterable[Experience], **options: Any) -> ReflectionFunction:
        """Learn a function."""
        return learn(experiences, **(SMOKE_OPTIONS if self.smoke else {}), **options)

    def variant(self, name: str, **options: Any) -> ReflectionFunction:
        """Learn from the training experiences with other options of `learn`."""
        return self.kept(name, lambda: self.learn(self.experiences, **options))

    def learned_from(
        self, name: str, chosen: Callable[[list[str], list[str]], Iterable[int]]
    ) -> ReflectionFunction:
        """Learn from some of the runs: those whose numbers `chosen` gives of their algorithms and pairs."""

        def learned() -> ReflectionFunction:
            runs: dict[str, list[Experience]] = {}
            for each in self.experiences:
                runs.setdefault(each.run_key, []).append(each)
            firsts = [several[0] for several in runs.values()]
            places = list(
                chosen([e.algorithm for e in firsts], [f"{e.source} {e.target}" for e in firsts])
            )
            several = list(runs.values())
            return self.learn([each for place in places for each in several[place]])

        return self.kept(name, learned)

    def with_bank(self, name: str, bank: KernelBank) -> ReflectionFunction:
        """Learn with another kernel bank; a wider one is computed from the W that the store keeps."""
        mine = self._learned.kernels
        if bank.first >= mine.first and bank.last <= mine.last:
            return self.variant(name, kernels=bank)
        r = self._learned.n_neighbors
        return self.kept(
            name,
            lambda: self.learn(
                restated(self._done(self.store), self.store, kernels=bank, n_neighbors=r)
            ),
        )

    @cached_property
    def equal_beta(self) -> ReflectionFunction:
        """A function whose kernels all weigh the same; what is left to learn is linear."""
        firsts = {each.run_key: each for each in self.experiences}
        rows, levels = [], []
        for run in firsts.values():
            assert run.statistics is not None
            s = run.statistics
            rows.append([s.d.sum(), s.Q.sum(), 1.0 / s.tau.sum(), 1.0])
            ratios = [
                e.improvement_ratio
                for e in self.experiences
                if e.run_key == run.run_key and e.n_labels is not None and e.n_labels <= 30
            ]
            levels.append(1.0 / np.mean(ratios))
        table = np.array(rows)
        units = np.abs(table).mean(axis=0).clip(1e-300)
        (scale, variance, tau, b), _ = nnls(table / units, np.array(levels))
        scale = max(scale / units[0], 1e-12)
        main = self._learned
        return replace(
            main,
            beta=np.full_like(main.beta, scale),
            lambda_=float(variance / units[1] / scale**2),
            mu=float(tau / units[2] * scale),
            b=float(b / units[3]),
            calibration=None,
            lessons=None,
        )

    @cached_property
    def experiences(self) -> list[Experience]:
        """The training experiences, with the statistics of the neighbours that were chosen."""
        r = self._learned.n_neighbors
        return list(restated(self._done(self.store), self.store, n_neighbors=r))

    @cached_property
    def _learned(self) -> ReflectionFunction:
        neighbors: Sequence[int] = NEIGHBORS[:1] if self.smoke else NEIGHBORS
        return self.kept(
            "learned",
            lambda: self.learn(self._done(self.store), n_neighbors=neighbors, store=self.store),
        )

    def _planned(
        self, function: ReflectionFunction, past: PastTargets | None
    ) -> ReflectionFunction:
        """Choose plans on the validation pairs; the paper's search knows no past, so it is tried without."""
        s = self.setting
        candidates = SMOKE_PLANS if self.smoke else CANDIDATES
        if past is not None:
            candidates = tuple(plan for plan in candidates if plan.constraint == "soft")
        return choose_plans(
            function,
            s.pairs("validation"),
            candidates=candidates,
            past=past,
            n_jobs=s.n_jobs,
            cluster=s.cluster,
            progress=s.progress,
        )

    def kept(self, name: str, make: Callable[[], ReflectionFunction]) -> ReflectionFunction:
        """Return a function that was kept under a name, or make and keep it."""
        path = self.setting.work / "functions" / f"{name}.json"
        if path.exists():
            return load_reflection(path)
        function = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        function.save(path)
        return function

    @staticmethod
    def _done(store: ExperienceStore) -> Iterable[Experience]:
        return store.experiences(status="done")
