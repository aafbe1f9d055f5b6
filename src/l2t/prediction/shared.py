"""Predictions where source and target have the same classes: the model, and what to expect of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from l2t.domains import Domain
from l2t.inference.shared import SharedInference
from l2t.inference.shared.task import weights_sentence
from l2t.prediction.choice import standard_error
from l2t.prediction.classifiers import Head
from l2t.prediction.model import Features, Model
from l2t.prediction.report import PLAIN, Report, ReportRow
from l2t.typing import AnyArray, Array
from l2t.validation import some_of

#: Ways in which combinations vote.
VOTED = ("source", "both")
#: Classes that a sentence names, at most.
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
    usual = found.used, target.X.mean(axis=0), np.median(target.X, axis=0)
    model = Model(labels, target.feature_names, ((features, head),), 1.0, *usual)
    some = model.decision_function(target.X[:5000])
    return model.calibrated(some, found.agreement if found.expected is None else found.expected)


def shared_report(found: SharedInference, sources: Sequence[Domain]) -> Report:
    """Return the ways that were compared, and what to know of classes and sources."""
    n, measured, first = found.n_labelled, found.decision.accuracies, found.members[0].candidate
    reason = f"measured on {n} labelled rows" if measured else "nothing to measure it on"
    rows = []
    for way in dict.fromkeys([found.trained_on, "source", "plain source", "target"]):
        accuracy, used, voted = measured.get(way), way == found.trained_on, way in VOTED
        if n or way != "target":
            error = None if accuracy is None else standard_error(accuracy, n)
            features = first if voted and first != "identity" else PLAIN
            why, on = reason if used else "", way.removeprefix("plain ")
            values = (0.0, accuracy, accuracy, error, used, why, on)
            row = ReportRow(features, "vote" if voted else "logistic", *values)
            rows.append(row.with_interval(error))
    expected = "There are too few labelled rows to measure the accuracy on them."
    if found.expected is not None:
        expected = f"About {100 * found.expected:.0f} % of the predictions should be right."
    sentences = [f"Used: {found.used}; {reason}.", expected, _classes(*found.occurrence)]
    if len(sources) > 1:
        sentences.append(f"W{weights_sentence(sources, found.weights)[1:]}.")
    return Report(tuple(rows), sentences)


def _classes(both: Sequence[Any], source_only: Sequence[Any], target_only: Sequence[Any]) -> str:
    """Say which classes are shared."""
    if not (both or target_only):
        assumed = "the target is assumed to have the classes of the source"
        return f"No target row is labelled: {assumed} ({some_of(source_only, NAMED)})."
    if not (source_only or target_only):
        return "Source and target have the same classes: the source's labels count as well."
    sentence = f"Source and target share the classes {some_of(both, NAMED)}"
    if source_only:
        sentence += f"; no labelled target row is of {some_of(source_only, NAMED)}"
    return sentence + (
        f"; no source row is of {some_of(target_only, NAMED)}." if target_only else "."
    )
