"""Tasks of every kind, measured: what candidates did in rehearsal, and what they really did.

One JSON file per draw is kept in a working folder, so that a run that was stopped resumes where it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from l2t import algorithms
from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.exceptions import L2TError
from l2t.experiences import evaluate
from l2t.experiences.executors import choose_executor
from l2t.inference.candidates import fit_candidates
from l2t.inference.inference import LEAST_SKILL, signs_of
from l2t.progress import progress_bar
from l2t.rehearsal import rehearse
from l2t.rehearsal.rehearsal import SHOTS
from reproduction.kinds import CONTROLS, KINDS, Draw, draw, draw_controls

__all__ = ["CANDIDATES", "Task", "log_ratio", "measure_controls", "measure_tasks"]

CANDIDATES = ("spectrum", "classes", "classes+spectrum")
N_DRAWS = 8

#: A measured task as plain values; see `_measured`.
Task = dict[str, Any]


def measure_tasks(
    kinds: Iterable[str],
    modes: Sequence[str],
    n_draws: int,
    data: Path,
    work: Path,
    *,
    n_jobs: int = 1,
    progress: bool = True,
) -> list[Task]:
    """Return the tasks of `n_draws` draws of each kind and mode, three targets each."""
    work.mkdir(parents=True, exist_ok=True)
    wanted = [(kind, mode, i) for i in range(n_draws) for kind in kinds for mode in modes]
    missing = [(each, data, work) for each in wanted if not _file(work, *each).exists()]
    with progress_bar(len(missing), "measuring", shown=progress) as advance:
        for done in choose_executor(n_jobs, None).map(_measure, missing):
            advance(done)
    return [task for each in wanted for task in json.loads(_file(work, *each).read_text())]


def measure_controls(
    kinds: Iterable[str],
    n_draws: int,
    data: Path,
    work: Path,
    *,
    n_jobs: int = 1,
    progress: bool = True,
) -> list[Task]:
    """Return tasks of 3, 6 and 12 classes with sources of all classes, and with what takes their place."""
    work.mkdir(parents=True, exist_ok=True)
    wanted = [(kind, "controls", i) for i in range(n_draws) for kind in kinds]
    missing = [(each, data, work) for each in wanted if not _file(work, *each).exists()]
    with progress_bar(len(missing), "measuring", shown=progress) as advance:
        for done in choose_executor(n_jobs, None).map(_measure, missing):
            advance(done)
    return [task for each in wanted for task in json.loads(_file(work, *each).read_text())]


def _file(work: Path, kind: str, mode: str, number: int) -> Path:
    return work / f"{kind} {mode} {number}.json".replace(" > ", "-to-").replace(" ", "-")


def _measure(task: tuple[tuple[str, str, int], Path, Path]) -> str:
    (kind, mode, number), data, work = task
    found: list[Task] = []
    if mode == "controls":
        for n_classes, target, sources in draw_controls(kind, number, data):
            draws = [Draw(kind, each, sources[each], (target,), n_classes) for each in CONTROLS]
            true = _measured(draws[0], target)
            found += true
            for drawn in draws[1:]:
                found += [each for like in true for each in _measured(drawn, target, like)]
    else:
        drawn = draw(kind, mode, number, data)
        for target in drawn.targets:
            found += _measured(drawn, target)
    path = _file(work, kind, mode, number)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(found))
    part.replace(path)
    return kind


def _measured(drawn: Draw, target: Domain, like: Task | None = None) -> list[Task]:
    """Return what was measured for a target; nothing where it has too few rows.

    `like` is the same target with its true source: what needs no source is taken from there, and the rest is
    left out where L2T would not use it, because the features do not tell the known classes apart.
    """
    known = KnownClasses([drawn.source]).without(target)
    settings: dict[str, Any] = {
        "n_classes": drawn.n_classes,
        "rows_per_class": len(target) // drawn.n_classes,
    }
    rehearsal = rehearse(known, {}, **settings)
    useful = rehearsal.n_plays > 0 and rehearsal.skill >= LEAST_SKILL
    candidates = {name: algorithms.make(name) for name in CANDIDATES}
    if useful:
        rehearsal = rehearse(known, candidates, **settings)
    if like is None:
        wanted: tuple[str, ...] = CANDIDATES
        after: dict[str, Any] = {}
        try:
            before = _accuracies(target.X, target, drawn.n_classes)
        except L2TError:
            return []
    else:
        wanted = tuple(name for name in CANDIDATES if name != "spectrum") if useful else ()
        before, after = like["before"], {"spectrum": like["after"]["spectrum"]}
    pair = DomainPair(drawn.source, Domain(target.X))
    factors, failed = fit_candidates({name: candidates[name] for name in wanted}, pair, known, 0)
    if failed:
        return []
    for name, W in factors.items():
        after[name] = _accuracies(target.X @ W, target, drawn.n_classes)
    signs = vars(signs_of(target, known, rehearsal, SHOTS[0])) if useful else None
    rehearsed = rehearsal.after if useful else ()
    return [
        {
            "kind": drawn.kind,
            "group": KINDS[drawn.kind].group,
            "mode": drawn.mode,
            "n_classes": drawn.n_classes,
            "n_rows": len(target),
            "known_classes": known.n_classes,
            "share": signs_of(target, known, None, 1).share,
            "signs": [
                None if signs is None else signs | {"error": 1.0 - rehearsal.accuracy(shots)}
                for shots in SHOTS
            ],
            "rehearsed": {
                name: [rehearsal.log_ratio(name, shots)[0] for shots in SHOTS] for name in rehearsed
            },
            "before": before,
            "after": after,
        }
    ]


def _accuracies(Z: Any, target: Domain, n_classes: int) -> list[float | None]:
    """Return the accuracy of 1-NN for each number of labels per class, None for too few rows."""
    counts = [shots * n_classes for shots in SHOTS]
    found = evaluate(Z, target.codes, label_counts=counts, n_draws=N_DRAWS)
    scores = dict(zip(found.label_counts, found.mean.tolist(), strict=True))
    return [scores.get(count) for count in counts]


def log_ratio(task: Task, name: str, at: int) -> float:
    """Return the real log ratio of a candidate at a place of SHOTS; NaN where it was not measured."""
    if name == "identity":
        return 0.0
    before, after = task["before"][at], task["after"][name][at]
    if before is None or after is None:
        return float("nan")
    floor = 0.5 / task["n_rows"]
    return float(np.log(max(after, floor) / max(before, floor)))
