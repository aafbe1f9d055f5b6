"""How the agent's function goes on learning, and when a new one takes over.

A fixed share of all target domains (`held_out`) is never learned from: their newest runs judge. What is new
is learned by `partial_fit`, which remembers everything to second order, and from the newest runs alone, which
follows when the kind of pairs changes. When the runs have doubled since all were last learned from, all are
learned from anew. The best of these is the next version; it replaces the version in use when its error on the
held-out runs is less.
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

#: The newest held-out runs that judge, and how few of them cannot.
WINDOW = 60
LEAST_JUDGES = 5
#: Runs that are taken in at once, at most; the others are for the next version.
MOST_AT_ONCE = 5000
#: Experiences that all is learned anew from, at least, and its newest runs, at most.
LEAST_LEARNED = 20
MOST_LEARNED = 20_000
#: The newest runs, which are learned from without the others.
RECENT = 400
#: Ratios at more labels do not shape a function (`learn`), and do not judge it.
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
    """Take in what is new, and keep the version that came of it.

    Returns
    -------
    FunctionVersion or None
        None where there is too little to learn from or to judge by, or another was quicker.
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
    """Yield experiences that were done, with the statistics that a function reads."""
    if not keys:
        return
    bank, r = (KernelBank(), 5) if function is None else (function.kernels, function.n_neighbors)
    found = store.experiences(key=keys, status="done")
    yield from restated(found, store, kernels=bank, n_neighbors=r)
