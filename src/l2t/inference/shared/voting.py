"""A vote trained on the source or on both domains, or a classifier of the target: which predicts a target.

Labelled target rows set the share of the vote, trained on both domains, relative to logistic regression
trained on the target alone. With k labels per class, r_v and r_t rows that the two predict correctly in
cross-validation, d rows that only one of them does, and the accuracy a of the vote trained on the source,

``share = 1 / (1 + sqrt(k) exp(-1.5 z - 2 (2 a - 1)))``,  ``z = (r_v - r_t) / sqrt(d + 2)``,

and with one label or one group per class, where there is no cross-validation, the share is a, shrunk towards
1/2 as by eight more rows: two labelled rows do not overrule the source. The constants were chosen on
development data (docs/results/shared-classes.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from l2t.classifiers.cross_domain import C
from l2t.experiences.experience import TrainedOn
from l2t.inference.shared.rows import Combination, SharedRows
from l2t.typing import Array, Indices

FOLDS = 3
#: Number of combinations, those of largest weight, that are trained again with target labels.
VOTERS = 3
#: Exponent of probabilities before they are averaged.
SHARPENED = 3
#: Number of rows, half of them correct, added to the labelled ones at one label per class.
PRIOR_VOTE_ROWS = 8
#: A smaller share of the vote is set to 0.
LEAST_VOTE = 0.05
#: Weight of all source rows relative to the target rows in the classifier of new rows, and its C.
SOURCE_SHARE = 0.1
PSEUDO_LABEL_C = 100.0


class Decision(NamedTuple):
    """The rows trained on, the share of the vote, predicted classes, and accuracies on labelled rows."""

    trained_on: TrainedOn
    share: float
    predicted: Indices
    accuracies: dict[str, float]

    @property
    def accuracy(self) -> float | None:
        """Its accuracy on labelled rows, if there are any.

        A vote with target labels that could not be cross-validated should be no worse than that without.
        """
        source = self.accuracies.get("source") if self.trained_on == "both" else None
        return self.accuracies.get(self.trained_on, source)


class LinearModel(NamedTuple):
    """Scores ``z coef + intercept`` of classes, z a centred row of unit norm, or divided by `scale`."""

    classes: tuple[Any, ...]
    mean: Array
    scale: float | None
    coef: Array
    intercept: Array


def decide_share(
    task: SharedRows, members: Sequence[Combination], *, source_alone: bool = False
) -> Decision:
    """Predict the fitted target rows; with `source_alone` target labels only measure accuracies.

    An accuracy is that of models without source rows in the groups of the rows that are tested.
    """
    target, groups = task.codes[~task.source], task.groups[~task.source]
    rows = np.flatnonzero(target >= 0)
    truth, classes = target[rows], np.unique(target[rows])
    voted = vote(members)
    several = len(classes) > 1  # the accuracy on rows of one class is its recall
    accuracies = _source_accuracies(task, members, voted, rows) if several else {}
    if source_alone or not rows.size:
        return Decision("source", 1.0, voted.argmax(axis=1), accuracies)

    def trained(codes: Indices, held_out: Indices | None = None) -> Array:
        of_target = task.predict("logistic", task.plain, codes, source=False)
        return np.stack([vote(members, codes, held_out), _sharp(of_target)])

    accuracy = accuracies.get("source", 0.5)
    share = (accuracy * len(rows) + PRIOR_VOTE_ROWS / 2) / (len(rows) + PRIOR_VOTE_ROWS)
    folds = _folds(truth, groups[rows]) if several else []
    if folds:
        tested = np.empty((2, len(rows), len(task.classes)))
        for left_out in folds:
            codes = target.copy()
            codes[rows[left_out]] = -1
            probabilities = trained(codes, groups[rows[left_out]])
            tested[:, left_out] = probabilities[:, rows[left_out]]
        right = tested.argmax(axis=2) == truth
        z = (right[0].sum() - right[1].sum()) / np.sqrt((right[0] != right[1]).sum() + 2.0)
        against = 0.5 * np.log(len(rows) / len(classes)) - 1.5 * z - 2.0 * (2.0 * accuracy - 1.0)
        share = float(1.0 / (1.0 + np.exp(against)))
    if not several:  # a classifier of the target alone would know no other
        share = 1.0
    share = share if share >= LEAST_VOTE else 0.0
    mixture = np.array([share, 1.0 - share])[:, None, None]
    if folds:
        accuracies["both"] = _accuracy((mixture * tested).sum(axis=0), truth)
        accuracies["target"] = float(right[1].mean())
    predicted = (mixture * trained(target)).sum(axis=0).argmax(axis=1)
    return Decision("both" if share else "target", share, predicted, accuracies)


def _source_accuracies(
    task: SharedRows, members: Sequence[Combination], voted: Array, rows: Indices
) -> dict[str, float]:
    """Return the accuracies on labelled target rows of the vote and of a classifier of the source.

    Neither is known if all source rows of a class are in groups of labelled target rows.
    """
    truth, groups = task.codes[~task.source][rows], task.groups[~task.source][rows]
    known = task.source & (task.codes >= 0)
    left = known & ~np.isin(task.groups, groups)
    if len(np.unique(task.codes[left])) < len(np.unique(task.codes[known])):
        return {}
    held_out = None if left.sum() == known.sum() else groups
    if held_out is not None:
        voted = vote(members, held_out=held_out)
    plain = task.predict("logistic", task.plain, held_out=held_out)
    return {
        "source": _accuracy(voted[rows], truth),
        "plain source": _accuracy(plain[rows], truth),
    }


def _folds(truth: Indices, groups: Indices) -> list[Indices]:
    """Return the labelled rows of each fold, groups together; none if a class is in one group alone."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold  # slow to import

    fewest = min(len(np.unique(groups[truth == code])) for code in np.unique(truth))
    if fewest < 2:
        return []
    has_groups = len(np.unique(groups)) < len(groups)
    kind = StratifiedGroupKFold if has_groups else StratifiedKFold
    splitter = kind(min(FOLDS, fewest), shuffle=True, random_state=0)
    splits = splitter.split(truth, truth, groups if has_groups else None)
    return [left_out for _, left_out in splits]


