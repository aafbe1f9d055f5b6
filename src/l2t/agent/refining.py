"""How the agent's function is refined by new runs, and when a new version takes over.

A fixed share of all target domains (`held_out`) is never learned from: their newest runs are the validation
set. Candidates for the next version are `partial_fit` on the new runs, and a function learned from the newest
runs alone (which adapts when the kind of pairs changes) or, when the number of runs has doubled, from all.
The best of them is the next version, and is used from then on if its validation error is lower.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace

import numpy as np

from l2t.experiences import Experience, ExperienceStore, FunctionVersion
from l2t.experiences.records import VersionOrigin
from l2t.reflection import ReflectionFunction, learn, restated
from l2t.reflection.calibration import LEAST
from l2t.reflection.files import from_json, to_json
from l2t.reflection.lesson import held_out
from l2t.statistics import KernelBank

__all__ = ["LEAST_JUDGES", "prediction_error", "refine"]

#: The newest held-out runs that are validated on, and the least number of them.
WINDOW = 60
LEAST_JUDGES = 5
#: Most new runs of one version; the others are for the next.
MOST_AT_ONCE = 5000
#: Least experiences, and most runs, that a function is learned from.
LEAST_LEARNED = 20
MOST_LEARNED = 20_000
#: The newest runs, which are learned from without the others.
RECENT = 400
#: Ratios at more labels have no weight in `learn`, nor in validation.
MOST_LABELS = 30


def prediction_error(
    function: ReflectionFunction | None, experiences: Iterable[Experience]
) -> float:
    """Return the mean error ``|log(f / l_hat)|`` of predicted ratios; without a function f is 1."""
    given = list(experiences)
    few = [each for each in given if each.n_labels is not None and each.n_labels <= MOST_LABELS]
    errors = []
    for each in few or given:
        predicted = 1.0
        if function is not None:
            assert each.statistics is not None  # it was done
            assert each.n_labels is not None
            inverse = max(function.inverse(each.statistics), LEAST)
            predicted = 1.0 / (inverse * float(function.label_curve.factor(each.n_labels)))
        errors.append(abs(np.log(predicted / each.improvement_ratio)))
    return float(np.mean(errors))


def refine(store: ExperienceStore, *, random_state: int = 0) -> FunctionVersion | None:
    """Learn from the runs that were not used before, and keep the best function as the next version.

    Returns
    -------
    FunctionVersion or None
        None where there are too few runs to learn from or to validate on, or another process was faster.
    """
    used, newest = store.function(), store.newest_function()
    incumbent = None if used is None else from_json(used.content)
    learner = None if newest is None else from_json(newest.content)
    new: dict[bool, list[Experience]] = {True: [], False: []}
    for each in _experiences(store, store.unused_runs(MOST_AT_ONCE), learner):
        new[held_out(each.target)].append(each)
    judging, learning = ({each.run_key: None for each in new[part]} for part in (True, False))
    judges = [*reversed(judging), *store.used_runs("judging", WINDOW)][:WINDOW]
    if len(judges) < LEAST_JUDGES or not learning:
        return None
    n_runs = len(learning) + (newest.n_runs if newest else 0)
    candidates = list(_candidates(store, learner, new[False], n_runs, random_state))
    if not candidates:
        return None
    judged = list(_experiences(store, judges, learner))
    errors = [prediction_error(function, judged) for _, function in candidates]
    error, before = min(errors), prediction_error(incumbent, judged)
    origin, best = candidates[errors.index(error)]
    version = FunctionVersion(
        number=1 + (newest.number if newest else 0),
        parent=newest.number if newest else None,
        origin=origin,
        n_runs=n_runs,
        n_judged=len(judges),
        error=error,
        incumbent_error=before,
        took_over=error < before,
        content=to_json(best),
    )
    kept = store.add_function(version, {"learning": [*learning], "judging": [*judging]})
    return version if kept else None


def _candidates(
    store: ExperienceStore,
    learner: ReflectionFunction | None,
    new: list[Experience],
    n_runs: int,
    random_state: int,
) -> Iterator[tuple[VersionOrigin, ReflectionFunction]]:
    anew_at = 0 if learner is None else int(learner.training.get("learned_anew_at", 0))
    due = n_runs >= 2 * anew_at
    noted = {"learned_anew_at": n_runs if due else anew_at}
    if learner is not None and learner.lessons is not None:
        refined = learner.partial_fit(new)
        yield "refined", replace(refined, training=dict(refined.training) | noted)
    origin: VersionOrigin = "learned" if due else "recent"
    keys = store.used_runs("learning", MOST_LEARNED if due else RECENT)
    known = [*_experiences(store, keys, learner), *new]
    if len(known) >= LEAST_LEARNED and len({(each.source, each.target) for each in known}) > 1:
        if due or learner is None or learner.lessons is None:
            anew = learn(known, random_state=random_state)
        else:  # with the settings that were chosen from all
            chosen = asdict(learner.lessons.settings)
            anew = learn(known, **chosen, n_folds=3, n_starts=1, random_state=random_state)
        yield origin, replace(anew, training=dict(anew.training) | noted)


def _experiences(
    store: ExperienceStore, keys: list[str], function: ReflectionFunction | None
) -> Iterator[Experience]:
    """Yield experiences of finished runs, with the statistics of a function."""
    if not keys:
        return
    bank, r = (KernelBank(), 5) if function is None else (function.kernels, function.n_neighbors)
    found = store.experiences(key=keys, status="done")
    yield from restated(found, store, kernels=bank, n_neighbors=r)
