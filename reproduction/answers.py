"""Accuracy of the ensemble on nine families beside plain classifiers, and whether its promises hold.

For each family the weights of the ensemble are learned without it: from other draws of the other
families that may be shipped from.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score

from l2t.classifiers.classifiers import CLASSIFIERS, TrainingSet, fit_head
from l2t.classifiers.feature_map import FeatureMap
from l2t.prediction.ensemble import Weights, fit_ensemble
from l2t.prediction.promise import expect_accuracy
from reproduction.ensemble import TriedTask, learn_weights, try_tasks
from reproduction.kinds import SHIPPABLE
from reproduction.labelled_tasks import FAMILIES, SETTINGS, draw_task
from reproduction.own_files import measure_files
from reproduction.pages import write_page

__all__ = ["Answer", "write_answers"]

#: Classifiers of the original features; the best of them is known only afterwards.
PLAIN = ("nearest neighbour", "nearest centroid", "logistic", "label spreading", "balanced k-means")
N_FILES = 4


@dataclass(frozen=True)
class Answer:
    """What the ensemble and plain classifiers reach in one task, and what was promised."""

    family: str
    setting: str
    number: int
    #: The accuracy, or the balanced accuracy where classes are in the ratio 8:1.
    score: float
    plain: dict[str, float]
    accuracy: float
    expected: float
    low: float
    high: float
    #: The mean probability of rows, and the share of right ones, in ten bins of probability.
    bins: tuple[tuple[float, float, int], ...]

    @property
    def inside(self) -> bool:
        """Whether the accuracy lies in the interval that was promised."""
        return self.low <= self.accuracy <= self.high


def write_answers(
    data: Path, out: Path, work: Path, numbers: Sequence[int], learned: Sequence[int]
) -> None:
    """Judge the ensemble on all families, and write the page.

    Parameters
    ----------
    data, out, work : Path
        The folders of the data sets, of the page and of intermediate results.
    numbers, learned : sequence of int
        The draws that are judged, and those that weights are learned from.
    """
    tasks = try_tasks(SHIPPABLE, learned, data, work)
    every = learn_weights(tasks)
    weights = {
        family: learn_weights([task for task in tasks if task.family != family])
        for family in SHIPPABLE
    }
    answers = [
        answer(task, weights.get(task.family, every), data)
        for task in try_tasks(FAMILIES, numbers, data, work)
    ]
    write_page(
        out / "answers.md",
        numbers=f"{min(numbers)}-{max(numbers)}",
        learned=f"{min(learned)}-{max(learned)}",
        n_judged=len(numbers),
        shippable=SHIPPABLE,
        settings={name: _rows(answers, name) for name in SETTINGS},
        promises=[_promise(answers, name) for name in SETTINGS],
        files=_files(work),
    )


def answer(task: TriedTask, weights: Weights, data: Path) -> Answer:
    """Return what the ensemble with some weights reaches in a task.

    Parameters
    ----------
    task : TriedTask
        The task.
    weights : Weights
        Weights learned without its family.
    data : Path
        The folder of the data sets, for plain classifiers.

    Returns
    -------
    Answer
    """
    real, shots = task.real, task.situation.shots
    ensemble = fit_ensemble(task.situation.seen(real, task.plays), task.plays, task.own, weights)
    P = ensemble.probabilities(real)
    own = None if task.own is None else (ensemble.accuracy([task.own]), len(task.own.codes))
    promise = expect_accuracy(
        P.max(axis=1),
        shots,
        P.shape[1],
        len(P),
        own=own,
        randomness=ensemble.randomness,
    )
    assert promise is not None  # there are test rows
    right = P.argmax(axis=1) == real.codes
    sure = P.max(axis=1)
    edges = np.minimum((10 * sure).astype(int), 9)
    bins = tuple(
        (float(sure[edges == place].sum()), float(right[edges == place].sum()), int(n))
        for place, n in enumerate(np.bincount(edges, minlength=10))
    )
    return Answer(
        task.family,
        task.setting,
        task.number,
        _score(task.setting, real.codes, P.argmax(axis=1)),
        _plain(task, data),
        float(right.mean()),
        promise.expected,
        promise.low,
        promise.high,
        bins,
    )


def _score(setting: str, codes: Any, predicted: Any) -> float:
    """Return the accuracy; the balanced accuracy where classes are in the ratio 8:1."""
    if SETTINGS[setting].uneven:
        return float(balanced_accuracy_score(codes, predicted))
    return float(np.mean(codes == predicted))


def _plain(task: TriedTask, data: Path) -> dict[str, float]:
    """Return the accuracies of plain classifiers on the original features."""
    kinds = FAMILIES[task.family]
    kind = kinds[task.number % len(kinds)]
    _, target, at, test = draw_task(kind, task.number, SETTINGS[task.setting], data)
    n_classes = int(target.codes.max()) + 1
    accuracies = {}
    for name in PLAIN:
        Z = FeatureMap.of(target.X, None, unit=CLASSIFIERS[name].unit)(target.X)
        head = fit_head(name, TrainingSet(Z, at, target.codes[at], n_classes))
        predicted = head.scores(Z[test]).argmax(axis=1)
        accuracies[name] = _score(task.setting, target.codes[test], predicted)
    return accuracies


def _rows(answers: Sequence[Answer], setting: str) -> list[dict[str, Any]]:
    """Return mean accuracies of each family in a setting, and their mean as the last row."""
    rows: list[dict[str, Any]] = []
    for family in FAMILIES:
        some = [one for one in answers if (one.family, one.setting) == (family, setting)]
        if not some:
            continue
        plain = {name: float(np.mean([one.plain[name] for one in some])) for name in PLAIN}
        best = max(plain, key=lambda name: plain[name])
        gains = np.array([one.score - one.plain[best] for one in some])
        rows.append(
            {
                "family": family,
                "n": len(some),
                "best": best,
                "plain": plain[best],
                "logistic": plain["logistic"],
                "l2t": float(np.mean([one.score for one in some])),
                "gain": float(gains.mean()),
                "error": float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0,
            }
        )
    if rows:
        names = ("plain", "logistic", "l2t", "gain")
        mean: dict[str, Any] = {name: float(np.mean([row[name] for row in rows])) for name in names}
        spread = np.std([row["gain"] for row in rows], ddof=1) / np.sqrt(len(rows))
        mean |= {"family": "mean", "n": sum(row["n"] for row in rows), "best": ""}
        rows.append(mean | {"error": float(spread)})
    return rows


def _promise(answers: Sequence[Answer], setting: str) -> dict[str, Any]:
    """Return how far accuracies were from what was promised in a setting, each family counting the same."""
    families = sorted({one.family for one in answers if one.setting == setting})
    by_family = [
        [one for one in answers if (one.family, one.setting) == (family, setting)]
        for family in families
    ]
    bias = [float(np.mean([one.expected - one.accuracy for one in some])) for some in by_family]
    errors = []
    for some in by_family:
        sure, right, n = np.sum([one.bins for one in some], axis=0).T
        errors.append(float(np.abs(sure - right).sum() / n.sum()))
    return {
        "setting": setting,
        "n": sum(map(len, by_family)),
        "bias": float(np.mean(bias)),
        "worst": max(bias, key=abs),
        "inside": float(np.mean([one.inside for some in by_family for one in some])),
        "width": float(np.mean([one.high - one.low for some in by_family for one in some])),
        "calibration": float(np.mean(errors)),
        "worst_calibration": max(errors),
    }


def _files(work: Path) -> list[dict[str, Any]]:
    path = work / "files.json"
    if not path.exists():
        path.write_text(json.dumps(measure_files(N_FILES)))
    found: list[dict[str, Any]] = json.loads(path.read_text())
    return found
