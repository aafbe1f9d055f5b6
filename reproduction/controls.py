"""What the true source is worth beside noise, permuted labels and no source, by number of classes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from l2t.rehearsal.rehearsal import SHOTS
from reproduction.kinds import KINDS, SIZES
from reproduction.tasks import Task, log_ratio

__all__ = ["SHOWN", "Rule", "by_kind", "by_known_classes", "by_size", "mean_over_kinds", "worth"]

#: Labels per class that are shown.
SHOWN = (1, 5, 15)
#: Source classes, from the first number up to the one before the next.
KNOWN = (3, 6, 12, 25, 1000)

#: A rule gives the candidate that is taken for a task at a place of SHOTS.
Rule = Callable[[Task, int], str]


def worth(tasks: list[Task], rule: Rule, at: int) -> float:
    """Return the mean log ratio of what a rule takes; NaN for no task."""
    values = [
        log_ratio(task, rule(task, at), at) for task in tasks if task["before"][at] is not None
    ]
    return float(np.mean(values)) if values else float("nan")


def mean_over_kinds(tasks: list[Task], rule: Rule) -> list[float]:
    """Return the geometric mean over kinds for each number of labels shown."""
    logs = _logs(tasks, rule)
    known = [column[np.isfinite(column)] for column in logs.T]
    return [float(np.exp(column.mean())) if len(column) else float("nan") for column in known]


def _logs(tasks: list[Task], rule: Rule) -> Any:
    """Return the mean log ratios (kinds, numbers of labels shown)."""
    kinds = [[task for task in tasks if task["kind"] == kind] for kind in KINDS]
    return np.array(
        [[worth(some, rule, SHOTS.index(shots)) for shots in SHOWN] for some in kinds]
    ).reshape(-1, len(SHOWN))


def _columns(tasks: list[Task], rules: dict[str, Rule]) -> dict[str, tuple[list[Task], Rule]]:
    """Return what is shown side by side: tasks of one mode, and a rule."""
    true, noise, permuted = (
        [task for task in tasks if task["mode"] == mode] for mode in ("true", "noise", "permuted")
    )
    return {
        "always spectrum": (true, rules["always spectrum"]),
        "always classes+spectrum": (true, rules["always classes+spectrum"]),
        "L2T, no source": (true, rules["L2T without a source"]),
        "L2T, noise": (noise, rules["L2T"]),
        "L2T, permuted labels": (permuted, rules["L2T"]),
        "L2T, true source": (true, rules["L2T"]),
    }


def by_size(tasks: list[Task], rules: dict[str, Rule]) -> dict[str, Any]:
    """Return geometric means over kinds for all sizes of targets and for each, as rows of a table."""
    rows = []
    for size in (None, *SIZES):
        some = [task for task in tasks if size in (None, task["n_classes"])]
        columns = _columns(some, rules)
        true, noise = (_logs(*columns[name]) for name in ("L2T, true source", "L2T, noise"))
        gaps = [each[np.isfinite(each)] for each in (true - noise).T]
        rows.append(
            {
                "size": "all" if size is None else size,
                "n": sum(task["mode"] == "true" for task in some),
                "cells": [mean_over_kinds(*each) for each in columns.values()],
                "gap": [float(each.mean()) if len(each) else float("nan") for each in gaps],
                "error": [
                    float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else float("nan")
                    for each in gaps
                ],
            }
        )
    return {"names": list(_columns([], rules)), "rows": rows}


def by_kind(tasks: list[Task], rules: dict[str, Rule]) -> list[dict[str, Any]]:
    """Return the same for every kind and size that was measured."""
    rows = []
    for kind in KINDS:
        for size in SIZES:
            some = [task for task in tasks if (task["kind"], task["n_classes"]) == (kind, size)]
            if not some:
                continue
            plain = [[task["before"][SHOTS.index(shots)] for task in some] for shots in SHOWN]
            rows.append(
                {
                    "kind": kind,
                    "size": size,
                    "n": sum(task["mode"] == "true" for task in some),
                    "known": some[0]["known_classes"],
                    "plain": [_mean(each) for each in plain],
                    "cells": [
                        [float(np.exp(worth(*each, SHOTS.index(shots)))) for shots in SHOWN]
                        for each in _columns(some, rules).values()
                    ],
                }
            )
    return rows


def by_known_classes(tasks: list[Task], rules: dict[str, Rule]) -> list[dict[str, Any]]:
    """Return what tasks with their true source are worth with it and without, by its number of classes."""
    rows = []
    for low, high in pairwise(KNOWN):
        some = [t for t in tasks if t["mode"] == "true" and low <= t["known_classes"] < high]
        shown = ("always spectrum", "always classes+spectrum", "L2T without a source", "L2T")
        rows.append(
            {
                "known": f"{low} to {high - 1}" if high < KNOWN[-1] else f"{low} or more",
                "n": len(some),
                "kinds": len({task["kind"] for task in some}),
                "cells": [mean_over_kinds(some, rules[name]) for name in shown],
            }
        )
    return rows


def _mean(values: list[float | None]) -> float:
    known = [each for each in values if each is not None]
    return float(np.mean(known)) if known else float("nan")
