"""What the agent knows from its store, and how it learns its reflection function anew.

It knows the function in use, and the classes of labelled past targets. A fixed share of all target domains
(`held_out`) is never learned from: their newest runs are the validation set. The next version is learned from
the newest other runs; where they are too few for `learn`, their outcomes refine the forecast alone. It is
used from then on if its forecast has a lower validation error.
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
from l2t.reflection import ReflectionFunction, learn, load_reflection, recompute_statistics
from l2t.reflection.files import from_json, to_json
from l2t.reflection.forecast import Forecast, MetaFeatures
from l2t.reflection.learning import LEAST_EXPERIENCES
from l2t.reflection.training_set import held_out
from l2t.statistics import KernelBank

#: Maximum number of past targets whose classes are known, the newest ones.
MAX_TARGETS = 200
#: The newest held-out runs that are validated on, and the least number of them.
WINDOW = 60
LEAST_JUDGES = 5
#: Most runs that a version is learned from, the newest ones.
MOST_RUNS = 5000
#: The neighbours of the statistics that are learned from.
N_NEIGHBORS = 5


class Knowledge:
    """What a store holds for an agent; `start` becomes version 1 where the store has none."""

    def __init__(
        self, store: ExperienceStore, start: ReflectionFunction | str | os.PathLike[str] | None
    ) -> None:
        self._store = store
        self._start = start
        self._function: tuple[int, ReflectionFunction | None] = (0, None)
        self._targets: dict[str, Domain] = {}

    def function(self) -> tuple[int, ReflectionFunction | None]:
        """Return the version and the function in use; (0, None) where there is none yet."""
        used = self._store.function()
        if used is None and self._start is not None:
            start = self._start
            given = start if isinstance(start, ReflectionFunction) else load_reflection(start)
            first = FunctionVersion(1, None, "given", 0, 0, None, None, True, to_json(given))
            self._store.add_function(first)  # or another process was quicker
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
        """Put an earlier version into use again, as the newest one."""
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
    """Return the mean error of expected log ratios.

    Expectations are those without a rehearsal, given the real accuracy on the features as they are.
    """
    errors = []
    for each in experiences:
        assert each.n_labels is not None  # it was done
        error = 1.0 - each.accuracy_before
        meta = MetaFeatures(share=0.0, excess=0.0, own_error=error, n_own=10**9)
        shots = each.n_labels / max(each.n_classes, 1)
        expected = forecast.expect(each.algorithm, meta, None, shots)
        errors.append(abs(expected.mean - np.log(each.improvement_ratio)))
    return float(np.mean(errors))


def refine(store: ExperienceStore, *, random_state: int = 0) -> FunctionVersion | None:
    """Learn from all runs, those included that were not used before, and keep the next version.

    Returns
    -------
    FunctionVersion or None
        None where there are too few runs to learn from or to validate on, or another process was faster.
    """
    used, newest = store.function(), next(reversed(store.functions()), None)
    incumbent = None if used is None else from_json(used.content)
    new: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for each in _outcomes(store, store.unused_runs(MOST_RUNS)):
        new[held_out(each.target)][each.run_key] = None
    judging, learning = list(new[True]), list(new[False])
    judges = [*reversed(judging), *store.used_runs("judging", WINDOW)][:WINDOW]
    if len(judges) < LEAST_JUDGES or not learning:
        return None
    known = [*learning, *store.used_runs("learning", MOST_RUNS)][:MOST_RUNS]
    learned = _learned(store, known, incumbent, random_state)
    if learned is None:
        return None
    origin, function, forecast = learned
    judged = _outcomes(store, judges)
    error = prediction_error(forecast, judged)
    in_use = incumbent.forecast if incumbent is not None else None
    before = prediction_error(in_use or Forecast.default(), judged)
    version = FunctionVersion(
        number=1 + (newest.number if newest else 0),
        parent=newest.number if newest else None,
        origin=origin,
        n_runs=len(learning) + (newest.n_runs if newest else 0),
        n_judged=len(judges),
        error=error,
        incumbent_error=before,
        took_over=error < before,
        content=to_json(replace(function, forecast=forecast)),
    )
    kept = store.add_function(version, {"learning": learning, "judging": judging})
    return version if kept else None


def _learned(
    store: ExperienceStore,
    keys: list[str],
    incumbent: ReflectionFunction | None,
    random_state: int,
) -> tuple[VersionOrigin, ReflectionFunction, Forecast] | None:
    """Return what runs teach; without a function to refine there must be enough for `learn`."""
    found = store.experiences(key=keys, status="done", trained_on="target")
    known = list(recompute_statistics(found, store, kernels=KernelBank(), n_neighbors=N_NEIGHBORS))
    forecast = _first_forecast(store).refined(known)
    pairs = {(each.source, each.target) for each in known}
    if len(known) >= LEAST_EXPERIENCES and len(pairs) > 1:
        return "learned", learn(known, random_state=random_state), forecast
    return None if incumbent is None else ("refined", incumbent, forecast)


def _first_forecast(store: ExperienceStore) -> Forecast:
    """Return the forecast that the agent began with."""
    first = store.function(1)
    given = from_json(first.content).forecast if first and first.origin == "given" else None
    return given or Forecast.default()


def _outcomes(store: ExperienceStore, keys: list[str]) -> list[Experience]:
    if not keys:
        return []
    return list(store.experiences(key=keys, status="done", trained_on="target", statistics=False))
