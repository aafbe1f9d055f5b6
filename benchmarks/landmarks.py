"""Landmarks for large domains: random rows, those of k-means++, or those of high leverage."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import kmeans_plusplus

from l2t import Domain, DomainPair, normalize, read_domain
from l2t.algorithms import make
from l2t.algorithms.spectrum import spectrum_factor
from l2t.classifiers.classifiers import TrainingSet, fit_head
from l2t.classifiers.feature_map import FeatureMap
from l2t.inference.candidates import MAX_TARGET_ROWS
from l2t.numerics import principal_axes
from l2t.rehearsal.plays import MAX_SOURCE_ROWS

KINDS = {
    "letters/letters.npz": "zscore",
    "intents/clinc150.npz": "rows",
    "photo-sketch/sketch.npz": "rows",
}
CLASSES, SHOTS, DRAWS = 20, 5, 5
COUNTS = (200, 1000)
#: Data of more target rows than base algorithms are fitted to, and algorithms that can take all of them.
LARGE = ("letters/letters.npz", "intents/clinc150.npz")
ALGORITHMS = ("spectrum", "tca", "gfk")
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
    exact = {Path(path).stem: _against_exact(folder / path, KINDS[path]) for path in LARGE if kinds}
    about = {"classes": CLASSES, "shots": SHOTS, "draws": DRAWS, "fitted": MAX_TARGET_ROWS}
    return {"columns": columns, "rows": rows, "exact": exact, **about}


def _against_exact(path: Path, how: str) -> list[tuple[str, ...]]:
    """Return the accuracies of 1-NN with W's that are fitted to some rows, and to all of them."""
    whole = normalize(read_domain(path), how)
    found: dict[str, list[list[float]]] = {name: [] for name in ALGORITHMS}
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        ours = np.isin(whole.codes, rng.permutation(len(whole.classes))[::2])
        source, target = whole.take(~ours), whole.take(ours)
        some = source.sample(MAX_SOURCE_ROWS, draw), target.sample(MAX_TARGET_ROWS, draw)
        order = rng.permutation(len(target))
        for name, each in found.items():
            pairs = DomainPair(*some), DomainPair(source, target)
            each.append([_nearest(target, make(name).fit(p).W, order) for p in pairs])
    means = {name: np.mean(each, axis=0) for name, each in found.items()}
    return [
        (name, f"{few:.3f}", f"{every:.3f}", f"{100 * (few - every):+.1f}")
        for name, (few, every) in means.items()
    ]


def _nearest(target: Domain, W: np.ndarray, order: np.ndarray) -> float:
    """Return the accuracy of 1-NN from the first rows of each class in some order."""
    Z, codes = target.X[order] @ W, target.codes[order]
    labelled = np.concatenate([np.flatnonzero(codes == c)[:SHOTS] for c in np.unique(codes)])
    others = np.setdiff1d(np.arange(len(Z)), labelled)
    D = np.sum(Z[labelled] ** 2, axis=1) - 2.0 * Z[others] @ Z[labelled].T
    return float(np.mean(codes[labelled][D.argmin(axis=1)] == codes[others]))


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
        features = FeatureMap.of(X, spectrum_factor(X[rows]), unit=True)
        task = TrainingSet(
            features(X[rows]), np.searchsorted(rows, labelled), codes[labelled], CLASSES
        )
        head = fit_head("label spreading", task)
        others = np.setdiff1d(np.arange(len(X)), labelled)
        scores = head.scores(features(X[others]))
        found.append(float(np.mean(scores.argmax(axis=1) == codes[others])))
    return found
