"""Accuracy of L2T's predictions and of plain classifiers on nine families."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.metrics import balanced_accuracy_score

from l2t.domains import Domain
from l2t.prediction import predict
from l2t.prediction.choice import AVERAGED_CLASSIFIERS, Comparison, to_average
from l2t.prediction.classifiers import BALANCED, DEFAULT, TrainingSet, fit_head
from l2t.prediction.labelling import suggest_rows
from l2t.prediction.model import Features
from l2t.prediction.report import PLAIN
from l2t.prediction.scoring import Scores
from reproduction.combinations import FAMILIES, SETTINGS, draw_task, measure_answers
from reproduction.kinds import SHIPPABLE
from reproduction.own_files import measure_files
from reproduction.pages import write_page

__all__ = ["averaged", "chosen", "write_answers"]


Combination = tuple[str, str]


def situation(task: dict[str, Any]) -> Comparison:
    """Return the rehearsed and cross-validated accuracies of the combinations of a task."""

    def scores(found: dict[str, Any] | None) -> Scores | None:
        if found is None:
            return None
        return Scores(
            tuple(found["features"]),
            tuple(task["classifiers"]),
            np.array(found["values"]),
            found["n_classes"],
            np.array(found["sizes"]),
            found["n_rows"],
        )

    features = PLAIN if task["choice"] == "identity" else task["choice"]
    known = scores(task["rehearsed"]), scores(task["measured"])
    default = features, DEFAULT
    return Comparison(*known, task["corrections"], default, task["n_classes"])


def combinations(task: dict[str, Any]) -> list[Combination]:
    """Return all combinations of a task."""
    return [(features, name) for features in task["features"] for name in task["classifiers"]]


def accuracy(task: dict[str, Any], combination: Combination) -> float:
    """Return the real accuracy of a combination; balanced accuracy where classes are in the ratio 8:1."""
    table = task["balanced_accuracy" if SETTINGS[task["setting"]].uneven else "real"]
    features, name = combination
    found = table[task["features"].index(features)][task["classifiers"].index(name)]
    return float(found)


def chosen(
    task: dict[str, Any], *, balanced: bool = False, single: bool = False
) -> list[Combination]:
    """Return the combinations that L2T averages, or the one that should be best."""
    known = situation(task)
    usable = [each for each in combinations(task) if known.usable(each, balanced=balanced)]
    return to_average(usable, known, single=single)


def averaged(task: dict[str, Any], some: list[Combination]) -> float:
    """Return the real accuracy of averaged probabilities; balanced accuracy in the ratio 8:1."""
    at = [(task["features"].index(f), task["classifiers"].index(name)) for f, name in some]
    P = np.sum([np.exp(task["logs"][each].astype(float)) for each in at], axis=0)
    codes = task["codes"]
    if SETTINGS[task["setting"]].uneven:
        return float(balanced_accuracy_score(codes, P.argmax(axis=1)))
    return float(np.mean(P.argmax(axis=1) == codes))


BASELINES = ("nearest neighbour", "nearest centroid", "logistic", "label spreading", *BALANCED)
#: Draws that calibration is measured on, and those that suggestions are.
CALIBRATED = ("characters", "letters", "digits", "mnist", "sounds", "activity")
N_CALIBRATED = 2
N_FILES = 4
N_SUGGESTED = 8


def write_answers(data: Path, out: Path, work: Path, n_draws: int, n_others: int) -> None:
    """Measure tasks of all families, and write the page.

    There are `n_draws` tasks of each family that may be learned from, and `n_others` of the others.
    """
    others = [family for family in FAMILIES if family not in SHIPPABLE]
    tasks = measure_answers(SHIPPABLE, range(n_draws), data, work)
    tasks += measure_answers(others, range(n_others), data, work)
    rows = [_family_row(family, name, tasks) for name in SETTINGS for family in FAMILIES]
    rows = [row for row in rows if row["n"]]
    write_page(
        out / "answers.md",
        n_draws=n_draws,
        n_others=n_others,
        settings={name: [row for row in rows if row["setting"] == name] for name in SETTINGS},
        means={name: _means([row for row in rows if row["setting"] == name]) for name in SETTINGS},
        within={
            name: sum(
                row["l2t"] >= row["best_plain"] - 0.003 for row in rows if row["setting"] == name
            )
            for name in SETTINGS
        },
        shippable=SHIPPABLE,
        averaging=_averaging(tasks),
        file_draws=N_FILES,
        files=_files(work),
        calibration=_calibration(data, work),
        suggestions=_suggestions(data, work),
    )


def _family_row(family: str, setting: str, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return mean accuracies of a family: of every baseline, and of L2T."""
    mine = [task for task in tasks if (task["family"], task["setting"]) == (family, setting)]
    if not mine:
        return {"n": 0}

    def mean(choice: Any) -> float:
        return float(np.mean([accuracy(task, choice(task)) for task in mine]))

    plain = {name: mean(lambda task, name=name: (PLAIN, name)) for name in BASELINES}
    best = max(plain, key=lambda name: plain[name])
    found = [averaged(task, chosen(task)) for task in mine]
    gaps = np.array(found) - [accuracy(task, (PLAIN, best)) for task in mine]
    return {
        "family": family,
        "setting": setting,
        "n": len(mine),
        "plain": plain,
        "best": best,
        "best_plain": plain[best],
        "best_unbalanced": max(value for name, value in plain.items() if name not in BALANCED),
        "default": mean(lambda task: situation(task).default),
        "l2t": float(np.mean(found)),
        "error": float(gaps.std(ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else float("nan"),
        "balanced": float(np.mean([averaged(task, chosen(task, balanced=True)) for task in mine])),
    }


def _averaging(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what averaging adds to the best combination alone, and to the three that are always averaged."""
    found = []
    for name in SETTINGS:
        some = [task for task in tasks if task["setting"] == name]
        four = np.array([averaged(task, chosen(task)) for task in some])
        steady = [[each for each in chosen(task) if _is_steady(task, each)] for task in some]
        others = {
            "one": [averaged(task, chosen(task, single=True)) for task in some],
            "steady": [averaged(task, three) for task, three in zip(some, steady, strict=True)],
        }
        row: dict[str, Any] = {"setting": name, "n": len(some), "four": four.mean()}
        for label, values in others.items():
            gains = four - values
            row[label] = float(np.mean(values))
            row[f"{label}_error"] = float(gains.std(ddof=1) / np.sqrt(len(gains)))
        found.append(row)
    return found


def _is_steady(task: dict[str, Any], combination: Combination) -> bool:
    return combination[0] == situation(task).default[0] and combination[1] in AVERAGED_CLASSIFIERS


def _files(work: Path) -> list[dict[str, Any]]:
    path = work / "files.json"
    if not path.exists():
        path.write_text(json.dumps(measure_files(N_FILES)))
    found: list[dict[str, Any]] = json.loads(path.read_text())
    return found


def _means(rows: list[dict[str, Any]]) -> dict[str, float]:
    names = ("best_plain", "best_unbalanced", "default", "l2t", "balanced")
    return {name: float(np.mean([row[name] for row in rows])) for name in names} if rows else {}


def _calibration(data: Path, work: Path) -> dict[str, Any]:
    """Return accuracy, mean probability and expected calibration error of `predict` on unlabelled rows."""
    path = work / "calibration.json"
    if not path.exists():
        hits: list[bool] = []
        given: list[float] = []
        for family in CALIBRATED:
            for number in range(N_CALIBRATED):
                for name in ("1", "5"):
                    kinds = FAMILIES[family]
                    source, target, at, test = draw_task(
                        kinds[number % len(kinds)], number, SETTINGS[name], data
                    )
                    mask = np.isin(np.arange(len(target)), at)
                    names = np.array([f"new {code}" for code in target.codes], dtype=object)
                    found = predict(source, Domain(target.X, names, labeled=mask))
                    hits += (found.labels[test] == names[test]).tolist()
                    given += found.probability[test].tolist()
        path.write_text(json.dumps({"right": hits, "sure": given}))
    content = json.loads(path.read_text())
    right, sure = np.array(content["right"], dtype=float), np.array(content["sure"])
    bins = [
        (low, low + 0.1, int(there.sum()), float(sure[there].mean()), float(right[there].mean()))
        for low in np.arange(0.0, 1.0, 0.1)
        if (there := (sure > low) & (sure <= low + 0.1)).any()
    ]
    error = sum(n * abs(p - a) for _, _, n, p, a in bins) / len(sure)
    return {"bins": bins, "error": error, "accuracy": right.mean(), "mean": sure.mean()}


def _suggestions(data: Path, work: Path) -> list[dict[str, Any]]:
    """Return accuracies with suggested and with random rows labelled, by family and labels per class."""
    path = work / "suggestions.json"
    if not path.exists():
        rows = [
            {"family": family, "setting": name} | _suggested(family, name, data)
            for name in ("1", "5")
            for family in SHIPPABLE
        ]
        path.write_text(json.dumps(rows))
    found: list[dict[str, Any]] = json.loads(path.read_text())
    return found


def _suggested(family: str, name: str, data: Path) -> dict[str, float]:
    """Label one or three more rows per class on average; half of the rows are kept for testing."""
    table = []
    for number in range(30, 30 + N_SUGGESTED):
        kinds, rng = FAMILIES[family], np.random.default_rng(number)
        _, target, at, _ = draw_task(kinds[number % len(kinds)], number, SETTINGS[name], data)
        codes, n_classes = target.codes, int(target.codes.max()) + 1
        Z = Features.of(target.X, None, unit=True)(target.X)
        test = np.setdiff1d(rng.permutation(len(codes))[: len(codes) // 2], at)
        pool = np.setdiff1d(np.arange(len(codes)), test)
        n = n_classes * (1 if name == "1" else 3)

        def trained(rows: npt.NDArray[Any]) -> Any:
            task = TrainingSet(Z, rows, codes[rows], n_classes)  # noqa: B023
            return fit_head(DEFAULT, task, cross_validate=False)

        def right(rows: npt.NDArray[Any]) -> float:
            found = trained(rows).scores(Z[test]).argmax(axis=1)  # noqa: B023
            return float(np.mean(found == codes[test]))  # noqa: B023

        P = softmax(trained(at).scores(Z[pool]), axis=1)
        some = pool[suggest_rows(Z[pool].__getitem__, P, np.isin(pool, at), n)]
        free = np.setdiff1d(pool, at)
        random = [right(np.union1d(at, rng.permutation(free)[:n])) for _ in range(5)]
        table.append((right(at), float(np.mean(random)), right(np.union1d(at, some))))
    before, random_rows, suggested = np.mean(table, axis=0).tolist()
    return {"before": before, "random": random_rows, "suggested": suggested}
