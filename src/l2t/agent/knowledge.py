"""What the agent reads from its store, and how it learns new versions of its reflection function.

It reads the function in use, and the classes of labelled past targets. A fixed share of all target domains
(`held_out`) is never learned from: their newest runs are the validation set. A new version is learned from
the newest other runs; if they are too few for `learn`, only the forecast is refined by their outcomes. The
version comes into use if its forecast has a lower validation error.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from l2t.domains import Domain, KnownClasses
from l2t.exceptions import InvalidInputError
from l2t.experiences import Experience, ExperienceStore, FunctionVersion
from l2t.experiences.records import VersionOrigin
from l2t.forecast import Forecast, MetaFeatures
from l2t.forecast import refine as refine_forecast
from l2t.paper import ReflectionFunction, learn, load_reflection, recompute_statistics
from l2t.paper.files import from_json, to_json
from l2t.paper.learning import LEAST_EXPERIENCES
from l2t.paper.training_set import held_out
from l2t.statistics import KernelBank

#: Maximum number of past targets, the newest, that known classes are taken from.
MAX_TARGETS = 200
#: Maximum and minimum number of validation runs, the newest held-out ones.
MAX_VALIDATION_RUNS = 60
MIN_VALIDATION_RUNS = 5
#: Maximum number of runs, the newest, that a version is learned from.
MAX_RUNS = 5000
#: The number of neighbours of the statistics that are learned from.
N_NEIGHBORS = 5


class Knowledge:
    """The contents of a store for an agent; `start` becomes version 1 if the store has none."""

    def __init__(
        self, store: ExperienceStore, start: ReflectionFunction | str | os.PathLike[str] | None
    ) -> None:
        self._store = store
        self._start = start
        self._function: tuple[int, ReflectionFunction | None] = (0, None)
        self._targets: dict[str, Domain] = {}

    def function(self) -> tuple[int, ReflectionFunction | None]:
        """Return the version and the function in use; (0, None) if there is none yet."""
        used = self._store.function()
        if used is None and self._start is not None:
            start = self._start
            given = start if isinstance(start, ReflectionFunction) else load_reflection(start)
            first = FunctionVersion(1, None, "given", 0, 0, None, None, True, to_json(given))
            self._store.add_function(first)  # unless another process has done so
            used = self._store.function()
        if used is not None and self._function[0] != used.number:
            self._function = used.number, from_json(used.content)
        return self._function

    def classes(self, n_features: int) -> KnownClasses:
        """Return the classes of the newest labelled targets with this number of features."""
        runs = list(self._store.target_runs(n_features=n_features).items())[-MAX_TARGETS:]
        self._targets = {
            target: self._targets[target] if target in self._targets else self._store.target(key)
            for target, key in runs
        }
        return KnownClasses(self._targets.values())

    def roll_back(self, version: int) -> FunctionVersion:
        """Use an earlier version again, as the newest one."""
        self.function()
        while True:
            chosen = self._store.function(version)
            newest = next(reversed(self._store.functions()), None)
            if chosen is None or newest is None:
                last = 0 if newest is None else newest.number
                raise InvalidInputError(f"version must be one of 1 to {last}, got {version!r}")
            again = replace(
                chosen,
                number=newest.number + 1,
                parent=chosen.number,
                origin="rolled back",
                n_runs=newest.n_runs,
                took_over=True,
                created_at=datetime.now(UTC),
            )
            if self._store.add_function(again):
                return again


def prediction_error(forecast: Forecast, experiences: Iterable[Experience]) -> float:
    """Return the mean absolute error of expected log ratios.

    Expectations are the priors of the candidates, as if neighbourhoods were those of a rehearsal that has no
    ratio for them, given the measured accuracy on the original features.
    """
    errors = []
    for each in experiences:
        assert each.n_labels is not None  # its run has finished
        error = 1.0 - each.accuracy_before
        meta = MetaFeatures(share=0.0, excess=0.0, own_error=error, n_own=10**9)
        shots = each.n_labels / max(each.n_classes, 1)
        expected = forecast.expect(each.algorithm, meta, None, shots)
        errors.append(abs(expected.mean - np.log(each.improvement_ratio)))
    return float(np.mean(errors))


def refine(store: ExperienceStore, *, random_state: int = 0) -> FunctionVersion | None:
    """Learn the next version from all runs, including those not used before, and store it.

    Returns
    -------
    FunctionVersion or None
        None if there are too few runs to learn from or to validate on, or another process was faster.
    """
    used, newest = store.function(), next(reversed(store.functions()), None)
    incumbent = None if used is None else from_json(used.content)
    new: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for each in _outcomes(store, store.unused_runs(MAX_RUNS)):
        new[held_out(each.target)][each.run_key] = None
    judging, learning = list(new[True]), list(new[False])
    earlier = store.used_runs("judging", MAX_VALIDATION_RUNS)
    validation = [*reversed(judging), *earlier][:MAX_VALIDATION_RUNS]
    if len(validation) < MIN_VALIDATION_RUNS or not learning:
        return None
    training = [*learning, *store.used_runs("learning", MAX_RUNS)][:MAX_RUNS]
    learned = _learn_next(store, training, incumbent, random_state)
    if learned is None:
        return None
    origin, function = learned
    outcomes = _outcomes(store, validation)
    error = prediction_error(_forecast(function), outcomes)
    before = prediction_error(_forecast(incumbent), outcomes)
    version = FunctionVersion(
        number=1 + (newest.number if newest else 0),
        parent=newest.number if newest else None,
        origin=origin,
        n_runs=len(learning) + (newest.n_runs if newest else 0),
        n_judged=len(validation),
        error=error,
        incumbent_error=before,
        took_over=error < before,
        content=to_json(function),
    )
    added = store.add_function(version, {"learning": learning, "judging": judging})
    return version if added else None


def _learn_next(
    store: ExperienceStore,
    keys: list[str],
    incumbent: ReflectionFunction | None,
    random_state: int,
) -> tuple[VersionOrigin, ReflectionFunction] | None:
    """Return the function learned from runs, and its origin; None if they are too few."""
    found = store.experiences(key=keys, status="done", trained_on="target")
    past = list(recompute_statistics(found, store, kernels=KernelBank(), n_neighbors=N_NEIGHBORS))
    targets = {each.target for each in past}
    origin: VersionOrigin = "refined"
    if len(past) >= LEAST_EXPERIENCES and len(targets) > 1:
        origin, incumbent = "learned", learn(past, random_state=random_state)
    if incumbent is None:
        return None
    first = store.function(1)
    given = from_json(first.content) if first and first.origin == "given" else None
    return origin, replace(incumbent, forecast=refine_forecast(_forecast(given), past))


def _forecast(function: ReflectionFunction | None) -> Forecast:
    """Return the forecast of a function, or the one that ships if it has none."""
    return (function.forecast if function is not None else None) or Forecast.default()


def _outcomes(store: ExperienceStore, keys: list[str]) -> list[Experience]:
    if not keys:
        return []
    return list(store.experiences(key=keys, status="done", trained_on="target", statistics=False))
