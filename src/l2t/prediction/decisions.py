"""Decisions for a metric: which class to predict for given probabilities, and what to expect of it.

A class is predicted by ``argmax_c log p_c + o_c``, p the calibrated probabilities. For the accuracy the
offsets o are 0. For the balanced accuracy they are ``-log q_c``, q the mean probabilities of the rows: then
every row counts by one over the expected size of its class. For the mean F1 of the classes they are found by
coordinate ascent on its expected value, in which a row with p_c counts as p_c rows of class c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from l2t.prediction.training import NAMED
from l2t.typing import AnyArray, Array, Indices, JsonObject
from l2t.validation import some_of

Metric = Literal["accuracy", "balanced", "f1"]
METRICS: tuple[Metric, ...] = ("accuracy", "balanced", "f1")
#: What the metrics are called in sentences.
METRIC_NAMES = {
    "accuracy": "accuracy",
    "balanced": "balanced accuracy",
    "f1": "mean F1 of the classes",
}
#: Offsets that are tried for each class, relative to those of the balanced accuracy, and rounds over classes.
FRACTIONS = np.linspace(-0.25, 1.5, 15)
N_ROUNDS = 3
#: Rows that the expected value counts for beside the labelled rows that it was measured on.
EXPECTED_ROWS = 6.0


class HeldOutRows(NamedTuple):
    """Probabilities (rows, classes) of labelled rows by a model that was trained without them."""

    probabilities: Array
    #: The codes of their classes.
    truth: Indices


def decide(P: Array, offsets: Array | None) -> Indices:
    """Return the codes of the classes to predict for rows with probabilities P."""
    if offsets is None:
        return np.asarray(P.argmax(axis=1))
    return np.asarray((np.log(np.maximum(P, np.finfo(float).tiny)) + offsets).argmax(axis=1))


def decision_offsets(P: Array, metric: Metric) -> Array | None:
    """Return the offsets with the largest expected metric for rows with probabilities P; None if all are 0.

    >>> P = np.array([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4]])
    >>> decide(P, decision_offsets(P, "accuracy")), decide(P, decision_offsets(P, "balanced"))
    (array([0, 0, 0]), array([0, 0, 1]))
    """
    if metric == "accuracy" or not len(P):
        return None
    balanced = -np.log(np.maximum(P.mean(axis=0), 0.5 / len(P)))
    balanced -= balanced.min()
    if metric == "balanced":
        return np.asarray(balanced)
    offsets = np.zeros(P.shape[1])
    best = _expected_f1(P, offsets)
    for _ in range(N_ROUNDS):
        before = best
        for code in range(len(offsets)):
            for fraction in FRACTIONS:
                trial = offsets.copy()
                trial[code] = fraction * balanced[code]
                if (value := _expected_f1(P, trial)) > best:
                    best, offsets = value, trial
        if best == before:
            break
    return np.asarray(offsets)


def _expected_f1(P: Array, offsets: Array) -> float:
    return Quality.expected_of(P, decide(P, offsets)).f1


@dataclass(frozen=True, eq=False)
class Quality:
    """The accuracy, the balanced accuracy, the mean F1 and the recalls of predictions.

    Attributes
    ----------
    accuracy, balanced, f1 : float
        The share of right predictions, the mean recall, and the mean F1 of the classes that rows have.
    recall : array of shape (n_classes,)
        The share of each class that is predicted as such; NaN for classes that no row has.
    n_rows : int
        The number of labelled rows, by cross-validation; 0 if expected from the probabilities.
    """

    accuracy: float
    balanced: float
    f1: float
    recall: Array
    n_rows: int = 0

    @classmethod
    def expected_of(cls, P: Array, codes: Indices) -> Quality:
        """Return what to expect of predictions if rows have classes with probabilities P."""
        return cls._of(P, codes, 0)

    @classmethod
    def measured_of(cls, codes: Indices, truth: Indices, n_classes: int) -> Quality:
        """Return the quality of predictions of rows with known classes."""
        return cls._of(np.eye(n_classes)[truth], codes, len(truth))

    @classmethod
    def _of(cls, weights: Array, codes: Indices, n_rows: int) -> Quality:
        n_classes = weights.shape[1]
        right = np.bincount(codes, weights[np.arange(len(codes)), codes], minlength=n_classes)
        size, predicted = weights.sum(axis=0), np.bincount(codes, minlength=n_classes)
        present = size > 0
        recall = np.full(n_classes, np.nan)
        recall[present] = right[present] / size[present]
        f1 = 2.0 * right[present] / (size + predicted)[present]
        accuracy = float(right.sum() / max(len(codes), 1))
        return cls(accuracy, float(recall[present].mean()), float(f1.mean()), recall, n_rows)

    def of(self, metric: Metric) -> float:
        """Return the value of a metric."""
        return {"accuracy": self.accuracy, "balanced": self.balanced, "f1": self.f1}[metric]

    def sentence(self, classes: AnyArray) -> str:
        """Return balanced accuracy, mean F1 and recalls in words."""
        shown = [
            f"{name} {100 * recall:.0f} %"
            for name, recall in zip(classes.tolist(), self.recall, strict=True)
            if np.isfinite(recall)
        ]
        where = f"cross-validated on {self.n_rows} labelled rows" if self.n_rows else "expected"
        return (
            f"Balanced accuracy {100 * self.balanced:.0f} %, mean F1 {100 * self.f1:.0f} % ({where}); "
            f"recall: {some_of(shown, NAMED)}."
        )

    def record(self, classes: AnyArray) -> JsonObject:
        """Return the numbers for JSON."""
        recall = {
            str(name): float(value) if np.isfinite(value) else None
            for name, value in zip(classes.tolist(), self.recall, strict=True)
        }
        return {
            "accuracy": self.accuracy,
            "balanced": self.balanced,
            "f1": self.f1,
            "recall": recall,
            "n_rows": self.n_rows,
        }


def promised(metric: Metric, expected: Quality, measured: Quality | None) -> float:
    """Return the value of the metric to expect: that on labelled rows, with some rows of that expected."""
    if measured is None:
        return expected.of(metric)
    n = measured.n_rows
    return (n * measured.of(metric) + EXPECTED_ROWS * expected.of(metric)) / (n + EXPECTED_ROWS)
