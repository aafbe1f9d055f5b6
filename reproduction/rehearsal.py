"""Ratios of candidates on every kind of data, in rehearsal and measured, and of the choice.

The forecast that chooses is fitted without the group of kinds that it is evaluated on.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from l2t.forecast import Forecast
from l2t.rehearsal.rehearsal import SHOTS
from reproduction.forecast import expectations, forecasts_without
from reproduction.kinds import KINDS, MODES
from reproduction.pages import write_page
from reproduction.sources import source_tables
from reproduction.tasks import CANDIDATES, Task, log_ratio, measure_tasks

__all__ = ["write_rehearsal"]

#: Labels per class that are shown.
SHOWN = (1, 5, 15)
ADVERSE = tuple(mode for mode in MODES if mode.startswith("adverse"))

#: A rule gives the candidate that is taken for a task at a place of SHOTS.
Rule = Callable[[Task, int], str]


def write_rehearsal(data: Path, out: Path, work: Path, n_draws: int, n_jobs: int) -> None:
    """Measure tasks of all kinds, and write the page."""
    tasks = measure_tasks(KINDS, MODES, n_draws, data, work, n_jobs=n_jobs)
    forecasts = forecasts_without(tasks)
    rules = _rules(forecasts)
    true = [task for task in tasks if task["mode"] == "true"]
    groups = {
        "the true source": true,
        "noise in its place": [task for task in tasks if task["mode"] == "noise"],
        "an adverse target": [task for task in tasks if task["mode"] in ADVERSE],
    }
    means = [
        [f"{label}, {name}", *_mean_over_kinds(some, rule)]
        for label, some in groups.items()
        for name, rule in rules.items()
    ]
    write_page(
        out / "rehearsal.md",
        n_draws=n_draws,
        n_tasks=len(tasks),
        kinds=[_kind_row(kind, true, rules["L2T"]) for kind in KINDS],
        means=means,
        correlation=_correlation(true),
        worst=_worst(true, rules["L2T"]),
        shown=SHOWN,
        **source_tables(tasks, rules, data, work, n_jobs),
    )


def _rules(forecasts: dict[str, Forecast]) -> dict[str, Rule]:
    def expected(task: Task, at: int, *, rehearsed: bool) -> str:
        found = expectations(forecasts[task["group"]], task, at, source=rehearsed)
        return max(found, key=lambda name: found[name].mean)

    def rehearsed_best(task: Task, at: int) -> str:
        found: dict[str, float] = {"identity": 0.0}
        found |= {name: ratios[at][0] for name, ratios in task["rehearsed"].items()}
        return max(found, key=lambda name: found[name])

    def best(task: Task, at: int) -> str:
        return max(("identity", *CANDIDATES), key=lambda name: log_ratio(task, name, at))

    return {
        "always spectrum": lambda task, at: "spectrum",
        "always classes+spectrum": lambda task, at: "classes+spectrum",
        "what rehearsed best": rehearsed_best,
        "L2T without a source": lambda task, at: expected(task, at, rehearsed=False),
        "L2T": lambda task, at: expected(task, at, rehearsed=True),
        "best of each task, in hindsight": best,
    }


def _worth(tasks: list[Task], rule: Rule, at: int) -> float:
    """Return the mean log ratio of a rule; NaN for no task."""
    values = [
        log_ratio(task, rule(task, at), at)
        for task in tasks
        if task["accuracy"]["identity"][at] is not None
    ]
    return float(np.mean(values)) if values else float("nan")


def _by_kind(tasks: list[Task]) -> dict[str, list[Task]]:
    return {kind: [task for task in tasks if task["kind"] == kind] for kind in KINDS}


def _mean_over_kinds(tasks: list[Task], rule: Rule) -> list[float]:
    """Return the geometric mean over kinds for each number of labels shown."""
    kinds = [some for some in _by_kind(tasks).values() if some]
    logs = np.array([[_worth(some, rule, SHOTS.index(shots)) for shots in SHOWN] for some in kinds])
    known = [column[np.isfinite(column)] for column in logs.reshape(-1, len(SHOWN)).T]
    return [float(np.exp(column.mean())) if len(column) else float("nan") for column in known]


def _worst(tasks: list[Task], rule: Rule) -> list[tuple[str, float]]:
    """Return the kind with the lowest ratio for each number of labels shown."""
    found = []
    for shots in SHOWN:
        at = SHOTS.index(shots)
        ratios = {kind: _worth(each, rule, at) for kind, each in _by_kind(tasks).items()}
        kind = min(ratios, key=lambda name: np.nan_to_num(ratios[name], nan=np.inf))
        found.append((kind, float(np.exp(ratios[kind]))))
    return found


def _kind_row(kind: str, tasks: list[Task], rule: Rule) -> dict[str, Any]:
    """Return the measurements of one kind with its true source."""
    mine = [task for task in tasks if task["kind"] == kind]
    row: dict[str, Any] = {"kind": kind, "n": len(mine), "cells": {}}
    places = [SHOTS.index(shots) for shots in SHOWN]
    row["plain"] = [
        float(
            np.mean(
                [
                    np.mean(task["accuracy"]["identity"][at])
                    for task in mine
                    if task["accuracy"]["identity"][at] is not None
                ]
                or [np.nan]
            )
        )
        for at in places
    ]
    for name in CANDIDATES:
        row["cells"][name] = [_real_and_seen(mine, name, at) for at in places]
    row["choice"] = [float(np.exp(_worth(mine, rule, at))) for at in places]
    return row


def _real_and_seen(tasks: list[Task], name: str, at: int) -> tuple[float, float]:
    """Return the mean real ratio of a candidate, and the mean rehearsed one."""
    seen = [task["rehearsed"][name][at][0] for task in tasks if task["rehearsed"]] or [np.nan]
    real = _worth(tasks, lambda task, place: name, at)
    return float(np.exp(real)), float(np.exp(np.mean(seen)))


def _correlation(tasks: list[Task]) -> float:
    """Return the correlation of rehearsed and real log ratios over kinds and candidates.

    Kinds whose source and target are of one file, at one and five labels per class.
    """
    real, seen = [], []
    for kind, mine in _by_kind(tasks).items():
        if KINDS[kind].source != KINDS[kind].target:
            continue
        for name in CANDIDATES:
            for shots in (1, 5):
                at = SHOTS.index(shots)
                useful = [
                    task
                    for task in mine
                    if task["rehearsed"] and task["accuracy"]["identity"][at] is not None
                ]
                real.append(np.mean([log_ratio(task, name, at) for task in useful]))
                seen.append(np.mean([task["rehearsed"][name][at][0] for task in useful]))
    return float(np.corrcoef(real, seen)[0, 1])
