"""Ways to predict the target: a vote trained on the source, a vote with target labels, or the target alone.

Labelled target rows say how much the vote counts beside logistic regression that knows the target alone. With
k labels per class, of which cross-validation gets r_v right by the vote and r_t without the source, d rows
that only one of them gets right, and the share a of rows that the vote trained on the source gets right,

``share = 1 / (1 + sqrt(k) exp(-1.5 z - 2 (2 a - 1)))``,  ``z = (r_v - r_t) / sqrt(d + 2)``,

and with one label per class, which cannot be left out, the share of rows that are right as if eight more were
labelled, half of them right: two labelled rows do not overrule the source. These numbers were taken on
development data (docs/results/shared-classes.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from l2t.experiences.experience import TrainedOn
from l2t.inference.shared.classifiers import C
from l2t.inference.shared.task import Combination, Task
from l2t.typing import Array, Indices

FOLDS = 3
#: So many combinations, the first ones of the vote, are trained again with target labels.
VOTERS = 3
#: Probabilities to this power are added up.
SHARPENED = 3
#: So many rows, half of them right, are added to those that speak for the vote at one label per class.
PRIOR_ROWS = 8
#: With a smaller share there is no vote.
LEAST_SHARE = 0.05
#: How much all source rows count beside the predicted target rows, and C, for what classifies single rows.
SOURCE_SHARE = 0.1
TAUGHT_C = 100.0


class Decision(NamedTuple):
    """The way that is taken, the vote's share in it, predicted classes, accuracies on labelled rows."""

    way: TrainedOn
    share: float
    predicted: Indices
    accuracies: dict[str, float]


class Linear(NamedTuple):
    """Scores ``z coef + intercept`` of some classes, z a row less the mean: of length 1, or over `scale`."""

    classes: tuple[Any, ...]
    mean: Array
    scale: float | None
    coef: Array
    intercept: Array


def decide(task: Task, members: Sequence[Combination], *, source_alone: bool = False) -> Decision:
    """Predict the target rows that were fitted to; with `source_alone` labels are for measuring."""
    target = task.codes[~task.source]
    rows = np.flatnonzero(target >= 0)
    truth, classes = target[rows], np.unique(target[rows])
    found = {"source": vote(members), "plain source": task.predict("logistic", task.plain)}
    accuracies: dict[str, float] = {}
    if rows.size:
        accuracies = {name: _accuracy(P[rows], truth) for name, P in found.items()}
    if source_alone or not rows.size:
        return Decision("source", 1.0, found["source"].argmax(axis=1), accuracies)

    def trained(codes: Indices) -> Array:
        alone = task.predict("logistic", task.plain, codes, source=False)
        return np.stack([vote(members, codes), _sharp(alone)])

    from sklearn.model_selection import StratifiedKFold  # which is slow to import

    right_share = accuracies["source"]
    share = (right_share * len(rows) + PRIOR_ROWS / 2) / (len(rows) + PRIOR_ROWS)
    fewest = int(np.bincount(truth)[classes].min())
    if fewest > 1:
        held_out = np.empty((2, len(rows), len(task.classes)))
        parts = StratifiedKFold(min(FOLDS, fewest), shuffle=True, random_state=0)
        for _, left_out in parts.split(rows, truth):
            codes = target.copy()
            codes[rows[left_out]] = -1
            held_out[:, left_out] = trained(codes)[:, rows[left_out]]
        right = held_out.argmax(axis=2) == truth
        z = (right[0].sum() - right[1].sum()) / np.sqrt((right[0] != right[1]).sum() + 2.0)
        against = 0.5 * np.log(len(rows) / len(classes)) - 1.5 * z - 2.0 * (2.0 * right_share - 1.0)
        share = float(1.0 / (1.0 + np.exp(against)))
    if len(classes) == 1:  # alone, they would be all classes that there are
        share = 1.0
    share = share if share >= LEAST_SHARE else 0.0
    mixture = np.array([share, 1.0 - share])[:, None, None]
    if fewest > 1:
        accuracies["both"] = _accuracy((mixture * held_out).sum(axis=0), truth)
        accuracies["target"] = float(right[1].mean())
    predicted = (mixture * trained(target)).sum(axis=0).argmax(axis=1)
    return Decision("both" if share else "target", share, predicted, accuracies)


def _accuracy(P: Array, truth: Indices) -> float:
    return float(np.mean(P.argmax(axis=1) == truth))


def vote(members: Sequence[Combination], target: Indices | None = None) -> Array:
    """Return the members' probabilities, weighted; the first ones are trained on target labels as well."""
    total = np.zeros(members[0].probabilities.shape)
    for each in members if target is None else members[:VOTERS]:
        P = each.probabilities
        if target is not None:
            P = each.task.predict(each.classifier, each.space, target)
        total += each.weight * _sharp(P)
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _sharp(P: Array) -> Array:
    sharp: Array = P**SHARPENED
    return np.asarray(sharp / sharp.sum(axis=1, keepdims=True))


def teach(task: Task, decision: Decision) -> Linear:
    """Return logistic regression of single rows, taught by what is predicted for the target's rows.

    Labelled rows keep their labels. Source rows take part with a small weight, for the sake of further rows
    that are unlike those of the target here.
    """
    from sklearn.linear_model import LogisticRegression  # which is slow to import

    codes, source, weights = task.codes.copy(), task.source, np.ones(len(task.codes))
    if decision.way == "target":
        codes[source] = -1
    else:
        free = ~source & (codes < 0)
        codes[free] = decision.predicted[free[~source]]
        weights[source] = SOURCE_SHARE * len(decision.predicted) / int(source.sum())
    rows = codes >= 0
    model = LogisticRegression(C=C if decision.way == "target" else TAUGHT_C, max_iter=300)
    model.fit(task.plain.rows[rows], codes[rows], sample_weight=weights[rows])
    coef, intercept = model.coef_.T, model.intercept_
    if len(model.classes_) == 2:
        coef, intercept = np.hstack([-coef, coef]) / 2, intercept * np.array([-0.5, 0.5])
    classes = tuple(task.classes[code] for code in model.classes_)
    return Linear(classes, task.plain.mean, task.plain.scale, coef, intercept)
