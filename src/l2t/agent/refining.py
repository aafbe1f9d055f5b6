"""How the agent learns its reflection function anew, and when a new version takes over.

A fixed share of all target domains (`held_out`) is never learned from: their newest runs are the validation
set. The next version is learned from the newest other runs; where they are too few for `learn`, their
outcomes refine the forecast alone. It is used from then on if its forecast has a lower validation error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from l2t.experiences import Experience, ExperienceStore, FunctionVersion
from l2t.experiences.records import VersionOrigin
from l2t.reflection import ReflectionFunction, learn, restated
from l2t.reflection.files import from_json, to_json
from l2t.reflection.forecast import Forecast, Signs
from l2t.reflection.learning import LEAST_EXPERIENCES
from l2t.reflection.lesson import held_out
from l2t.statistics import KernelBank

#: The newest held-out runs that are validated on, and the least number of them.
WINDOW = 60
LEAST_JUDGES = 5
#: Most runs that a version is learned from, the newest ones.
MOST_RUNS = 5000
#: The neighbours of the statistics that are learned from.
N_NEIGHBORS = 5


def prediction_error(forecast: Forecast, experiences: Iterable[Experience]) -> float:
    """Return the mean error of expected log ratios.

    Expectations are those without a rehearsal, given the real accuracy on the features as they are.
    """
    errors = []
    for each in experiences:
        assert each.n_labels is not None  # it was done
        error = 1.0 - each.accuracy_before
        signs = Signs(share=0.0, excess=0.0, own_error=error, n_own=10**9)
        shots = each.n_labels / max(each.n_classes, 1)
        expected = forecast.expect(each.algorithm, signs, None, shots)
        errors.append(abs(expected.mean - np.log(each.improvement_ratio)))
    return float(np.mean(errors))


def refine(store: ExperienceStore, *, random_state: int = 0) -> FunctionVersion | None:
    """Learn from all runs, those included that were not used before, and keep the next version.

    Returns
    -------
    FunctionVersion or None
        None where there are too few runs to learn from or to validate on, or another process was faster.
    """
    used, newest = store.function(), store.newest_function()
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
    found = store.experiences(key=keys, status="done")
    known = list(restated(found, store, kernels=KernelBank(), n_neighbors=N_NEIGHBORS))
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
    return list(store.experiences(key=keys, status="done", statistics=False)) if keys else []
