"""Predictions where source and target have the same classes: the model, and what to expect of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from l2t.domains import Domain
from l2t.inference.shared import SharedInference
from l2t.prediction.choice import standard_error
from l2t.prediction.classifiers import Head
from l2t.prediction.model import Features, Model
from l2t.prediction.report import PLAIN, Report, ReportRow
from l2t.typing import AnyArray, Array

__all__ = ["shared_model", "shared_report"]

#: Classes or sources that a sentence names, at most.
NAMED = 8


def shared_model(
    found: SharedInference, target: Domain, labels: AnyArray, columns: Array | None
) -> Model:
    """Return the model of target rows; `labels` are its classes in their order.

    Its mean probability is the accuracy on labelled rows or, where that is not known, the share of
    combinations that agree.
    """
    _, mean, scale, coef, intercept = found.linear
    place = [found.classes.index(label) for label in labels.tolist()]
    features = Features(None, mean, scale or 1.0, scale is None, columns)
    head = Head(np.ascontiguousarray(coef[:, place]), intercept[place])
    model = Model(labels, target.feature_names, features, head, name=found.used)
    some = model.decision_function(target.X[:5000])
    return model.calibrated(some, found.agreement if found.expected is None else found.expected)


def shared_report(found: SharedInference, sources: Sequence[Domain], *, assumed: bool) -> Report:
    """Return the ways that were compared; `assumed` says that no label told that classes are shared."""
    n = found.n_labelled
    reason = (
        f"measured on {n} labelled rows" if found.accuracies else "no labelled row to measure on"
    )
    rows = []
    for way in dict.fromkeys([found.way, "source", "target", "plain source"]):
        accuracy = found.accuracies.get(way)
        if accuracy is None and way not in (found.way, "plain source"):
            continue
        voted, used = way in ("source", "both"), way == found.way
        features = found.members[0].candidate if voted else PLAIN
        error = None if accuracy is None else standard_error(accuracy, n)
        rows.append(
            ReportRow(
                PLAIN if features == "identity" else features,
                "vote" if voted else "logistic",
                *(0.0, accuracy, accuracy, error, used, reason if used else ""),
                trained_on=way.removeprefix("plain "),
            )
        )
    first = [f"Used: {found.used}; {reason}."]
    if found.expected is not None:
        first.append(f"About {100 * found.expected:.0f} % of the predictions should be right.")
    else:
        first.append("There are too few labelled rows to measure the accuracy on them.")
    first.append(_classes(found, assumed))
    if len(sources) > 1:
        first.append(_sources(found, sources))
    return Report(tuple(rows), first)


def _classes(found: SharedInference, assumed: bool) -> str:
    """Say which classes are shared."""
    if assumed:
        return (
            "No target row is labelled: the target is assumed to have the classes of the source "
            f"({_some(found.source_only)})."
        )
    if not (found.source_only or found.target_only):
        return "Source and target have the same classes: the source's labels count as well."
    parts = [f"Source and target share the classes {_some(found.shared)}"]
    if found.source_only:
        parts.append(f"no labelled target row is of {_some(found.source_only)}")
    if found.target_only:
        parts.append(f"no source row is of {_some(found.target_only)}")
    return "; ".join(parts) + "."


def _sources(found: SharedInference, sources: Sequence[Domain]) -> str:
    """Say which sources contributed."""
    names = [each.name or f"source {at}" for at, each in enumerate(sources, 1)]
    parts = [
        f"{name} ({weight:.2f})" if weight else f"{name} (not used)"
        for name, weight in zip(names, found.weights, strict=True)
    ]
    return f"Weights of the sources: {', '.join(parts)}."


def _some(names: Sequence[Any]) -> str:
    """Return names with commas between them, the first ones of many."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(map(str, names[:NAMED])) + more
