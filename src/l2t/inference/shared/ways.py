"""Ways to predict the target, which of them labelled rows favour, and what classifies rows one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from l2t.algorithms.jda import Codes
from l2t.inference.shared.classifiers import C
from l2t.inference.shared.task import Combination, Task
from l2t.typing import Array

__all__ = ["WAYS", "Linear", "Way", "answers", "compare", "teach"]

#: A vote of combinations that are trained on all labelled rows or on the source's; or logistic regression on
#: the features as they are, trained on the target's labelled rows or on the source's.
Way = Literal["both", "target", "source", "plain source"]
WAYS: tuple[Way, ...] = get_args(Way)
FOLDS = 3
#: So many combinations, the first ones of the vote, are trained again with target labels.
VOTERS = 3
#: Probabilities to this power are added up.
SHARPENED = 3
#: How much all source rows count beside the predicted target rows, and C, for what classifies single rows.
SOURCE_SHARE = 0.1
TAUGHT_C = 100.0


class Linear(NamedTuple):
    """Scores ``z coef + intercept`` of some classes, z a row less the mean: of length 1, or over `scale`."""

    classes: tuple[Any, ...]
    mean: Array
    scale: float | None
    coef: Array
    intercept: Array


def answers(task: Task, way: Way, members: Sequence[Combination], target: Codes) -> Codes:
    """Return the classes of the target rows; `target` has the labels that are trained on, else -1."""
    if way in ("target", "plain source"):
        own = way == "target"
        found = task.predict("logistic", task.plain, target if own else None, source=not own)
    else:
        some = members if way == "source" else members[:VOTERS]
        labels = None if way == "source" else target
        found = np.sum([each.weight * _sharpened(each, labels) for each in some], axis=0)
    return np.asarray(found.argmax(axis=1))


def _sharpened(member: Combination, target: Codes | None) -> Array:
    P = member.probabilities
    if target is not None:
        P = member.task.predict(member.classifier, member.space, target)
    sharp: Array = P**SHARPENED
    return np.asarray(sharp / sharp.sum(axis=1, keepdims=True))


def compare(
    task: Task, members: Sequence[Combination], ways: Sequence[Way]
) -> tuple[Way, dict[str, float]]:
    """Return which of some ways to take, and the accuracies on labelled target rows by way."""
    target = task.codes[~task.source]
    rows = np.flatnonzero(target >= 0)
    truth = target[rows]
    if not rows.size:
        return "source", {}
    right = {way: answers(task, way, members, target)[rows] == truth for way in WAYS[2:]}
    fewest = int(np.bincount(truth)[np.unique(truth)].min())
    if fewest > 1:  # else a class that is left out could not be predicted
        trained: tuple[Way, ...] = WAYS[:2]
        right |= {way: np.zeros(len(rows), dtype=bool) for way in trained}
        parts = StratifiedKFold(min(FOLDS, fewest), shuffle=True, random_state=0)
        for _, left_out in parts.split(rows, truth):
            codes = target.copy()
            codes[rows[left_out]] = -1
            for way in trained:
                found = answers(task, way, members, codes)[rows[left_out]]
                right[way][left_out] = found == truth[left_out]
    choice = next(way for way in WAYS if way in ways)
    for other in [way for way in ways if {way, choice} <= right.keys()]:
        gain = right[other].astype(int) - right[choice]
        if gain.sum() > np.sqrt(np.abs(gain).sum()):  # better by more than the standard error
            choice = other
    return choice, {way: float(each.mean()) for way, each in right.items()}


def teach(task: Task, way: Way, predicted: Codes) -> Linear:
    """Return logistic regression of single rows, taught by what is predicted for the target's rows.

    Labelled rows keep their labels. Source rows take part with a small weight, for the sake of further rows
    that are unlike those of the target here.
    """
    codes, source, weights = task.codes.copy(), task.source, np.ones(len(task.codes))
    if way == "target":
        codes[source] = -1
    else:
        free = ~source & (codes < 0)
        codes[free] = predicted[free[~source]]
        weights[source] = SOURCE_SHARE * len(predicted) / int(source.sum())
    rows = codes >= 0
    model = LogisticRegression(C=C if way == "target" else TAUGHT_C, max_iter=300)
    model.fit(task.plain.rows[rows], codes[rows], sample_weight=weights[rows])
    coef, intercept = model.coef_.T, model.intercept_
    if len(model.classes_) == 2:
        coef, intercept = np.hstack([-coef, coef]) / 2, intercept * np.array([-0.5, 0.5])
    classes = tuple(task.classes[code] for code in model.classes_)
    return Linear(classes, task.plain.mean, task.plain.scale, coef, intercept)
