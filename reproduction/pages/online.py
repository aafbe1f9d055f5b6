"""The agent that keeps learning: over a stream, after a change, and by practice."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from l2t.domains import DomainPair
from l2t.experiences import ExperienceStore, open_store
from l2t.inference import PastTargets
from l2t.reflection import ReflectionFunction, learn
from l2t.typing import Array
from reproduction.families import Pairs, draw_pairs
from reproduction.figures import draw_drift, draw_stream
from reproduction.online import LABEL_COUNTS, measure_stream, ratios_of
from reproduction.pages import write_page
from reproduction.practice import PRACTICE_COUNTS, measure_practice
from tools.reports import number

__all__ = ["write_online"]

TRAIN, PRACTICE_PAIRS, VALIDATION = 24, 24, 24


def write_online(data: Path | None, out: Path, work: Path, pairs: int, jobs: int) -> None:
    """Measure everything, and write the page."""
    start = time.perf_counter()
    work.mkdir(parents=True, exist_ok=True)
    stream = _measure_stream(data, out, work, pairs)
    drift = None if data is None else _measure_drift(data, out, work, pairs // 3)
    practice = _measure_practice(data, work, jobs)
    write_page(
        out / "online.md",
        minutes=(time.perf_counter() - start) / 60,
        jobs=jobs,
        label_counts=LABEL_COUNTS,
        stream=stream,
        drift=drift,
        practice=practice,
    )


def _measure_stream(data: Path | None, out: Path, work: Path, n_pairs: int) -> dict[str, Any]:
    """Measure the stream."""
    family = "digits" if data is None else "photo-sketch"
    pairs = draw_pairs(family, "train", n_pairs, data)
    with _fresh(work / "online-stream.db") as store:
        stream = measure_stream(pairs, store)
        function = learn(store.experiences(status="done"))
        experiences = store.count(status="done")
    at_once = ratios_of(function, pairs, past=PastTargets(pair.target for pair in pairs))
    draw_stream(stream, float(at_once.mean()), out / "online-stream.png")
    half = stream.runs <= stream.runs[-1] / 2
    columns, rows = _by_part({"agent": stream.ratio, "learned at once": at_once}, 5)
    return {
        "pairs": n_pairs,
        "family": family,
        "columns": columns,
        "rows": rows,
        "experiences": experiences,
        "first_pairs": n_pairs // 20,
        "early": stream.running_mean()[n_pairs // 20 - 1],
        "end": stream.ratio.mean(),
        "share": stream.ratio.mean() / at_once.mean(),
        "last_pairs": n_pairs // 5,
        "agent_last": stream.ratio[-(n_pairs // 5) :].mean(),
        "once_last": at_once[-(n_pairs // 5) :].mean(),
        "took_over": sum(version.took_over for version in stream.versions),
        "versions": len(stream.versions),
        "coverage": 100 * stream.coverage,
        "first": 1000 * stream.seconds[half].mean(),
        "second": 1000 * stream.seconds[~half].mean(),
    }


def _measure_drift(data: Path, out: Path, work: Path, n_pairs: int) -> dict[str, Any]:
    """Measure a stream whose kind changes in the middle."""
    kinds = ("photo-sketch", "photo-style")
    parts = [draw_pairs(kind, "train", n_pairs, data, random_state=7) for kind in kinds]
    pairs: list[DomainPair] = [pair for part in parts for pair in part]
    with _fresh(work / "online-drift.db") as store:
        stream = measure_stream(pairs, store)
        functions = _by_kind(store, parts)
    known_past = [PastTargets(pair.target for pair in part) for part in parts]
    at_once = np.concatenate(
        [
            ratios_of(functions[i], part, past=known_past[i], first=i * n_pairs)
            for i, part in enumerate(parts)
        ]
    )
    known = (float(at_once[:n_pairs].mean()), float(at_once[n_pairs:].mean()))
    draw_drift(stream, n_pairs, known, out / "online-drift.png")
    shown = {
        "agent": stream.ratio,
        "its W, always": stream.always,
        "learned at once": at_once,
    }
    columns, rows = _by_part(shown, 10)
    return {"pairs": n_pairs, "kinds": kinds, "columns": columns, "rows": rows}


def _measure_practice(data: Path | None, work: Path, jobs: int) -> dict[str, Any]:
    """Measure what practice is worth."""
    tables = []
    for family in ("digits",) if data is None else ("photo-sketch", "digits"):
        train = draw_pairs(family, "train", TRAIN, data)
        practice = draw_pairs(family, "train", PRACTICE_PAIRS, data, random_state=1)
        validation = draw_pairs(family, "validation", VALIDATION, data)
        with (
            open_store(work / f"{family}.db") as collected,
            _fresh(work / f"online-practice-{family}.db") as own,
        ):
            study = measure_practice(train, practice, validation, collected, own, n_jobs=jobs)
        rows = []
        for when, each in (("before", study.before), ("after", study.after)):
            rows.append((f"ratio {when}", *map(number, each.mean(each.l2t))))
            rows.append((f"W always, {when}", *map(number, each.mean(each.always))))
            rows.append((f"optimism {when}", *(number(v, "+.3f") for v in study.optimism(each))))
            rows.append((f"error {when}", *map(number, study.error(each))))
        columns = (family, *(f"{count} labels" for count in PRACTICE_COUNTS))
        rows.sort(key=lambda row: row[0].split()[0])
        tables.append({"columns": columns, "rows": rows})
    return {
        "train": TRAIN,
        "practice": PRACTICE_PAIRS,
        "validation": VALIDATION,
        "tables": tables,
    }


def _by_kind(store: ExperienceStore, parts: list[Pairs]) -> list[ReflectionFunction]:
    """Return the functions learned from the experiences of each kind alone."""
    found = []
    for part in parts:
        targets = {pair.target.fingerprint for pair in part}
        runs = [each for each in store.experiences(status="done") if each.target in targets]
        found.append(learn(runs))
    return found


def _fresh(path: Path) -> ExperienceStore:
    """Open a new store: a stream begins at its beginning."""
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    return open_store(path)


def _by_part(shown: dict[str, Array], n_parts: int) -> tuple[list[str], list[list[str]]]:
    """Return a table of the mean ratios of equal parts of a stream, and of all of it."""
    n_pairs = len(next(iter(shown.values())))
    ends = np.linspace(0, n_pairs, n_parts + 1).astype(int)
    columns = ["pairs", *(f"{a + 1} - {b}" for a, b in pairwise(ends)), "all"]
    rows = [
        [name, *(f"{part.mean():.3f}" for part in (*np.split(ratios, ends[1:-1]), ratios))]
        for name, ratios in shown.items()
    ]
    return columns, rows
