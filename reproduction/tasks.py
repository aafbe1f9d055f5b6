"""Tasks of every kind: ratios of candidates in rehearsal, and measured ratios.

One JSON file per draw is kept in a working folder, so that an interrupted run resumes where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from l2t import algorithms
from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.experiences.evaluation import (
    MIN_TEST_ROWS,
    improvement_ratio,
    labeled_draws,
    nearest_accuracy,
    rows_to_test,
)
from l2t.experiences.executors import Executor
from l2t.forecast import MetaFeatures
from l2t.inference.candidates import fit_candidates
from l2t.inference.choice import LEAST_SKILL, meta_features
from l2t.inference.evidence import MAX_EVIDENCE_ROWS, agreement
from l2t.numerics import squared_distances
from l2t.progress import progress_bar
from l2t.rehearsal import rehearse
from l2t.rehearsal.rehearsal import SHOTS
from l2t.statistics import KernelBank, pair_statistics
from l2t.typing import AnyArray
from reproduction.kinds import KINDS, Draw, draw

__all__ = ["CANDIDATES", "N_EVIDENCE", "Task", "log_ratio", "measure_tasks", "meta_at"]

CANDIDATES = ("spectrum", "classes", "classes+spectrum")
N_DRAWS = 8
#: In so many of them the evidence of the labelled rows is measured as well.
N_EVIDENCE = 4
#: Statistics are taken among at most so many rows of each domain.
N_STATISTICS = 240

#: A measured task as plain values; see `_measured`.
Task = dict[str, Any]
#: From a kind, the number of a draw and the folder of the data to what is measured.
Draws = Callable[[str, int, Path], Iterable[Draw]]


def measure_tasks(
    kinds: Iterable[str],
    modes: Sequence[str],
    n_draws: int,
    data: Path,
    work: Path,
    *,
    draws: Draws | None = None,
    n_jobs: int = 1,
    progress: bool = True,
) -> list[Task]:
    """Return the tasks of `n_draws` draws of each kind and mode; three targets each, or those of `draws`."""
    work.mkdir(parents=True, exist_ok=True)
    wanted = [(kind, mode, i) for i in range(n_draws) for kind in kinds for mode in modes]
    todo = [(each, draws, data, work) for each in wanted if not _file(work, *each).exists()]
    with progress_bar(len(todo), "measuring", shown=progress) as advance:
        for done in Executor(n_jobs).map(_measure, todo):
            advance(done)
    return [task for each in wanted for task in json.loads(_file(work, *each).read_text())]


def _file(work: Path, kind: str, mode: str, number: int) -> Path:
    return work / f"{kind} {mode} {number}.json".replace(" > ", "-to-").replace(" ", "-")


def _measure(task: tuple[tuple[str, str, int], Draws | None, Path, Path]) -> str:
    (kind, mode, number), draws, data, work = task
    found = [draw(kind, mode, number, data)] if draws is None else draws(kind, number, data)
    path = _file(work, kind, mode, number)
    part = path.with_suffix(".part")
    targets = ((each, target) for each in found for target in each.targets)
    part.write_text(json.dumps([row for pair in targets for row in _measured(*pair)]))
    part.replace(path)
    return kind


def _measured(drawn: Draw, target: Domain) -> list[Task]:
    """Return the measurements of a target; nothing if it has too few rows."""
    known = KnownClasses([drawn.source]).without(target)
    candidates = {name: algorithms.make(name) for name in CANDIDATES}
    rehearsal = rehearse(
        known,
        candidates,
        n_classes=drawn.n_classes,
        rows_per_class=len(target) // drawn.n_classes,
    )
    pair = DomainPair(drawn.source, Domain(target.X))
    factors, _ = fit_candidates(candidates, pair, known, 0)
    if len(target) < 2 * drawn.n_classes + MIN_TEST_ROWS or len(factors) < len(CANDIDATES):
        return []
    useful = rehearsal.n_plays > 0 and rehearsal.skill >= LEAST_SKILL
    alone = meta_features(target, known, None, 1, drawn.n_classes)
    task = {
        "kind": drawn.kind,
        "group": KINDS[drawn.kind].group,
        "mode": drawn.mode,
        "n_classes": drawn.n_classes,
        "n_rows": len(target),
        "known_classes": known.n_classes,
        "share": alone.share,
        "signs": [
            vars(meta_features(target, known, rehearsal, shots, drawn.n_classes))
            if useful
            else None
            for shots in SHOTS
        ],
        "rehearsed": {
            name: [rehearsal.log_ratio(name, shots) for shots in SHOTS]
            for name in CANDIDATES
            if useful
        },
        "statistics": _statistics(drawn.source, target, factors),
    }
    return [task | _outcomes(target, factors, drawn.n_classes)]


def _outcomes(target: Domain, factors: dict[str, AnyArray], n_classes: int) -> dict[str, Any]:
    """Return accuracies, and the evidence of labelled rows, for each number of labels per class and draw."""
    X = target.X - target.X.mean(axis=0, dtype=np.float64)
    distances = {"identity": squared_distances(X)}
    distances |= {name: squared_distances(X @ W) for name, W in factors.items()}
    accuracy: dict[str, list[Any]] = {name: [] for name in distances}
    evidence: dict[str, list[Any]] = {name: [] for name in distances}
    n_test = []
    for shots in SHOTS:
        draws = labeled_draws(target.codes, shots * n_classes, N_DRAWS)
        splits = [(rows, rows_to_test(len(target), rows)) for rows in draws]
        n_test.append(min(len(test) for _, test in splits))
        for name, D in distances.items():
            enough = n_test[-1] >= MIN_TEST_ROWS
            found = (
                [nearest_accuracy(D, target.codes, *split) for split in splits] if enough else None
            )
            accuracy[name].append(found)
            seen = None
            if enough and shots > 1:
                seen = [
                    agreement(
                        D[np.ix_(rows[:MAX_EVIDENCE_ROWS], rows[:MAX_EVIDENCE_ROWS])],
                        target.codes[rows[:MAX_EVIDENCE_ROWS]],
                    )
                    for rows in draws[:N_EVIDENCE]
                ]
            evidence[name].append(seen)
    return {"accuracy": accuracy, "evidence": evidence, "n_test": n_test}


def _statistics(
    source: Domain, target: Domain, factors: dict[str, AnyArray]
) -> dict[str, tuple[list[float], list[float]]]:
    """Return d and tau for three kernels, without W and with each, among as many rows for every pair."""
    rng = np.random.default_rng(0)
    some = [each.take(rng.permutation(len(each))[:N_STATISTICS]) for each in (source, target)]
    pair = DomainPair(Domain(some[0].X), Domain(some[1].X))
    found = {}
    for name, W in ({"identity": np.eye(target.n_features)} | factors).items():
        statistics = pair_statistics(pair, W, kernels=KernelBank(-2, 2, 2))
        found[name] = statistics.d.tolist(), statistics.tau.tolist()
    return found


def log_ratio(task: Task, name: str, at: int) -> float:
    """Return the real log ratio of a candidate at a place of SHOTS; NaN where it was not measured."""
    if name == "identity":
        return 0.0
    before, after = (task["accuracy"][each][at] for each in ("identity", name))
    if before is None or after is None:
        return float("nan")
    return float(np.log(improvement_ratio(np.mean(before), np.mean(after), task["n_test"][at])))


def meta_at(task: Task, at: int, draw: int | None = None) -> MetaFeatures:
    """Return the meta-features of a task at an index of SHOTS, with the labelled rows of a draw if given."""
    n_test = task["n_rows"] - SHOTS[at] * task["n_classes"]
    meta = MetaFeatures(task["share"], n_test=max(n_test, MIN_TEST_ROWS))
    seen = task["signs"][at]
    if seen is not None:
        playing = min(task["n_classes"], max(task["known_classes"] // 2, 2))
        ratio = float(np.log(task["n_classes"]) / np.log(playing))
        same = {name: seen[name] for name in ("excess", "error", "gap")}
        meta = replace(meta, **same, classes_ratio=ratio)
    rows = task["evidence"]["identity"][at] if draw is not None else None
    if rows is not None and draw is not None and rows[draw] is not None:
        n, _, _, nearest = rows[draw]
        meta = replace(meta, own_error=1.0 - nearest, n_own=n)
    return meta
