"""Accuracy by number of labels, where each strategy chooses the rows to label next, on nine families.

Random rows, the control, are drawn three times.
A third of each target is set aside for testing: no strategy sees it, and the model that was trained on the
other rows predicts it. One JSON file per task is kept in a working folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from l2t.display import new_figure
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
N_RANDOM = 3
#: Resamples of tasks for the interval of a number of labels.
N_RESAMPLED = 2000


def write_labelling(data: Path, out: Path, work: Path, n_draws: int) -> None:
    """Measure all strategies, and write the page."""
    work.mkdir(parents=True, exist_ok=True)
    wanted = [(family, number) for number in range(n_draws) for family in FAMILIES]
    tasks = []
    with progress_bar(len(wanted), "measuring") as advance:
        for family, number in wanted:
            path = work / f"{family}-{number}.json"
            if not path.exists():
                path.write_text(json.dumps(_measure(family, number, data)))
            tasks.append(json.loads(path.read_text()))
            advance(family)
    curves = {name: np.array([task["curves"][name] for task in tasks]) for name in STRATEGIES}
    _draw(curves, out / "images" / "labelling.svg")
    gains = {name: curve - curves["random"] for name, curve in curves.items()}
    mean_gain = {name: gain[:, 1:].mean(axis=1) for name, gain in gains.items()}
    write_page(
        out / "labelling.md",
        n_draws=n_draws,
        shipped=DEFAULT_STRATEGY,
        n_tasks=len(tasks),
        batches=[BATCH * k for k in range(N_BATCHES + 1)],
        curves={name: curve.mean(axis=0).tolist() for name, curve in curves.items()},
        gains={
            name: (float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(len(gain))))
            for name, gain in mean_gain.items()
        },
        reached={name: _labels_to_reach(curves, name) for name in STRATEGIES},
        between=_interval_of_labels(curves, DEFAULT_STRATEGY),
        families={
            family: {
                name: float(
                    np.mean(
                        [g for g, task in zip(gain, tasks, strict=True) if task["family"] == family]
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


def _interval_of_labels(curves: dict[str, Any], name: str) -> tuple[float, float]:
    """Return the 90 % interval of the number of labels that `_labels_to_reach`, over draws of tasks."""
    rng, n = np.random.default_rng(0), len(curves[name])
    numbers = []
    for _ in range(N_RESAMPLED):
        drawn = rng.integers(0, n, n)
        number = _labels_to_reach({key: curve[drawn] for key, curve in curves.items()}, name)
        numbers.append(np.inf if number is None else number)
    low, high = np.quantile(numbers, (0.05, 0.95))
    return float(low), float(high)


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
    beginning = _predict(source, whole, pool, first)

    def curve(strategy: str, repeat: int) -> list[float]:
        labelled, prediction = first.copy(), beginning
        accuracies = [_accuracy(prediction, whole, test)]
        for batch in range(N_BATCHES):
            seed = N_BATCHES * repeat + batch
            labelled[prediction.suggest(BATCH, strategy=strategy, random_state=seed)] = True
            prediction = _predict(source, whole, pool, labelled)
            accuracies.append(_accuracy(prediction, whole, test))
        return accuracies

    curves = {
        strategy: np.mean(
            [curve(strategy, repeat) for repeat in range(N_RANDOM if strategy == "random" else 1)],
            axis=0,
        ).tolist()
        for strategy in STRATEGIES
    }
    return {"family": family, "number": number, "n_start": len(start), "curves": curves}


def _predict(source: Domain, whole: Domain, pool: Any, labelled: Any) -> Any:
    target = Domain(whole.X[pool], whole.codes[pool], labeled=labelled)
    return predict(source, target, classifier=CLASSIFIER, shared=False)


def _draw(curves: dict[str, Any], path: Path) -> None:
    """Draw the mean accuracy of each strategy by the number of further labels."""
    figure = new_figure(5.0, 3.2)
    axes = figure.add_subplot()
    labels = BATCH * np.arange(N_BATCHES + 1)
    for name, accuracies in curves.items():
        line = "k--" if name == "random" else ".-"
        axes.plot(labels, accuracies.mean(axis=0), line, label=name)
    axes.axhline(curves["random"].mean(axis=0)[-1], color="0.85", zorder=0)
    axes.set(xlabel="further labels", ylabel="accuracy", xticks=labels)
    axes.legend()
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def _accuracy(found: Any, whole: Domain, test: Any) -> float:
    predicted = found.classes[found.model.predict_proba(whole.X[test]).argmax(axis=1)]
    return float(np.mean(predicted == whole.codes[test]))
