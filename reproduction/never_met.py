"""Choices, predictions and intervals of L2T on kinds of data that it was not learned from.

Each group of kinds is left out in turn: its forecast is chosen, fitted and calibrated on the other kinds that
may be learned from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, spearmanr

from l2t.forecast import Forecast
from l2t.rehearsal.rehearsal import SHOTS
from reproduction.forecast import (
    expectations,
    forecasts_without,
    outcomes,
)
from reproduction.kinds import KINDS, MODES
from reproduction.pages import write_page
from reproduction.searched import measure_searched, searched_table
from reproduction.tasks import CANDIDATES, N_EVIDENCE, Task, log_ratio, measure_tasks, meta_at

__all__ = ["judge", "write_families"]

#: Labels per class that are shown.
SHOWN = (1, 5, 15)
NAMES = ("identity", *CANDIDATES)
#: Tasks of each kind on which the paper's search is measured.
N_SEARCHED = 10


def write_families(data: Path, out: Path, work: Path, n_draws: int, n_jobs: int) -> None:
    """Measure tasks of all kinds, and write the page."""
    tasks = measure_tasks(KINDS, MODES, n_draws, data, work, n_jobs=n_jobs)
    forecasts = forecasts_without(tasks)
    found = pd.DataFrame([row for task in tasks for row in judge(forecasts[task["group"]], task)])
    searched = measure_searched(data, work / "searched", work / "reflection", N_SEARCHED)
    true = found[found["mode"] == "true"]
    adverse = found[found["mode"].str.startswith("adverse")]
    write_page(
        out / "families.md",
        n_draws=n_draws,
        n_tasks=len(tasks),
        shown=SHOWN,
        choices=_choices(true),
        means={
            label: _means(found[found["mode"].isin(modes)])
            for label, modes in {
                "the true source": ["true"],
                "noise in its place": ["noise"],
                "an adverse target": [mode for mode in MODES if mode.startswith("adverse")],
                "unbalanced classes": ["unbalanced"],
            }.items()
        },
        spearman=_spearman(true),
        spearman_adverse=_spearman(adverse),
        coverage=_coverage(found),
        strange=_strange(found),
        searched=searched_table(searched, SHOWN),
    )


def judge(forecast: Forecast, task: Task) -> list[dict[str, Any]]:
    """Return expected and measured log ratios for each number of labels per class and draw."""
    rows = []
    for at, shots in enumerate(SHOTS):
        if task["accuracy"]["identity"][at] is None:
            continue
        means = {name: log_ratio(task, name, at) for name in NAMES}
        measured = {name: outcomes(task, name, at) for name in CANDIDATES}
        rehearsed = dict.fromkeys(NAMES, 0.0)
        rehearsed |= {name: seen[at][0] for name, seen in task["rehearsed"].items()}
        for draw in range(N_EVIDENCE):
            alone = expectations(forecast, task, at)
            found = expectations(forecast, task, at, draw)
            meta = meta_at(task, at, draw)
            width = forecast.half_width(meta)
            real = {name: measured[name][draw] for name in CANDIDATES} | {"identity": 0.0}
            inside = [
                bool(abs(real[name] - found[name].mean) <= width * np.hypot(*found[name][1:]))
                for name in CANDIDATES
            ]
            usual = forecast.reliability.half_width(0.9)
            rows.append(
                {
                    **{key: task[key] for key in ("kind", "group", "mode", "n_rows", "n_classes")},
                    "shots": shots,
                    "draw": draw,
                    "task": id(task),
                    "choice": max(found, key=lambda name: found[name].mean),
                    "alone": max(alone, key=lambda name: alone[name].mean),
                    "rehearsed": max(rehearsed, key=lambda name: rehearsed[name]),
                    "expected": {name: found[name].mean for name in NAMES},
                    "real": real,
                    "means": means,
                    "inside": inside,
                    "strange": forecast.novelty(meta),
                    "inside_usual": [
                        bool(abs(real[n] - found[n].mean) <= usual * np.hypot(*found[n][1:]))
                        for n in CANDIDATES
                    ],
                }
            )
    return rows


def _worth(rows: pd.DataFrame) -> dict[str, float]:
    """Return the mean log ratio of each rule."""
    taken = {
        "what rehearsed best": [
            m[c] for m, c in zip(rows["means"], rows["rehearsed"], strict=True)
        ],
        "L2T, no labelled row": [m[c] for m, c in zip(rows["means"], rows["alone"], strict=True)],
        "L2T": [r[c] for r, c in zip(rows["real"], rows["choice"], strict=True)],
    }
    found = {name: float(np.mean([m[name] for m in rows["means"]])) for name in CANDIDATES}
    found |= {name: float(np.mean(values)) for name, values in taken.items()}
    found["best candidate of the kind"] = max(0.0, *(found[name] for name in CANDIDATES))
    return found


def _choices(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one record per kind: the ratio of every rule at each number of labels shown."""
    records = []
    for kind, mine in rows.groupby("kind"):
        cells = [
            _worth(mine[mine["shots"] == shots])
            for shots in SHOWN
            if (mine["shots"] == shots).any()
        ]
        tasks = mine["task"].nunique()
        ratios = {rule: [float(np.exp(cell[rule])) for cell in cells] for rule in cells[0]}
        records.append({"kind": kind, "tasks": tasks, "ratios": ratios})
    return records


def _means(rows: pd.DataFrame) -> dict[str, list[float]]:
    """Return the geometric mean over kinds of every rule."""
    columns = [
        pd.DataFrame(
            [_worth(mine) for _, mine in rows[rows["shots"] == shots].groupby("kind")]
        ).mean()
        for shots in SHOWN
    ]
    return {rule: [float(np.exp(column[rule])) for column in columns] for rule in columns[0].index}


def _spearman(rows: pd.DataFrame) -> tuple[float, float]:
    """Return the median rank correlation over candidates within a pair, and that over all pairs."""
    within, expected, real = [], [], []
    for (_, _), mine in rows.groupby(["task", "shots"]):
        foreseen = pd.DataFrame(list(mine["expected"])).mean()[list(NAMES)]
        came = pd.DataFrame(list(mine["means"])).mean()[list(NAMES)]
        expected += foreseen[list(CANDIDATES)].tolist()
        real += came[list(CANDIDATES)].tolist()
        if came.nunique() > 1 and foreseen.nunique() > 1:
            within.append(spearmanr(foreseen, came).statistic)
    return float(np.median(within)), float(spearmanr(expected, real).statistic)


def _coverage(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the coverage of the intervals of each kind, and its p-value if the true coverage were 90 %.

    The draws and candidates of a task are not independent: the test counts tasks.
    """
    records = []
    for kind, mine in rows.groupby("kind"):
        held = float(np.mean([each for row in mine["inside"] for each in row]))
        true = mine[mine["mode"] == "true"]
        tasks = mine["task"].nunique()
        p = binomtest(round(held * tasks), tasks, 0.9, "less").pvalue
        records.append(
            {
                "kind": kind,
                "tasks": tasks,
                "held": held,
                "p": float(p),
                "true": float(np.mean([each for row in true["inside"] for each in row])),
            }
        )
    return records


def _strange(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return how often the pairs of a kind are unfamiliar, and the coverage with and without widening."""
    records = []
    for kind, mine in rows.groupby("kind"):
        odd = mine[mine["strange"] > 1]
        held, usual = (
            float(np.mean([each for row in odd[name] for each in row])) if len(odd) else np.nan
            for name in ("inside", "inside_usual")
        )
        share = len(odd) / len(mine)
        records.append({"kind": kind, "share": share, "held": held, "usual": usual})
    return records
