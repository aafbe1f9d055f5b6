"""Targets whose largest class has eight times the rows of the smallest, by balanced accuracy."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score

import l2t
from l2t.domains import Domain, DomainPair
from l2t.numerics import squared_distances
from reproduction.studies.measuring import (
    Records,
    Trial,
    draw_pair,
    geometric_mean,
    remembered,
    take_classes,
)

__all__ = ["measure_unbalanced", "unbalanced_rows"]

KINDS = ("sketch > sketch", "clinc150 > clinc150", "letters", "digits", "mnist", "sounds")
N_PAIRS = 5
SHOTS = (1, 5)
#: Rows of the classes: 8 to 1, at most.
ROWS = (80, 28, 10)
#: What sounds have, with 40 rows per class.
FEW_ROWS = (40, 14, 5)


def measure_unbalanced(data: Path, work: Path) -> dict[str, Records]:
    """Return balanced accuracies without and with the choice, for every pair."""
    return {
        kind: remembered(work, f"unbalanced {kind}", partial(_measure, kind, data))
        for kind in KINDS
    }


def _measure(kind: str, data: Path) -> Records:
    records = []
    for number in range(N_PAIRS):
        rng = np.random.default_rng([4, number])
        pair = draw_pair(kind, data, rng)
        codes = np.unique(pair.target.codes)
        rows = FEW_ROWS if kind == "sounds" else ROWS
        target = take_classes(pair.target, rng.permutation(codes), rows, rng)
        for shots in SHOTS:
            trial = Trial(target, min(shots, min(rows) - 3), 10)
            found = l2t.infer(
                DomainPair(pair.source, Domain(target.X)),
                n_labels=trial.n_labels,
                n_classes=trial.n_classes,
            )
            before, after = (_balanced(trial, W) for W in (None, found.W))
            records.append(
                {"shots": shots, "choice": found.choice, "before": before, "after": after}
            )
    return records


def _balanced(trial: Trial, W: Any) -> float:
    """Return the mean balanced accuracy of 1-NN over the draws."""
    D = squared_distances(trial.X if W is None else trial.X @ W)
    codes = trial.codes
    return float(
        np.mean(
            [
                balanced_accuracy_score(
                    codes[test], codes[rows][D[np.ix_(test, rows)].argmin(axis=1)]
                )
                for rows, test in trial.splits
            ]
        )
    )


def unbalanced_rows(records: Records) -> list[dict[str, Any]]:
    """Return means by number of labels per class."""
    rows = []
    for shots in SHOTS:
        mine = [each for each in records if each["shots"] == shots]
        rows.append(
            {
                "shots": shots,
                "before": float(np.mean([each["before"] for each in mine])),
                "after": float(np.mean([each["after"] for each in mine])),
                "ratio": geometric_mean(each["after"] / each["before"] for each in mine),
                "chosen": sum(each["choice"] != "identity" for each in mine),
                "n": len(mine),
            }
        )
    return rows
