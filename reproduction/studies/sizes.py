"""One pair with few rows and with many: whether predictions change, and the ratio of the choice."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import l2t
from l2t.domains import Domain, DomainPair
from reproduction.studies.measuring import Records, Trial, draw_pair, geometric_mean, remembered

__all__ = ["measure_refusals", "measure_sizes", "measure_style"]
__all__ += ["refusal_rows", "size_rows", "style_rows"]

#: Classes of the target, and its numbers of rows.
SIZED = {
    "sketch > sketch": (12, (45, 240, 960)),
    "photo > style": (12, (45, 240, 960)),
    "letters": (3, (45, 240, 960)),
    "digits": (3, (45, 240, 510)),
    "characters": (3, (45, 60)),
}
N_PAIRS = 2
SHOTS = (1, 5)
#: Where a candidate is worth this much, it helps.
HELPS = 1.02


def measure_sizes(data: Path, work: Path) -> dict[str, Records]:
    """Return predicted and measured ratios of each kind at each number of rows."""
    return {kind: remembered(work, f"sizes {kind}", partial(_sizes, kind, data)) for kind in SIZED}


def _sizes(kind: str, data: Path) -> Records:
    records = []
    n_classes, sizes = SIZED[kind]
    for number in range(N_PAIRS):
        rng = np.random.default_rng([1, number])
        pair = draw_pair(kind, data, rng, n_classes=n_classes, n_rows=sizes[-1] // n_classes)
        for n_rows in sizes:
            target = _fewer(pair.target, n_rows)
            for shots in SHOTS:
                trial = Trial(target, shots, 10)
                if trial.splits:
                    records += _compared(DomainPair(pair.source, target), trial, shots, number)
    return records


def _fewer(target: Domain, n_rows: int) -> Domain:
    """Return so many rows, in equal shares of all classes."""
    place = np.zeros(len(target))
    for code in np.unique(target.codes):
        members = np.flatnonzero(target.codes == code)
        place[members] = np.arange(len(members))
    return target.take(np.sort(np.argsort(place, kind="stable")[:n_rows]))


def _compared(pair: DomainPair, trial: Trial, shots: int, number: int) -> Records:
    found = l2t.infer(
        DomainPair(pair.source, Domain(pair.target.X)),
        n_labels=trial.n_labels,
        n_classes=trial.n_classes,
    )
    real = trial.ratios(found)
    return [
        {
            "pair": number,
            "rows": len(pair.target),
            "shots": shots,
            "choice": found.choice,
            "candidate": name,
            "predicted": found.candidates[name].predicted,
            "real": geometric_mean(real[name]),
        }
        for name in real
        if name != "identity"
    ]


def size_rows(records: Records) -> list[dict[str, Any]]:
    """Return predicted and real ratios by number of labels and candidate, and how much each varies."""
    rows = []
    for shots, name in sorted({(each["shots"], each["candidate"]) for each in records}):
        mine = [each for each in records if (each["shots"], each["candidate"]) == (shots, name)]
        sizes = sorted({each["rows"] for each in mine})
        cells = [
            [
                geometric_mean(each[what] for each in mine if each["rows"] == size)
                for what in ("predicted", "real")
            ]
            for size in sizes
        ]
        predicted, real = (max(column) / min(column) for column in zip(*cells, strict=True))
        rows.append(
            {
                "shots": shots,
                "candidate": name,
                "sizes": sizes,
                "cells": cells,
                "predicted": predicted,
                "real": real,
            }
        )
    return rows


def measure_refusals(data: Path, work: Path, n_pairs: int = 24) -> Records:
    """Return, for characters with 60 rows, the choice and the ratio of the best candidate."""

    def measure() -> Records:
        records = []
        for number in range(n_pairs):
            rng = np.random.default_rng([2, number])
            pair = draw_pair("characters", data, rng, n_rows=20, source_classes=40, source_rows=20)
            for shots in SHOTS:
                trial = Trial(pair.target, shots, 10)
                found = _compared(pair, trial, shots, number)
                worth = {each["candidate"]: each["real"] for each in found}
                choice = found[0]["choice"]
                records.append(
                    {
                        "shots": shots,
                        "choice": choice,
                        "worth": worth.get(choice, 1.0),
                        "best": max(worth.values()),
                    }
                )
        return records

    return remembered(work, "refusals", measure)


def refusal_rows(records: Records) -> list[dict[str, Any]]:
    """Return how often nothing was transferred although a candidate helps."""
    rows = []
    for shots in SHOTS:
        mine = [each for each in records if each["shots"] == shots]
        helped = [each for each in mine if each["best"] > HELPS]
        rows.append(
            {
                "shots": shots,
                "n": len(mine),
                "helped": len(helped),
                "refused": sum(each["choice"] == "identity" for each in helped),
                "worth": geometric_mean(each["worth"] for each in mine),
                "best": geometric_mean(each["best"] for each in mine),
            }
        )
    return rows


def measure_style(data: Path, work: Path, n_pairs: int = 8, n_draws: int = 2) -> Records:
    """Return the ratio of the choice on photo > style, with the labelled rows marked and not."""

    def measure() -> Records:
        records = []
        for number in range(n_pairs):
            rng = np.random.default_rng([3, number])
            pair = draw_pair("photo > style", data, rng)
            for n_rows in (60, 120, 240):
                target = _fewer(pair.target, n_rows)
                for shots in (1, 5, 15):
                    records += _worth(DomainPair(pair.source, target), shots, n_draws)
        return records

    return remembered(work, "style", measure)


def _worth(pair: DomainPair, shots: int, n_draws: int) -> Records:
    trial = Trial(pair.target, shots, n_draws)
    if not trial.splits:
        return []
    plain = Domain(pair.target.X)
    found = l2t.infer(
        DomainPair(pair.source, plain), n_labels=trial.n_labels, n_classes=trial.n_classes
    )
    real = trial.ratios(found)
    records = [
        {"marked": False, "choice": found.choice, "worth": geometric_mean(real[found.choice])}
    ]
    for draw in range(n_draws):
        few = DomainPair(pair.source, trial.marked(pair.target, draw))
        choice = l2t.infer(few, shared=False).choice
        records.append({"marked": True, "choice": choice, "worth": float(real[choice][draw])})
    return [each | {"rows": len(pair.target), "shots": shots} for each in records]


def style_rows(records: Records) -> list[dict[str, Any]]:
    """Return the ratio of the choice by rows and labels per class."""
    rows = []
    for n_rows, shots in sorted({(each["rows"], each["shots"]) for each in records}):
        mine = [each for each in records if (each["rows"], each["shots"]) == (n_rows, shots)]
        plain, marked = ([each for each in mine if each["marked"] == m] for m in (False, True))
        rows.append(
            {
                "rows": n_rows,
                "shots": shots,
                "plain": geometric_mean(each["worth"] for each in plain),
                "marked": geometric_mean(each["worth"] for each in marked),
                "chosen": sum(each["choice"] != "identity" for each in plain),
                "n": len(plain),
            }
        )
    return rows
