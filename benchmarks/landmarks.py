"""Which rows should stand for all of them: random ones, those of k-means++, or those of high leverage."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import kmeans_plusplus

from l2t import normalize, read_domain
from l2t.algorithms.spectrum import spectrum_factor
from l2t.numerics import principal_axes
from l2t.prediction.classifiers import Task, fit_head
from l2t.prediction.model import Features

KINDS = {
    "letters/letters.npz": "zscore",
    "intents/clinc150.npz": "rows",
    "photo-sketch/sketch.npz": "rows",
}
CLASSES, SHOTS, DRAWS = 20, 5, 5
COUNTS = (200, 1000)
#: Dimensions of the space that leverage is measured in.
RANK = 50

Rule = Callable[[np.ndarray, int, np.random.Generator], np.ndarray]


def _random(X: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(len(X))[:n]


def _spread_out(X: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(kmeans_plusplus(X, n, random_state=int(rng.integers(2**31)))[1])


def _leverage(X: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    centred = X - X.mean(axis=0)
    Q = np.linalg.qr(centred @ principal_axes(centred, min(RANK, X.shape[1])))[0]
    scores = np.sum(Q**2, axis=1)
    return rng.choice(len(X), n, replace=False, p=scores / scores.sum())


RULES: dict[str, Rule] = {"random": _random, "k-means++": _spread_out, "leverage": _leverage}


def run() -> dict[str, Any]:
    """Compare accuracies on all other rows; spectrum and graph come from the landmarks."""
    folder = Path(os.environ.get("L2T_DATA", ""))
    kinds = {path: how for path, how in KINDS.items() if os.environ.get("L2T_DATA")}
    columns = ["landmarks", *(Path(path).stem for path in kinds)]
    rows = []
    for count in COUNTS if kinds else ():
        for name, rule in RULES.items():
            cells = [_accuracies(folder / path, how, rule, count) for path, how in kinds.items()]
            rows.append((f"{count} {name}", *(f"{np.mean(each):.3f}" for each in cells)))
    about = {"classes": CLASSES, "shots": SHOTS, "draws": DRAWS}
    return {"columns": columns, "rows": rows, **about}


def _accuracies(path: Path, how: str, rule: Rule, count: int) -> list[float]:
    whole, found = read_domain(path), []
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        classes = rng.permutation(len(whole.classes))[:CLASSES]
        some = whole.take(np.flatnonzero(np.isin(whole.codes, classes)))
        X = np.asarray(normalize(some, how).X, dtype=np.float64)
        codes = np.unique(some.codes, return_inverse=True)[1]
        marks = [rng.permutation(np.flatnonzero(codes == code))[:SHOTS] for code in range(CLASSES)]
        labelled = np.concatenate(marks)
        rows = np.union1d(rule(X, min(count, len(X)), rng), labelled)
        features = Features.of(X, spectrum_factor(X[rows]), unit=True)
        task = Task(features(X[rows]), np.searchsorted(rows, labelled), codes[labelled], CLASSES)
        head = fit_head("label spreading", task)
        others = np.setdiff1d(np.arange(len(X)), labelled)
        scores = head.scores(features(X[others]))
        found.append(float(np.mean(scores.argmax(axis=1) == codes[others])))
    return found
