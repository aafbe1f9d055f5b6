"""The scaling that `prepare` proposes, compared with each of the four."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import l2t
from l2t.domains import Domain, digits, read_domain
from l2t.domains.preparation import PREPARATIONS
from l2t.experiences import evaluate
from reproduction.studies.measuring import Records, remembered
from reproduction.studies.tables import TABLES, split_in_two

__all__ = ["SETS", "measure_preparation", "preparation_rows"]

#: The first nine were looked at when the rule was made, the last four were not.
SETS = {
    "letters": "letters/letters.npz",
    "activity": "activity/wisdm.npz",
    "wine": "",
    "breast_cancer": "",
    "sketch": "photo-sketch/sketch.npz",
    "intents": "intents/clinc150.npz",
    "characters": "characters/omniglot.npz",
    "sounds": "sounds/esc50.npz",
    "digits": "",
    "iris": "",
    "office-caltech, amazon": "office-caltech-surf/amazon.npz",
    "office-caltech, deep": "office-caltech-googlenet/amazon.npz",
    "usps": "usps-mnist/usps.npz",
}
CLASSIFIERS = {"1-NN": None, "logistic": LogisticRegression(max_iter=200)}
N_SPLITS, N_DRAWS, MAX_CLASSES, MAX_ROWS = 4, 5, 10, 500


def measure_preparation(data: Path, work: Path) -> dict[str, Records]:
    """Return accuracies of the target with five labels per class under each preparation."""
    return {
        name: remembered(work, f"preparation {name}", partial(_measure, name, data))
        for name in SETS
    }


def _measure(name: str, data: Path) -> Records:
    records = []
    for number in range(N_SPLITS):
        rng = np.random.default_rng([6, number])
        source, target = _split(name, data, rng)
        codes = rng.permutation(np.unique(target.codes))[:MAX_CLASSES]
        rows = rng.permutation(np.flatnonzero(np.isin(target.codes, codes)))[:MAX_ROWS]
        target = target.take(rows)
        record: dict[str, Any] = {"how": l2t.prepare(source, target).how}
        for how in PREPARATIONS:
            scaled = l2t.normalize(target, how)
            for classifier, made in CLASSIFIERS.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)  # features as they are
                    found = evaluate(
                        scaled.X,
                        scaled.codes,
                        label_counts=[5 * len(codes)],
                        n_draws=N_DRAWS,
                        classifier=made,
                    )
                record[f"{classifier} {how}"] = float(found.mean[0])
        records.append(record)
    return records


def _split(name: str, data: Path, rng: np.random.Generator) -> tuple[Domain, Domain]:
    if name == "activity":  # other people
        file = np.load(data / SETS[name])
        users = rng.permutation(np.unique(file["user"]))
        ours = np.isin(file["user"], users[: len(users) // 2])
        domain = Domain(file["X"], file["y"])
        return domain.take(ours), domain.take(~ours)
    if SETS[name]:
        return split_in_two(read_domain(data / SETS[name]), rng)
    return split_in_two(digits() if name == "digits" else Domain(*TABLES[name]()), rng)


def preparation_rows(found: dict[str, Records]) -> list[dict[str, Any]]:
    """Return mean accuracies, and the loss against the better of row norms and z-scores."""
    rows = []
    for name, records in found.items():
        row: dict[str, Any] = {"set": name, "how": [each["how"] for each in records]}
        for classifier in CLASSIFIERS:
            means = {
                how: float(np.mean([each[f"{classifier} {how}"] for each in records]))
                for how in PREPARATIONS
            }
            proposed = float(np.mean([each[f"{classifier} {each['how']}"] for each in records]))
            row[classifier] = means | {"proposed": proposed}
            row[f"{classifier} loss"] = max(means["rows"], means["zscore"]) - proposed
        rows.append(row)
    return rows
