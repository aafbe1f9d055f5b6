"""Whether the paper's search should be a default candidate of `infer`: its ratios on all kinds of data.

The function is learned as the one that ships or, where that would share rows with the kind that is measured,
from sentences. Ratios are those of each candidate's W if it were always used: no rehearsal takes part.
"""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.experiences import evaluate, improvement_ratio
from l2t.inference.candidates import candidate_algorithms, fit_candidates
from l2t.paper import Reflection, search
from l2t.rehearsal.rehearsal import SHOTS
from l2t.typing import Array
from reproduction.kinds import KINDS, Draw, draw
from reproduction.reflection import FAMILY, learn_from
from reproduction.tasks import CANDIDATES

__all__ = ["SEARCHED", "measure_searched", "searched_table"]

#: The search in the features as given, and in the geometry of the source's classes.
SEARCHED = ("searched", "classes+searched")
#: Tasks are of at most so many rows, so that a search takes seconds.
MOST_SOURCE, MOST_TARGET = 400, 250
#: What is learned from, and from how many pairs, for kinds that share rows with that family.
INSTEAD, N_INSTEAD = "intents", 24


def measure_searched(data: Path, work: Path, experiences: Path, n_tasks: int) -> list[Any]:
    """Return the log ratios of candidates on `n_tasks` tasks of each kind; measured ones are kept in a file.

    Parameters
    ----------
    data, work, experiences : path
        The data sets, the folder of the file, and that of the experiences of `learn_from`.
    n_tasks : int
        The number of tasks of each kind.

    Returns
    -------
    list of dict
        With kind, number, seconds by candidate, and log ratios by candidate at each of `SHOTS`.
    """
    path = work / "searched.jsonl"
    work.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(row["kind"], row["number"]) for row in rows}
    functions = {
        FAMILY: learn_from(FAMILY, data, experiences),
        INSTEAD: learn_from(INSTEAD, data, experiences, N_INSTEAD),
    }
    for i in range(n_tasks):
        for kind, made in KINDS.items():
            if (kind, i) in done:
                continue
            family = INSTEAD if made.group == FAMILY else FAMILY
            measured = _measured(_task(kind, i, data), functions[family])
            row = {"kind": kind, "number": i, **measured}
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")
            rows.append(row)
    return rows


def searched_table(rows: list[Any], shown: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return one record per kind, and one for all: mean ratios by candidate, and seconds."""
    records = []
    for kind in [*dict.fromkeys(row["kind"] for row in rows), "all kinds"]:
        mine = [row for row in rows if kind in (row["kind"], "all kinds")]
        ratios = {}
        for name in (*CANDIDATES, *SEARCHED):
            logs = np.array([row["log_ratios"][name] for row in mine], dtype=float)
            known = [logs[:, SHOTS.index(shots)] for shots in shown]
            known = [column[np.isfinite(column)] for column in known]
            ratios[name] = [
                float(np.exp(column.mean())) if column.size else None for column in known
            ]
        seconds = {
            name: float(np.mean([row["seconds"][name] for row in mine]))
            for name in ("candidates", *SEARCHED)
        }
        records.append({"kind": kind, "tasks": len(mine), "ratios": ratios, "seconds": seconds})
    return records


def _task(kind: str, number: int, data: Path) -> Draw:
    """Return the task of this number among the draws of a kind with a small target; its source is sampled."""
    draws = (draw(kind, "true", at, data, n_targets=1) for at in itertools.count())
    small = (each for each in draws if len(each.targets[0]) <= MOST_TARGET)
    drawn = next(itertools.islice(small, number, None))
    return replace(drawn, source=drawn.source.sample(MOST_SOURCE, 0))


def _measured(task: Draw, function: Reflection) -> dict[str, Any]:
    source, target = task.source, task.targets[0]
    pair, known = DomainPair(source, Domain(target.X)), KnownClasses([source])
    seconds: dict[str, float] = {}

    def timed(name: str, start: float) -> None:
        seconds[name] = time.process_time() - start

    start = time.process_time()
    factors, _ = fit_candidates(candidate_algorithms(None, 0), pair, known, 0)
    timed("candidates", start)
    maps: dict[str, Any] = {name: factors[name] for name in CANDIDATES if name in factors}
    for name, memory in zip(SEARCHED, (None, known), strict=True):
        start = time.process_time()
        maps[name] = search(pair, function, known=memory).W
        timed(name, start)
    counts = [shots * task.n_classes for shots in SHOTS]
    same: dict[str, Any] = {"label_counts": counts, "random_state": 0}
    before = evaluate(target.X, target.codes, **same)
    logs = {}
    for name in (*CANDIDATES, *SEARCHED):
        ratios = np.full(len(counts), np.nan)
        if name in maps:
            after = evaluate(target.X @ maps[name], target.codes, **same)
            known_ratios: Array = improvement_ratio(before.mean, after.mean, before.n_test)
            ratios[: len(known_ratios)] = np.log(known_ratios)
        logs[name] = [None if np.isnan(value) else float(value) for value in ratios]
    return {"seconds": seconds, "log_ratios": logs, "n_classes": task.n_classes}
