"""The report of an ensemble: what is used beside plain classifiers, and sentences on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from l2t.algorithms import NO_TRANSFER
from l2t.prediction.ensemble import PLAY_ROWS, Ensemble, learner_accuracy
from l2t.prediction.promise import Promise
from l2t.prediction.report import ENSEMBLE, PLAIN, TOO_FEW, Report, ReportRow
from l2t.prediction.trials import BASELINES, IN_EVERY_VIEW, Learner, Trial
from l2t.prediction.views import CENTRED, ORIGINAL

#: The share of the weights from which a sentence names a learner, and the number of learners in the report.
LEAST_NAMED = 0.1
MAX_SHOWN = 3


def ensemble_report(
    ensemble: Ensemble,
    promise: Promise | None,
    plays: Sequence[Trial],
    own: Trial | None,
    notes: Sequence[str],
) -> Report:
    """Return the ensemble beside plain classifiers and its largest learners.

    Parameters
    ----------
    ensemble : Ensemble
        The weights of the learners.
    promise : Promise or None
        The accuracy to expect, if that is known.
    plays : sequence of Trial
        The trials in plays of known classes.
    own : Trial or None
        The trial on the user's labelled rows.
    notes : sequence of str
        Further sentences.

    Returns
    -------
    Report
    """
    total = float(ensemble.weights.sum())
    view = main_view(ensemble)
    used = ReportRow(PLAIN if view == NO_TRANSFER else view, ENSEMBLE, used=True)
    if own is not None:
        used = used.with_measured(ensemble.accuracy([own]), len(own.codes))
    if promise is not None:
        used = replace(used.promising(promise), reason=promise.basis)
    compared = [*(Learner(name, PLAIN) for name in IN_EVERY_VIEW), *BASELINES]
    largest = [learner for learner in ensemble.used if learner not in compared]
    shown = [*compared, *largest[:MAX_SHOWN]]
    rows = [used]
    for learner in shown:
        difference = _difference(learner, ensemble, plays, own)
        row = _learner_row(learner, own, ensemble.used.get(learner, 0.0) / total)
        if promise is not None and difference is not None:
            expected = float(np.clip(promise.expected + difference, 0.0, 1.0))
            row = replace(row, expected=expected)
        why = "but the ensemble does not depend on a choice by these numbers"
        rows.append(replace(row, reason=why) if row.is_above(used) else row)
    sentences = [f"Used: {_shares(ensemble)}."]
    if promise is None:
        sentences.append(TOO_FEW)
    else:
        sentences.append(f"{used.outcome}; {promise.basis}.")
    sentences += _compared(used, [row for row in rows if row.is_baseline])
    if ensemble.doubt >= 0.5 and plays:
        sentences.append(
            "The target differs from the known classes, so what was rehearsed on them counts little."
        )
    return Report(tuple(rows), [*sentences, *notes], promise)


def _compared(used: ReportRow, plain: Sequence[ReportRow]) -> list[str]:
    """Return a sentence that compares what is used with the best plain classifier, if that is known."""
    best = max(plain, key=lambda row: row.expected or 0.0)
    if used.expected is None or best.expected is None:
        return []
    points = 100 * (used.expected - best.expected)
    if points >= 0.05:
        return [f"That is {points:.1f} points above the best plain classifier, {best.name}."]
    return [f"The best plain classifier, {best.name}, should be about as good."]


def _learner_row(learner: Learner, own: Trial | None, weight: float) -> ReportRow:
    """Return the report row of one learner with its share of the weights."""
    features = PLAIN if learner.view == ORIGINAL else learner.view
    row = ReportRow(features, learner.classifier, weight=weight or None)
    return row if own is None else row.with_measured(own.accuracy(learner), len(own.codes))


def basis_of(plays: Sequence[Trial], own: Trial | None, ensemble: Ensemble) -> str:
    """Return what the weights of an ensemble rest on, in words."""
    basis = []
    if plays and ensemble.doubt < 1.0:
        basis.append(f"rehearsed {len(plays)} times on known classes")
    if own is not None:
        basis.append(f"cross-validated on {len(own.codes)} labelled rows")
    return " and ".join(basis) or "by what was learned on other data"


def main_view(ensemble: Ensemble) -> str:
    """Return the view with the largest weight, as the name of a candidate."""
    weights = dict.fromkeys(CENTRED, 0.0)
    for learner, weight in ensemble.used.items():
        if learner.view in weights:
            weights[learner.view] += weight
    view = max(weights, key=lambda name: weights[name])
    return NO_TRANSFER if view == PLAIN else view


def _difference(
    learner: Learner, ensemble: Ensemble, plays: Sequence[Trial], own: Trial | None
) -> float | None:
    """Return the accuracy of a learner minus that of the ensemble, over plays and own rows."""
    if own is None and (not plays or ensemble.doubt >= 1.0):
        return None
    total, n_rows = (
        0.0,
        PLAY_ROWS,
    )  # where plays are doubted, there is no difference before labels show one
    if plays:
        difference = learner_accuracy(plays, learner) - ensemble.accuracy(plays)
        total += PLAY_ROWS * (1.0 - ensemble.doubt) * difference
    if own is not None:
        total += len(own.codes) * (own.accuracy(learner) - ensemble.accuracy([own]))
        n_rows += len(own.codes)
    return total / n_rows


def _shares(ensemble: Ensemble) -> str:
    """Return the shares of the learners in words, the largest first."""
    total = float(ensemble.weights.sum())
    parts = [
        f"{100 * weight / total:.0f} % {learner.name}"
        for learner, weight in ensemble.used.items()
        if weight >= LEAST_NAMED * total
    ]
    rest = " and others" if len(parts) < len(ensemble.used) else ""
    return f"ensemble of {', '.join(parts)}{rest}"
