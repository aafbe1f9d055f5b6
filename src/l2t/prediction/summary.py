"""The content of a prediction's page as numbers and text; `page` and the dashboard draw it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from l2t.exceptions import InvalidInputError
from l2t.numerics import GramSpan, two_components
from l2t.typing import Array, Indices, JsonObject

if TYPE_CHECKING:
    from l2t.prediction.result import Prediction

#: Maximum number of rows in the map, of rows in a list, and of classes.
MAPPED, LISTED, CLASSES = 600, 12, 40
#: A row is uncertain below this probability, the level of all intervals.
CERTAIN = 0.9
#: Maximum distance of a drawn row from the centre, in median distances.
MAX_MAP_DISTANCE = 4.0


def summarize(prediction: Prediction) -> JsonObject:
    """Return the summary of a prediction; rows are counted from 0.

    `map` has up to 600 rows in a square from -1 to 1, `before` in the original features and `after` in those
    of the classifier; `given` is the code of the given class, -1 without one, `predicted` the predicted one.
    """
    target, classes = prediction.target, list(map(str, prediction.classes))
    codes = prediction.model.decide(prediction.probabilities)
    return {
        "target": target.name,
        "headline": prediction.report.headline,
        "sentences": list(prediction.report.sentences),
        "n_rows": len(target),
        "n_given": int(prediction.given.sum()),
        "n_features": target.n_features,
        "classes": classes[:CLASSES],
        "counts": np.bincount(codes, minlength=len(classes))[:CLASSES].tolist(),
        "metric": prediction.metric,
        "quality": quality(prediction),
        "choice": prediction.choice,
        "classifier": prediction.classifier,
        "report": [finite_or_none(row) for row in prediction.report.records()],
        "candidates": [
            finite_or_none(record) for record in prediction.inference.candidates.records()
        ],
        "reason": prediction.inference.reason,
        "map": _map(prediction, codes),
        "uncertain": [_row(prediction, row) for row in _uncertain(prediction)],
        "importance": _importance(prediction),
        "suspicious": [_row(prediction, row) for row in _suspicious(prediction)],
        "details": _details(prediction),
    }


def quality(prediction: Prediction) -> JsonObject:
    """Return what is expected and what was measured: accuracy, balanced accuracy, mean F1 and recalls."""
    both = {"expected": prediction.expected, "measured": prediction.measured}
    return {name: values and values.record(prediction.classes) for name, values in both.items()}


def finite_or_none(record: JsonObject) -> JsonObject:
    """Return a record for JSON, with None in place of numbers that are not finite."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in record.items()
    }


def _row(prediction: Prediction, row: int) -> JsonObject:
    """Return a row with its two most probable classes, and its label if it has one."""
    P = prediction.probabilities[row]
    best = np.argsort(-P, kind="stable")[:2]
    y = prediction.target.y
    label = None if y is None or not prediction.given[row] else y[row]
    return {
        "row": int(row),
        "label": None if label is None else str(label),
        "predicted": str(prediction.classes[best[0]]),
        "probability": float(P[best[0]]),
        "second": None if len(best) < 2 else str(prediction.classes[best[1]]),
        "second_probability": None if len(best) < 2 else float(P[best[1]]),
    }


def _importance(prediction: Prediction) -> dict[str, float] | None:
    """Return how much each column matters; None if there are too many columns."""
    try:
        return prediction.importance()
    except InvalidInputError:
        return None


def _uncertain(prediction: Prediction) -> Indices:
    """Return unlabelled rows of an uncertain class, the least probable first; if many, some to label next."""
    rows = np.flatnonzero(~prediction.given & (prediction.probability < CERTAIN))
    if len(rows) > LISTED:
        rows = np.intersect1d(rows, prediction.suggest(LISTED))
    return rows[np.argsort(prediction.probability[rows], kind="stable")]


def _suspicious(prediction: Prediction) -> Indices:
    """Return rows whose label differs from the prediction, the most probable prediction first."""
    y = prediction.target.y
    if y is None:
        return np.empty(0, dtype=np.intp)
    labelled = np.flatnonzero(prediction.given)
    differs = prediction.labels[labelled].astype(object) != y[labelled].astype(object)
    wrong = labelled[differs]
    return np.asarray(wrong[np.argsort(-prediction.probability[wrong], kind="stable")][:LISTED])


def _map(prediction: Prediction, codes: Indices) -> JsonObject:
    target, features = prediction.target, prediction.model.parts[0][0]
    rng = np.random.default_rng(0)
    labelled = rng.permutation(np.flatnonzero(prediction.given))[: MAPPED // 2]
    others = rng.permutation(np.flatnonzero(~prediction.given))[: MAPPED - len(labelled)]
    rows = np.sort(np.concatenate([labelled, others]))
    X = target.rows[rows].astype(np.float64)
    columns = features.first.columns
    plain = X if columns is None else X @ sparse.diags_array(1.0 / columns)
    plain = GramSpan.of([plain]).coordinates[0] if sparse.issparse(plain) else plain
    before = _project(plain, None)
    labels = np.full(len(target), -1)
    if target.y is not None:
        place = {label: code for code, label in enumerate(prediction.classes.tolist())}
        labels[prediction.given] = [
            place.get(label, -1) for label in target.y[prediction.given].tolist()
        ]
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
    most = MAX_MAP_DISTANCE * float(np.median(distance))
    return np.asarray(rows * np.minimum(1.0, most / np.maximum(distance, most or 1.0))[:, None])


def _details(prediction: Prediction) -> JsonObject:
    """Return the settings of the model, and the number of rehearsals."""
    model, rehearsal = prediction.model, prediction.inference.rehearsal
    return {
        "model": model.name,
        "columns_scaled": model.parts[0][0].first.columns is not None,
        "temperature": model.temperature,
        "n_plays": None if rehearsal is None else rehearsal.n_plays,
        "W_shape": list(prediction.inference.W.shape),
    }