def _accuracy(P: Array, truth: Indices) -> float:
    return float(np.mean(P.argmax(axis=1) == truth))


def vote(
    members: Sequence[Combination],
    target: Indices | None = None,
    held_out: Indices | None = None,
) -> Array:
    """Return the weighted mean of probabilities.

    With target codes, or groups of which no source row is used, it is that of the first members, trained
    again.
    """
    total = np.zeros(members[0].probabilities.shape)
    again = target is not None or held_out is not None
    for member in members[:VOTERS] if again else members:
        P = member.probabilities
        if again:
            P = member.task.predict(member.classifier, member.space, target, held_out=held_out)
        total += member.weight * _sharp(P)
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _sharp(P: Array) -> Array:
    sharp: Array = P**SHARPENED
    return np.asarray(sharp / sharp.sum(axis=1, keepdims=True))


def distill(task: SharedRows, decision: Decision) -> LinearModel:
    """Return logistic regression trained on the predictions for the target rows as pseudo-labels.

    Labelled rows keep their labels. Source rows have a small weight, for new rows that are unlike the target
    rows here.
    """
    from sklearn.linear_model import LogisticRegression  # slow to import

    codes, source, weights = task.codes.copy(), task.source, np.ones(len(task.codes))
    if decision.trained_on == "target":
        codes[source] = -1
    else:
        unlabelled = ~source & (codes < 0)
        codes[unlabelled] = decision.predicted[unlabelled[~source]]
        weights[source] = SOURCE_SHARE * len(decision.predicted) / int(source.sum())
    rows = codes >= 0
    model = LogisticRegression(
        C=C if decision.trained_on == "target" else PSEUDO_LABEL_C, max_iter=300
    )
    model.fit(task.plain.rows[rows], codes[rows], sample_weight=weights[rows])
    coef, intercept = model.coef_.T, model.intercept_
    if len(model.classes_) == 2:
        coef, intercept = np.hstack([-coef, coef]) / 2, intercept * np.array([-0.5, 0.5])
    classes = tuple(task.classes[code] for code in model.classes_)
    return LinearModel(classes, task.plain.mean, task.plain.scale, coef, intercept)
