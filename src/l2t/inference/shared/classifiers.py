"""Classifiers that are trained on labelled rows of the source, and of the target where there are any.

All of them see rows of X W, less the mean of their domain, divided by their length.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading

from l2t.algorithms.jda import Codes
from l2t.inference.shared.manifold import ManifoldClassifier
from l2t.typing import AnyArray, Array
from l2t.validation import one_of

__all__ = ["CLASSIFIERS", "CrossDomainClassifier", "make_classifier"]

CLASSIFIERS = ("1-nn", "logistic", "spreading", "manifold")
#: Rows have length 1, so that the margin is small and the penalty must be, too.
C = 10.0
NEIGHBORS = 10


class CrossDomainClassifier(Protocol):
    """What `make_classifier` returns."""

    def fit(self, Z: Array, codes: Codes, source: AnyArray, weights: Array) -> Self:
        """Fit to rows of both domains, source rows first; codes are -1 for unlabelled rows."""
        ...

    def predict_proba(self, Z: Array) -> Array:
        """Return the probabilities of the classes 0 ... C - 1 for rows of the target."""
        ...


def make_classifier(name: str) -> CrossDomainClassifier:
    """Return a classifier by one of the names in CLASSIFIERS."""
    one_of("classifiers", name, CLASSIFIERS)
    if name == "manifold":
        return ManifoldClassifier()
    if name == "spreading":
        return _Spreading()
    if name == "logistic":
        return _Plain(LogisticRegression(C=C, max_iter=300), weighted=True)
    return _Plain(KNeighborsClassifier(1))


class _Plain:
    """A classifier of scikit-learn, trained on the labelled rows."""

    def __init__(self, model: Any, *, weighted: bool = False) -> None:
        self._model, self._weighted = model, weighted

    def fit(self, Z: Array, codes: Codes, source: AnyArray, weights: Array) -> Self:
        rows = codes >= 0
        self._n_classes = int(codes.max()) + 1
        extra = {"sample_weight": weights[rows]} if self._weighted else {}
        self._model.fit(Z[rows], codes[rows], **extra)
        return self

    def predict_proba(self, Z: Array) -> Array:
        found = np.zeros((len(Z), self._n_classes))
        found[:, self._model.classes_] = self._model.predict_proba(Z)
        return found


class _Spreading(_Plain):
    """Label spreading over the rows of both domains."""

    def __init__(self) -> None:
        super().__init__(LabelSpreading(kernel="knn", n_neighbors=NEIGHBORS, max_iter=100))

    def fit(self, Z: Array, codes: Codes, source: AnyArray, weights: Array) -> Self:
        self._n_classes = int(codes.max()) + 1
        self._model.fit(Z, codes)
        return self
