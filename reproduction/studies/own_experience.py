"""Own experience: a store of runs on one kind of data, and the ratio of the choice on new pairs of it.

The forecast that ships was not learned from these kinds.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import l2t
from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.forecast import Forecast, refine
from reproduction.studies.measuring import (
    Records,
    Trial,
    geometric_mean,
    kind_domains,
    remembered,
    take_classes,
)

__all__ = ["KINDS", "RUNS", "experience_rows", "measure_experience"]

KINDS = ("sounds", "mnist", "photo > style")
CANDIDATES = ("identity", "spectrum", "classes", "classes+spectrum")
#: Runs in the store.
RUNS = (0, 20, 100, 400)
SHOTS = (1, 5)
N_CLASSES, N_ROWS, N_NEW = 3, 20, 8


def measure_experience(data: Path, work: Path) -> dict[str, Records]:
    """Return the ratio of the choice on new pairs, for every kind and number of own runs."""
    return {
        kind: remembered(work, f"experience {kind}", partial(_measure, kind, data))
        for kind in KINDS
    }


def _measure(kind: str, data: Path) -> Records:
    source, own, new = _parts(kind, data)
    store = l2t.open_store("memory://")
    records = []
    for n_runs in RUNS:
        if n_runs:
            pairs = [DomainPair(source, target) for target in own[: n_runs // len(CANDIDATES)]]
            l2t.collect(
                pairs,
                store,
                algorithms=CANDIDATES,
                label_counts=[shots * N_CLASSES for shots in SHOTS],
                kernels=l2t.KernelBank(-2, 2, 2),
                n_draws=10,
                progress=False,
            )
        forecast = refine(Forecast.default(), store.experiences())
        reflection = replace(l2t.load_reflection("default"), forecast=forecast)
        for with_known in (True, False) if n_runs else (False,):
            known = KnownClasses.of(store) if with_known else None
            for number, target in enumerate(new):
                records += [
                    each | {"runs": n_runs, "known": with_known, "pair": number}
                    for each in _worth(source, target, reflection, known)
                ]
    return records


def _parts(kind: str, data: Path) -> tuple[Domain, list[Domain], list[Domain]]:
    """Return a source of three classes or more, past targets, and new ones; no class is in two of them."""
    rng = np.random.default_rng(5)
    whole, target = kind_domains(kind, data)
    codes = rng.permutation(len(target.classes))
    if whole is target:
        n = max(N_CLASSES, len(codes) // 5)
        source = take_classes(whole, codes[:n], 2 * N_ROWS, rng)
        codes = codes[n:]
    else:
        names = {str(each) for each in target.classes}
        others = [code for code, name in enumerate(whole.classes) if str(name) not in names]
        source = take_classes(whole, rng.permutation(others)[:10], 2 * N_ROWS, rng)
    middle = max(len(codes) // 2, N_CLASSES)
    middle = min(middle, len(codes) - N_CLASSES)

    def targets(some: Any, n: int) -> list[Domain]:
        return [
            take_classes(target, rng.permutation(some)[:N_CLASSES], N_ROWS, rng) for _ in range(n)
        ]

    return (
        source,
        targets(codes[:middle], max(RUNS) // len(CANDIDATES)),
        targets(codes[middle:], N_NEW),
    )


def _worth(source: Domain, target: Domain, reflection: Any, known: KnownClasses | None) -> Records:
    records = []
    for shots in SHOTS:
        trial = Trial(target, shots, 10)
        found = l2t.infer(
            DomainPair(source, Domain(target.X)),
            reflection,
            n_labels=trial.n_labels,
            n_classes=N_CLASSES,
            known=known,
        )
        worth = geometric_mean(trial.ratios(found)[found.choice])
        records.append(
            {"shots": shots, "choice": found.choice, "predicted": found.predicted, "worth": worth}
        )
    return records


def experience_rows(records: Records) -> list[dict[str, Any]]:
    """Return the ratio of the choice by labels per class and number of own runs."""
    rows = []
    for shots in SHOTS:
        for known in (False, True):
            cells = []
            for n_runs in RUNS:
                mine = [
                    each["worth"]
                    for each in records
                    if (each["shots"], each["runs"]) == (shots, n_runs)
                    and (each["known"] == known or not n_runs)
                ]
                cells.append(geometric_mean(mine))
            rows.append({"shots": shots, "known": known, "cells": cells})
    return rows
