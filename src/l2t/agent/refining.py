"""How the agent's function goes on learning, and when a new one takes over.

A fixed share of all target domains (`held_out`) is never learned from: their newest runs judge. What is new
is learned in two ways, each at a cost that does not grow with what is there: by `partial_fit`, which
remembers everything to second order, and from the newest runs alone, which forgets and so follows when the
kind of pairs changes. When there are twice as many runs as when all were last learned from, all are learned
from anew and settings are chosen again; that is about as many runs as were new, whatever their number. The
best of these is the next version, and what `partial_fit` resumes from. It replaces the version in use when
its error on the held-out runs is less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from l2t.experiences import Experience, ExperienceStore, FunctionVersion
from l2t.experiences.records import VersionOrigin
from l2t.reflection import ReflectionFunction, learn, restated
from l2t.reflection.calibration import LEAST
from l2t.reflection.files import from_json, to_json
from l2t.reflection.splits import held_out
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


@dataclass(frozen=True, eq=False)
class _Candidate:
    origin: VersionOrigin
    function: ReflectionFunction


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
    errors = [prediction_error(each.function, judged) for each in candidates]
    best = int(np.argmin(errors))
    before = prediction_error(incumbent, judged)
    version = FunctionVersion(
        number=1 + (newest.number if newest else 0),
        parent=newest.number if newest else None,
        origin=candidates[best].origin,
        n_runs=n_runs,
        n_judged=len(judges),
        error=errors[best],
        incumbent_error=before,
        took_over=errors[best] < before,
        content=to_json(candidates[best].function),
    )
    return (
        version
        if store.add_function(version, {"learning": [*learning], "judging": [*judging]})
        else None
    )


def _candidates(
    store: ExperienceStore,
    learner: ReflectionFunction | None,
    new: list[Experience],
    n_runs: int,
    random_state: int,
) -> Iterator[_Candidate]:
    anew_at = 0 if learner is None else int(learner.training.get("learned_anew_at", 0))
    due = n_runs >= 2 * anew_at
    noted = {"learned_anew_at": n_runs if due else anew_at}
    if learner is not None and learner.lessons is not None:
        refined = learner.partial_fit(new)
        yield _Candidate("refined", replace(refined, training=dict(refined.training) | noted))
    origin: VersionOrigin = "learned" if due else "recent"
    keys = store.used_runs("learning", MOST_LEARNED if due else RECENT)
    known = [*_experiences(store, keys, learner), *new]
    if len(known) >= LEAST_LEARNED and len({(each.source, each.target) for each in known}) > 1:
        if due or learner is None or learner.lessons is None:
            anew = learn(known, random_state=random_state)
        else:  # with the settings that were chosen from all
            chosen = learner.lessons.settings
            anew = learn(
                known,
                components=chosen.components,
                gamma=chosen.gamma,
                huber=chosen.huber,
                n_folds=3,
                n_starts=1,
                random_state=random_state,
            )
        yield _Candidate(origin, replace(anew, training=dict(anew.training) | noted))


def _experiences(
    store: ExperienceStore, keys: list[str], function: ReflectionFunction | None
) -> Iterator[Experience]:
    """Yield experiences that were done, with the statistics that a function reads."""
    if not keys:
        return
    bank, r = (KernelBank(), 5) if function is None else (function.kernels, function.n_neighbors)
    found = store.experiences(key=keys, status="done")
    yield from restated(found, store, kernels=bank, n_neighbors=r)
