"""The content of a prediction's page as numbers and text; `page` and the dashboard draw it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from l2t.exceptions import InvalidInputError
from l2t.numerics import GramSpan, two_components
from l2t.typing import Array, Indices

if TYPE_CHECKING:
    from l2t.prediction.result import Prediction

#: Maximum number of rows in the map, of rows in a list, and of classes.
MAPPED, LISTED, CLASSES = 600, 12, 40
#: A row is uncertain below this probability, the level of all intervals.
CERTAIN = 0.9
#: Maximum distance of a drawn row from the centre, in median distances.
FAR = 4.0


def summarize(found: Prediction) -> dict[str, Any]:
    """Return the summary of a prediction; rows are counted from 0.

    `map` has up to 600 rows in a square from -1 to 1, `before` in the original features and `after` in those
    of the classifier; `given` is the code of the given class, -1 without one, `predicted` the predicted one.
    """
    target, classes = found.target, list(map(str, found.classes))
    codes = found.model.decide(found.probabilities)
    return {
        "target": target.name,
        "headline": found.report.headline,
        "sentences": list(found.report.sentences),
        "n_rows": len(target),
        "n_given": int(found.given.sum()),
        "n_features": target.n_features,
        "classes": classes[:CLASSES],
        "counts": np.bincount(codes, minlength=len(classes))[:CLASSES].tolist(),
        "metric": found.metric,
        "quality": quality(found),
        "choice": found.choice,
        "classifier": found.classifier,
        "report": [finite_or_none(each) for each in found.report.records()],
        "candidates": [finite_or_none(each) for each in found.inference.candidates.records()],
        "reason": found.inference.reason,
        "map": _map(found, codes),
        "uncertain": [_row(found, row) for row in _uncertain(found)],
        "importance": _importance(found),
        "suspicious": [_row(found, row) for row in _suspicious(found)],
        "details": _details(found),
    }


def quality(found: Prediction) -> dict[str, Any]:
    """Return what is expected and what was measured: accuracy, balanced accuracy, mean F1 and recalls."""
    both = {"expected": found.expected, "measured": found.measured}
    return {name: each and each.record(found.classes) for name, each in both.items()}


def finite_or_none(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record for JSON, with None in place of numbers that are not finite."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in record.items()
    }


def _row(found: Prediction, row: int) -> dict[str, Any]:
    """Return a row with its two most probable classes, and its label if it has one."""
    P = found.probabilities[row]
    best = np.argsort(-P, kind="stable")[:2]
    label = found.target.y[row] if found.given[row] and found.target.y is not None else None
    return {
        "row": int(row),
        "label": None if label is None else str(label),
        "predicted": str(found.classes[best[0]]),
        "probability": float(P[best[0]]),
        "second": None if len(best) < 2 else str(found.classes[best[1]]),
        "second_probability": None if len(best) < 2 else float(P[best[1]]),
    }


def _importance(found: Prediction) -> dict[str, float] | None:
    """Return how much each column matters; None if there are too many columns."""
    try:
        return found.importance()
    except InvalidInputError:
        return None


def _uncertain(found: Prediction) -> Indices:
    """Return unlabelled rows of an uncertain class, the least probable first; if many, some to label next."""
    rows = np.flatnonzero(~found.given & (found.probability < CERTAIN))
    if len(rows) > LISTED:
        rows = np.intersect1d(rows, found.suggest(LISTED))
    return rows[np.argsort(found.probability[rows], kind="stable")]


def _suspicious(found: Prediction) -> Indices:
    """Return rows whose label differs from the prediction, the most probable prediction first."""
    if found.target.y is None:
        return np.empty(0, dtype=np.intp)
    given = np.flatnonzero(found.given)
    wrong = given[found.labels[given].astype(object) != found.target.y[given].astype(object)]
    return np.asarray(wrong[np.argsort(-found.probability[wrong], kind="stable")][:LISTED])


def _map(found: Prediction, codes: Indices) -> dict[str, Any]:
    target, features = found.target, found.model.parts[0][0]
    rng = np.random.default_rng(0)
    given = rng.permutation(np.flatnonzero(found.given))[: MAPPED // 2]
    others = rng.permutation(np.flatnonzero(~found.given))[: MAPPED - len(given)]
    rows = np.sort(np.concatenate([given, others]))
    X = target.rows[rows].astype(np.float64)
    columns = features.first.columns
    plain = X if columns is None else X @ sparse.diags_array(1.0 / columns)
    plain = GramSpan.of([plain]).coordinates[0] if sparse.issparse(plain) else plain
    before = _project(plain, None)
    labels = np.full(len(target), -1)
    if target.y is not None:
        place = {label: code for code, label in enumerate(found.classes.tolist())}
        labels[found.given] = [place.get(each, -1) for each in target.y[found.given].tolist()]
    return {
        "rows": rows.tolist(),
        "before": before.round(4).tolist(),
        "after": _project(features(X), before).round(4).tolist(),
        "given": labels[rows].tolist(),
        "predicted": codes[rows].tolist(),
        "n_left_out": len(target) - len(rows),
    }


def _project(X: Array, like: Array | None) -> Array:
    """Return rows in two principal components, in a square from -1 to 1."""
    (flat,) = two_components(clip_outliers(X), like=like)
    return np.asarray(flat / (float(np.abs(flat).max()) or 1.0))


def clip_outliers(X: Array) -> Array:
    """Return centred rows with outliers moved towards the centre, so that a plot shows the other rows."""
    rows = X - np.median(X, axis=0)
    distance = np.linalg.norm(rows, axis=1)
    most = FAR * float(np.median(distance))
    return np.asarray(rows * np.minimum(1.0, most / np.maximum(distance, most or 1.0))[:, None])


def _details(found: Prediction) -> dict[str, Any]:
    """Return the settings of the model, and the number of rehearsals."""
    model, rehearsal = found.model, found.inference.rehearsal
    return {
        "model": model.name,
        "columns_scaled": model.parts[0][0].first.columns is not None,
        "temperature": model.temperature,
        "n_plays": None if rehearsal is None else rehearsal.n_plays,
        "W_shape": list(found.inference.W.shape),
    }
