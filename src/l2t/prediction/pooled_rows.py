"""Rows of a target and its sources, with plain classifiers that are trained on some and tested on others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from l2t.classifiers.classifiers import CLASSIFIERS, Head, TrainingSet
from l2t.classifiers.trees import TreeHead
from l2t.typing import AnyArray, Array, Indices

#: The classifiers of a table.
LEARNERS = ("logistic", "random forest", "gradient boosting")
#: Inverse penalty of logistic regression on columns of unit variance; scikit-learn's default.
C = 1.0
#: Probability that is spread over all classes, so that one error does not exclude a classifier.
DOUBT = 0.02
#: Maximum number of source rows in cross-validation.
MAX_SOURCE_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Rows:
    """Scaled rows of the target, then of the sources, with codes (-1 if unlabelled) and groups."""

    Z: Array
    codes: Indices
    groups: Indices
    n_target: int
    n_classes: int

    def fit(self, name: str, rows: Indices) -> Head | TreeHead:
        """Train a classifier on some labelled rows, which may lack classes."""
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        if len(present) == 1:
            head: Head | TreeHead = Head(np.zeros((self.Z.shape[1], 1)), np.zeros(1))
        else:
            task = TrainingSet(self.Z[rows], np.arange(len(rows)), codes, len(present))
            head = CLASSIFIERS[name].fit(task, C, None)
        return (
            head if len(present) == self.n_classes else head.with_classes(present, self.n_classes)
        )

    def probabilities(self, name: str, rows: Indices, test: Indices) -> Array:
        """Return the probabilities of test rows by a classifier that is trained on others."""
        P = softmax(self.fit(name, rows).scores(self.Z[test]), axis=1)
        return np.asarray((1.0 - DOUBT) * P + DOUBT / self.n_classes)

    def some_of_source(self, rng: np.random.Generator) -> Indices:
        """Return random labelled rows of the sources."""
        source = self.n_target + np.flatnonzero(self.codes[self.n_target :] >= 0)
        return np.sort(rng.permutation(source)[:MAX_SOURCE_ROWS])


def folds(groups: Indices, rng: np.random.Generator, n_folds: int) -> Iterator[AnyArray]:
    """Yield the mask of the test rows of each fold; groups are held out together."""
    different, group = np.unique(groups, return_inverse=True)
    fold = rng.permutation(len(different)) % min(n_folds, max(len(different), 1))
    for number in range(int(fold.max(initial=-1)) + 1):
        yield fold[group] == number
