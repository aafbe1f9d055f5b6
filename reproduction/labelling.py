"""Accuracy by number of labels, where each strategy chooses the rows to label next, on nine families.

A third of each target is set aside for testing: no strategy sees it, and the model that was trained on the
other rows predicts it. One JSON file per task is kept in a working folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from l2t.domains import Domain
from l2t.prediction import predict
from l2t.prediction.labelling import DEFAULT_STRATEGY, STRATEGIES
from l2t.progress import progress_bar
from reproduction.labelled_tasks import FAMILIES, SETTINGS, draw_task
from reproduction.pages import write_page

__all__ = ["write_labelling"]

#: Rows that are labelled at a time, and how often.
BATCH, N_BATCHES = 10, 4
#: One classifier: the choice among all of them takes five times as long, and is the same for all strategies.
CLASSIFIER = "smoothed logistic"
MOST_SOURCE_ROWS = 800
TEST_SHARE = 1 / 3
#: Draws of other numbers were used to choose what ships in `l2t.prediction`.
FIRST_DRAW = 60


def write_labelling(data: Path, out: Path, work: Path, n_draws: int) -> None:
    """Measure all strategies, and write the page."""
    work.mkdir(parents=True, exist_ok=True)
    wanted = [(family, number) for number in range(n_draws) for family in FAMILIES]
    found = []
    with progress_bar(len(wanted), "measuring") as advance:
        for family, number in wanted:
            path = work / f"{family}-{number}.json"
            if not path.exists():
                path.write_text(json.dumps(_measure(family, number, data)))
            found.append(json.loads(path.read_text()))
            advance(family)
    curves = {name: np.array([task["curves"][name] for task in found]) for name in STRATEGIES}
    gains = {name: curve - curves["random"] for name, curve in curves.items()}
    mean_gain = {name: gain[:, 1:].mean(axis=1) for name, gain in gains.items()}
    write_page(
        out / "labelling.md",
        n_draws=n_draws,
        shipped=DEFAULT_STRATEGY,
        n_tasks=len(found),
        batches=[BATCH * k for k in range(N_BATCHES + 1)],
        curves={name: curve.mean(axis=0).tolist() for name, curve in curves.items()},
        gains={
            name: (float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(len(gain))))
            for name, gain in mean_gain.items()
        },
        reached={name: _labels_to_reach(curves, name) for name in STRATEGIES},
        families={
            family: {
                name: float(
                    np.mean(
                        [g for g, task in zip(gain, found, strict=True) if task["family"] == family]
                    )
                )
                for name, gain in mean_gain.items()
            }
            for family in FAMILIES
        },
    )


def _labels_to_reach(curves: dict[str, Any], name: str) -> float | None:
    """Return how many labels reach the mean accuracy of all random ones; None if these do not."""
    goal, curve = curves["random"].mean(axis=0)[-1], curves[name].mean(axis=0)
    best = np.maximum.accumulate(curve)
    if best[-1] < goal:
        return None
    return float(np.interp(goal, best, BATCH * np.arange(len(best))))


def _measure(family: str, number: int, data: Path) -> dict[str, Any]:
    """Return the accuracies on the test rows after each batch, by strategy."""
    kinds, rng = FAMILIES[family], np.random.default_rng(number)
    kind = kinds[number % len(kinds)]
    source, whole, start, _ = draw_task(kind, FIRST_DRAW + number, SETTINGS["1"], data)
    source = source.take(rng.permutation(len(source))[:MOST_SOURCE_ROWS])
    free = rng.permutation(np.setdiff1d(np.arange(len(whole)), start))
    n_test = round(TEST_SHARE * len(whole))
    test, pool = free[:n_test], np.sort(np.concatenate([start, free[n_test:]]))
    first = np.isin(pool, start)
    found = _predict(source, whole, pool, first)
    curves = {}
    for strategy in STRATEGIES:
        labelled, prediction = first.copy(), found
        curve = [_accuracy(prediction, whole, test)]
        for batch in range(N_BATCHES):
            labelled[prediction.suggest(BATCH, strategy=strategy, random_state=batch)] = True
            prediction = _predict(source, whole, pool, labelled)
            curve.append(_accuracy(prediction, whole, test))
        curves[strategy] = curve
    return {"family": family, "number": number, "n_start": len(start), "curves": curves}


def _predict(source: Domain, whole: Domain, pool: Any, labelled: Any) -> Any:
    target = Domain(whole.X[pool], whole.codes[pool], labeled=labelled)
    return predict(source, target, classifier=CLASSIFIER, shared=False)


def _accuracy(found: Any, whole: Domain, test: Any) -> float:
    predicted = found.classes[found.model.predict_proba(whole.X[test]).argmax(axis=1)]
    return float(np.mean(predicted == whole.codes[test]))
