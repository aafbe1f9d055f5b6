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
from reproduction.kinds import KINDS, Draw, draw

__all__ = ["CANDIDATES", "Task", "log_ratio", "measure_tasks"]

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


def _file(work: Path, kind: str, mode: str, number: int) -> Path:
    return work / f"{kind} {mode} {number}.json".replace(" > ", "-to-").replace(" ", "-")


def _measure(task: tuple[tuple[str, str, int], Path, Path]) -> str:
    (kind, mode, number), data, work = task
    drawn = draw(kind, mode, number, data)
    path = _file(work, kind, mode, number)
    part = path.with_suffix(".part")
    part.write_text(
        json.dumps([each for target in drawn.targets for each in _measured(drawn, target)])
    )
    part.replace(path)
    return kind


def _measured(drawn: Draw, target: Domain) -> list[Task]:
    """Return what was measured for a target; nothing where it has too few rows."""
    known = KnownClasses([drawn.source]).without(target)
    candidates = {name: algorithms.make(name) for name in CANDIDATES}
    rehearsal = rehearse(
        known,
        candidates,
        n_classes=drawn.n_classes,
        rows_per_class=len(target) // drawn.n_classes,
    )
    try:
        before = _accuracies(target.X, target, drawn.n_classes)
    except L2TError:
        return []
    pair = DomainPair(drawn.source, Domain(target.X))
    factors, _ = fit_candidates(candidates, pair, known, 0)
    if len(factors) < len(CANDIDATES):
        return []
    useful = rehearsal.n_plays > 0 and rehearsal.skill >= LEAST_SKILL
    alone = signs_of(target, known, None, 1)
    return [
        {
            "kind": drawn.kind,
            "group": KINDS[drawn.kind].group,
            "mode": drawn.mode,
            "n_classes": drawn.n_classes,
            "n_rows": len(target),
            "known_classes": known.n_classes,
            "share": alone.share,
            "signs": [
                vars(signs_of(target, known, rehearsal, shots)) if useful else None
                for shots in SHOTS
            ],
            "rehearsed": {
                name: [rehearsal.log_ratio(name, shots)[0] for shots in SHOTS]
                for name in CANDIDATES
                if useful
            },
            "before": before,
            "after": {
                name: _accuracies(target.X @ W, target, drawn.n_classes)
                for name, W in factors.items()
            },
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
