"""The true source compared with noise, permuted labels and no source, on the same targets.

Targets have 3, 6 and 12 classes; the source has all classes that no target draws from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from l2t.rehearsal.rehearsal import SHOTS
from reproduction.kinds import KINDS, ROWS, Draw, _source, _split, _target, read_scaled
from reproduction.tasks import Task, log_ratio, measure_tasks

__all__ = ["CONTROLS", "Rule", "by_kind", "by_known_classes", "by_size", "draw_controls"]
__all__ += ["goals", "measure_controls"]

CONTROLS = ("true", "noise", "permuted")
#: Classes of the targets.
SIZES = (3, 6, 12)
#: Labels per class that are shown.
SHOWN = (1, 5, 15)
#: Source classes, from each number up to the one before the next.
KNOWN = (3, 6, 12, 25, 1000)

#: A rule gives the candidate that is taken for a task at a place of SHOTS.
Rule = Callable[[Task, int], str]


def draw_controls(kind: str, number: int, data: Path, *, n_targets: int = 3) -> list[Draw]:
    """Return targets of each size, each with every source of `CONTROLS`; the sources are the same for all."""
    made = KINDS[kind]
    source, target = read_scaled(data, made.source), read_scaled(data, made.target)
    rng = np.random.default_rng([1, sorted(KINDS).index(kind), number])
    ours, theirs = _split(source, target, rng)
    rows = int(rng.choice(ROWS))
    seeds = {mode: np.random.default_rng([2, number]) for mode in CONTROLS}
    sources = {mode: _source(source, ours, mode, each) for mode, each in seeds.items()}
    found = []
    for size in [each for each in SIZES if each <= len(theirs) for _ in range(n_targets)]:
        codes = rng.permutation(theirs)[:size]
        drawn = _target(target, codes, min(rows, 1000 // size), "true", rng)
        found += [Draw(kind, mode, sources[mode], (drawn,), size) for mode in CONTROLS]
    return found


def measure_controls(
    kinds: Iterable[str], n_draws: int, data: Path, work: Path, **options: Any
) -> list[Task]:
    """Return the tasks of `n_draws` draws of each kind, nine targets each where it has enough classes."""
    return measure_tasks(kinds, ("controls",), n_draws, data, work, draws=draw_controls, **options)


def _worth(tasks: list[Task], rule: Rule) -> list[float]:
    """Return the mean log ratio of a rule for each number of labels shown; NaN for no task."""
    logs = np.full((len(tasks), len(SHOWN)), np.nan)
    for row, task in enumerate(tasks):
        for column, at in enumerate(map(SHOTS.index, SHOWN)):
            if np.isfinite(log_ratio(task, "spectrum", at)):  # there are rows enough to test
                logs[row, column] = log_ratio(task, rule(task, at), at)
    return _mean(logs)


def _over_kinds(tasks: list[Task], rule: Rule) -> Any:
    """Return the mean log ratios (kinds, numbers of labels shown)."""
    return np.array([_worth([t for t in tasks if t["kind"] == kind], rule) for kind in KINDS])


def _mean(logs: Any) -> list[float]:
    columns = [column[np.isfinite(column)] for column in logs.T]
    return [float(column.mean()) if len(column) else float("nan") for column in columns]


def _error(values: Any) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _columns(tasks: list[Task], rules: dict[str, Rule]) -> dict[str, tuple[list[Task], Rule]]:
    """Return the columns of the tables: tasks of one mode, and a rule."""
    true, noise, permuted = ([t for t in tasks if t["mode"] == mode] for mode in CONTROLS)
    return {
        "always spectrum": (true, rules["always spectrum"]),
        "always classes+spectrum": (true, rules["always classes+spectrum"]),
        "L2T, no source": (true, rules["L2T without a source"]),
        "L2T, noise": (noise, rules["L2T"]),
        "L2T, permuted labels": (permuted, rules["L2T"]),
        "L2T, true source": (true, rules["L2T"]),
    }


def by_size(tasks: list[Task], rules: dict[str, Rule]) -> dict[str, Any]:
    """Return geometric means over kinds, for targets of any size and of each."""
    rows = []
    for size in ("all", *SIZES):
        some = [task for task in tasks if size in ("all", task["n_classes"])]
        logs = {name: _over_kinds(*each) for name, each in _columns(some, rules).items()}
        gaps = logs["L2T, true source"] - logs["L2T, noise"]
        rows.append(
            {
                "size": size,
                "n": sum(task["mode"] == "true" for task in some),
                "cells": [np.exp(_mean(each)).tolist() for each in logs.values()],
                "gap": _mean(gaps),
                "error": [_error(column[np.isfinite(column)]) for column in gaps.T],
            }
        )
    return {"names": list(_columns([], rules)), "rows": rows}


def by_kind(tasks: list[Task], rules: dict[str, Rule]) -> list[dict[str, Any]]:
    """Return mean ratios for every kind and size that was measured."""
    groups = {
        (kind, size): [t for t in tasks if (t["kind"], t["n_classes"]) == (kind, size)]
        for kind in KINDS
        for size in SIZES
    }
    return [
        {
            "kind": kind,
            "size": size,
            "n": sum(task["mode"] == "true" for task in some),
            "known": some[0]["known_classes"],
            "cells": [np.exp(_worth(*each)).tolist() for each in _columns(some, rules).values()],
        }
        for (kind, size), some in groups.items()
        if some
    ]


def by_known_classes(tasks: list[Task], rules: dict[str, Rule]) -> list[dict[str, Any]]:
    """Return ratios with the true source and without a source, by the number of source classes."""
    shown = ("always spectrum", "always classes+spectrum", "L2T without a source", "L2T")
    rows = []
    for low, high in pairwise(KNOWN):
        some = [t for t in tasks if t["mode"] == "true" and low <= t["known_classes"] < high]
        rows.append(
            {
                "known": f"{low} to {high - 1}" if high < KNOWN[-1] else f"{low} or more",
                "n": len(some),
                "kinds": len({task["kind"] for task in some}),
                "cells": [np.exp(_mean(_over_kinds(some, rules[name]))).tolist() for name in shown],
            }
        )
    return rows


def goals(
    tasks: list[Task], controls: list[Task], rules: dict[str, Rule]
) -> list[tuple[str, list[float], list[tuple[list[float], bool]]]]:
    """Return goals and results at 1 and 5 labels, as differences of geometric means, and what is reached.

    For sources of a random number of classes, and for sources of all classes.
    """
    asked = {
        "the choice over always spectrum": ((0.03, 0.03), "L2T, true source", "always spectrum"),
        "the true source over noise": ((0.05, 0.03), "L2T, true source", "L2T, noise"),
        "noise over no source": ((-0.005, -0.005), "L2T, noise", "L2T, no source"),
    }
    table = []
    for what, (least, first, second) in asked.items():
        found = []
        for some in (tasks, controls):
            columns = _columns(some, rules)
            one, two = (np.exp(_mean(_over_kinds(*columns[each]))) for each in (first, second))
            gaps = [round(float(each), 3) for each in (one - two)[:2]]
            found.append((gaps, all(np.array(gaps) >= least)))
        table.append((what, list(least), found))
    return table
