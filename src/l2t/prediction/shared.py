"""Predictions where source and target share classes: the model, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from l2t.algorithms import NO_TRANSFER
from l2t.classifiers.classifiers import Head
from l2t.classifiers.feature_map import FeatureMap
from l2t.domains import Domain
from l2t.inference.shared import SharedInference
from l2t.inference.shared.rows import weights_sentence
from l2t.prediction.model import Model
from l2t.prediction.pooled import Pool
from l2t.prediction.pooled_rows import LEARNERS
from l2t.prediction.promise import Promise
from l2t.prediction.report import (
    AVERAGE,
    PLAIN,
    TOO_FEW,
    Report,
    ReportRow,
    better_than_used,
)
from l2t.prediction.training import NAMED
from l2t.task import ClassRoles
from l2t.typing import AnyArray
from l2t.validation import some_of

#: Losses of accuracy between parts of the source that are named.
LEAST_LOSS = 0.02
#: Points by which the accuracy that is carried over from the source is wrong on one table in ten.
WRONG_BY = 30
#: Ways to train in which combinations vote.
VOTED = ("source", "both")


def shared_model(vote: SharedInference, labels: AnyArray) -> Model:
    """Return the model of a vote before calibration; `labels` are its classes in their order."""
    _, mean, scale, coef, intercept = vote.linear
    order = [vote.classes.index(label) for label in labels.tolist()]
    features = FeatureMap(None, mean, scale or 1.0, scale is None)
    head = Head(np.ascontiguousarray(coef[:, order]), intercept[order])
    return Model(labels, None, ((features, head),), name=vote.used)


def note_on_sources(note: str) -> list[str]:
    """Return the note of `separable_sources` as a sentence, if there is one."""
    return [f"W{note.removeprefix('; w')}."] if note else []


def shared_report(vote: SharedInference, sources: Sequence[Domain], target: Domain) -> Report:
    """Return the ways to train that were compared, with sentences on classes and sources."""
    n_free = int((~target.labeled_rows(default=False)).sum())
    n, measured, first = vote.n_labelled, vote.decision.accuracies, vote.members[0].candidate
    reason = f"measured on {n} labelled rows" if measured else "the accuracy could not be measured"
    rows = []
    for way in dict.fromkeys([vote.trained_on, "source", "plain source", "target"]):
        used, voted = way == vote.trained_on, way in VOTED
        accuracy = vote.decision.accuracy if used else measured.get(way)
        if n or way != "target":
            features = first if voted and first != NO_TRANSFER else PLAIN
            row = ReportRow(
                features,
                "vote" if voted else "logistic",
                used=used,
                reason=reason if used else "",
                trained_on=way.removeprefix("plain "),
            )
            rows.append(_measured(row, accuracy, n, n_free))
    used_row, accuracy = rows[0], vote.decision.accuracy
    promise = None if accuracy is None else Promise.measured(accuracy, n, n_free, reason)
    for place, row in enumerate(rows):
        if row.is_above(used_row) and row.expected is not None and used_row.expected is not None:
            clear = row.expected - used_row.expected > 2.0 * (used_row.error or 0.0)
            why = (
                "but this measurement alone does not decide"
                if clear
                else "which is not clearly more"
            )
            rows[place] = replace(row, reason=why)
    outcome = f"{used_row.outcome}." if promise is not None else TOO_FEW
    sentences = [f"Used: {vote.used}; {reason}.", outcome, *better_than_used(used_row, rows)]
    sentences.append(_describe_classes(vote.roles))
    if len(sources) > 1:
        sentences.append(f"W{weights_sentence(sources, vote.weights)[1:]}.")
    return Report(tuple(rows), sentences, promise)


def pool_report(pool: Pool, roles: ClassRoles, target: Domain, names: Sequence[str]) -> Report:
    """Return the classifiers of a pool with what was measured, and sentences; `names` are the classes."""
    n_rows = int(target.labeled_rows(default=False).sum())
    on = "both" if n_rows else "source"
    reason = (
        f"measured on {n_rows} labelled rows" if pool.n_measured else "nothing could be measured"
    )
    used = ReportRow(PLAIN, AVERAGE, used=True, reason=reason, trained_on=on)
    used = used.with_measured(pool.accuracies.get((AVERAGE, "both")), pool.n_measured)
    used = used.promising(pool.promise)
    rows = [used]
    for name in LEARNERS:
        for trained_on in ("both", "target") if n_rows else ("both",):
            accuracy = pool.accuracies.get((name, trained_on))
            shown = trained_on if n_rows or trained_on == "target" else "source"
            row = ReportRow(PLAIN, name, trained_on=shown)
            row = _measured(row, accuracy, pool.n_measured, pool.n_unlabeled)
            why = "but one measurement on few rows does not decide"
            rows.append(replace(row, reason=why) if row.is_above(used) else row)
    weight = ""
    if pool.target_share and n_rows:
        weight = f" ({100 * (1 - pool.target_share):.0f} % of the weight) and on the target alone"
    domains = "both domains" if n_rows else "the source"
    sentences = [
        f"Used: the average of logistic regression, random forest and gradient boosting, trained on {domains}"
        f"{weight}; {reason}.",
        _expected_sentence(pool, used),
        *_shares_sentence(pool, names),
        _describe_classes(roles),
    ]
    return Report(tuple(rows), sentences, pool.promise)


def _measured(row: ReportRow, accuracy: float | None, n_measured: int, n: int) -> ReportRow:
    """Return a row with an accuracy on held-out labelled rows, if there is one, and what it promises."""
    if accuracy is None:
        return row
    row = row.with_measured(accuracy, n_measured)
    return row.promising(Promise.measured(accuracy, n_measured, n))


def _expected_sentence(pool: Pool, used: ReportRow) -> str:
    if used.expected is not None:
        return f"{used.outcome}."
    words = "Without labelled target rows the accuracy is unknown"
    if used.trained_on == "both":
        words = "The labelled target rows are too few, or of one class: the accuracy is unknown"
    if pool.check.accuracy is None or pool.check.carried_accuracy is None:
        return f"{words}."
    known = f"on held-out rows of the source it is {100 * pool.check.accuracy:.0f} %"
    doubt = f"On one table in ten such an estimate is wrong by more than {WRONG_BY} points."
    if pool.check.loss < LEAST_LOSS:
        return f"{words}; {known}. {doubt}"
    loss, carried = 100 * pool.check.loss, 100 * pool.check.carried_accuracy
    return (
        f"{words}; {known}, but {loss:.0f} points less between parts of the source that differ in the "
        f"columns in which the domains do: probabilities assume at most {carried:.0f} %. {doubt}"
    )


def _shares_sentence(pool: Pool, names: Sequence[str]) -> list[str]:
    """Return a sentence on the class shares, if they differ from the source's."""
    if pool.shares is None:
        return []
    shown = [
        f"{name} {100 * share:.0f} %" for name, share in zip(names, pool.shares[1], strict=True)
    ]
    return [
        "The shares of the classes differ from those of the source, and predictions follow them: about "
        f"{some_of(shown, NAMED)}."
    ]


def _describe_classes(roles: ClassRoles) -> str:
    """Return a sentence on which classes are shared."""
    both, source_only, target_only = roles.both, roles.source_only, roles.target_only
    if not (both or target_only):
        assumed = "the target is assumed to have the classes of the source"
        return f"No target row is labelled: {assumed} ({some_of(source_only, NAMED)})."
    if not (source_only or target_only):
        return (
            "Source and target have the same classes, so the labels of the source are used as well."
        )
    if not both:
        one, others = target_only[0], some_of(source_only, NAMED)
        assumed = f"the target is assumed to have the source's classes {others}"
        return f"Only rows of {one} are labelled: {assumed}."
    sentence = f"Source and target share the classes {some_of(both, NAMED)}"
    if source_only:
        sentence += f"; classes without labelled target rows: {some_of(source_only, NAMED)}"
    if target_only:
        sentence += f"; classes without source rows: {some_of(target_only, NAMED)}"
    return f"{sentence}."
