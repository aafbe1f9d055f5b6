"""scikit-learn's own sets and made tables: whether real ratios lie within the intervals.

Sets with six classes or more are split by class; the others in two halves that have the same classes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

import l2t
from l2t.domains import Domain, DomainPair
from reproduction.studies.measuring import Records, Trial, geometric_mean, remembered

__all__ = ["SHOTS", "TABLES", "measure_tables", "split_in_two", "table_rows"]

SHOTS = (1, 5, 15)
#: Splits of a set in source and target, and draws of labelled rows for each.
N_SPLITS, N_DRAWS = 4, 5
#: Sets of fewer classes are split by rows.
LEAST_CLASSES = 6


def _made(n_classes: int, spread: float, seed: int) -> tuple[Any, Any]:
    """Return a made table; its columns are of scales up to 10 ** spread."""
    X, y = datasets.make_classification(
        n_samples=150 * n_classes,
        n_features=20,
        n_informative=8,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=seed,
    )
    return X * 10 ** np.random.default_rng(seed).uniform(0, spread, 20), y


TABLES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "made, 4 classes": lambda: _made(4, 0.0, 1),
    "made, 10 classes, uneven": lambda: _made(10, 3.0, 2),
}


def split_in_two(domain: Domain, rng: np.random.Generator) -> tuple[Domain, Domain]:
    """Return source and target: other classes where there are enough, else the two halves of each class."""
    order = rng.permutation(len(domain.classes))
    if len(order) >= LEAST_CLASSES:
        ours = np.isin(domain.codes, order[: round(0.6 * len(order))])
    else:
        ours = np.zeros(len(domain), dtype=bool)
        for code in order:
            rows = rng.permutation(np.flatnonzero(domain.codes == code))
            ours[rows[: len(rows) // 2]] = True
    return domain.take(ours, name="source"), domain.take(~ours, name="target")


def measure_tables(work: Path) -> dict[str, Records]:
    """Return predictions and measurements for every draw of every set."""
    return {name: remembered(work, f"table {name}", partial(_measure, name)) for name in TABLES}


def _measure(name: str) -> Records:
    domain = Domain(*TABLES[name]())
    found = []
    for number in range(N_SPLITS):
        prepared = l2t.prepare(*split_in_two(domain, np.random.default_rng(number)))
        for shots in SHOTS:
            found += _draws(prepared.source, prepared.target, prepared.how, shots, number)
    return found


def _draws(source: Domain, target: Domain, how: str, shots: int, seed: int) -> Records:
    trial = Trial(target, shots, N_DRAWS, seed)
    records = []
    real = None
    for draw in range(len(trial.splits)):
        found = l2t.infer(DomainPair(source, trial.marked(target, draw)), shared=False)
        real = trial.ratios(found) if real is None else real  # no label reaches a W
        records.append(
            {
                "shots": shots,
                "how": how,
                "choice": found.choice,
                "accuracy": found.accuracy,
                "real_accuracy": float(trial.before[draw] * real[found.choice][draw]),
                "candidates": {
                    each.name: [
                        each.predicted,
                        *(each.interval or ()),
                        float(real[each.name][draw]),
                    ]
                    for each in found.candidates.values()
                    if each.W is not None
                },
            }
        )
    return records


def table_rows(records: Records) -> list[dict[str, Any]]:
    """Return one row per number of labels: means of the choice, and how many draws are outside."""
    rows = []
    for shots in sorted({each["shots"] for each in records}):
        mine = [each for each in records if each["shots"] == shots]
        chosen = [each["candidates"][each["choice"]] for each in mine]
        others = [
            values
            for each in mine
            for name, values in each["candidates"].items()
            if name != "identity"
        ]
        rows.append(
            {
                "shots": shots,
                "how": sorted({each["how"] for each in mine}),
                "n": len(mine),
                "chosen": sum(each["choice"] != "identity" for each in mine),
                "predicted": geometric_mean(each[0] for each in chosen),
                "low": float(np.median([each[1] for each in chosen])),
                "high": float(np.median([each[2] for each in chosen])),
                "real": geometric_mean(each[3] for each in chosen),
                "outside": sum(map(_outside, chosen)),
                "candidates": len(others),
                "candidates_outside": sum(map(_outside, others)),
                "accuracy": float(np.mean([each["accuracy"] for each in mine])),
                "real_accuracy": float(np.mean([each["real_accuracy"] for each in mine])),
                "most": max(each["accuracy"] for each in mine),
            }
        )
    return rows


def _outside(values: list[float]) -> bool:
    _, low, high, real = values
    return not low - 1e-9 <= real <= high + 1e-9
