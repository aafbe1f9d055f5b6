"""Classifiers trained on labelled rows of the source, and of the target if there are any.

Their inputs are rows of X W, centred per domain and scaled to unit norm. "manifold" is manifold-regularised
across domains, similar to MEDA (Wang et al. 2018):

``min_f  Σ_labelled w_i (y_i - f(x_i))² + eta ||f||² + lam tr(F'M F) + rho tr(F'L F)``

F = K a are the scores of all rows: K is the RBF kernel, M the discrepancy of JDA (of domains and classes,
with estimated weights), L the normalised Laplacian of the cosine graph. The solution is

``(B + lam M K) a = E Y``,  ``B = (E + rho L) K + eta I``,  E the diagonal of the weights w,

computed again with the pseudo-labels that it predicts until they do not change. ``M = G G'`` has low rank,
one column of G per class and one more, so that B is factorised once and each iteration solves only for G.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.csgraph import laplacian
from scipy.special import softmax

from l2t.algorithms.jda import class_gap_weights, conditional_share
from l2t.numerics import cosine_graph, mean_gap_weights, rbf_kernel, squared_distances
from l2t.typing import AnyArray, Array, Indices
from l2t.validation import one_of

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

CROSS_DOMAIN_CLASSIFIERS = ("1-nn", "logistic", "manifold")
#: Unit rows have small margins, and need a weak penalty.
C = 10.0
#: The kernel ``exp(-D / 2)``, and weights of the discrepancy, the graph and the norm, as published.
BANDWIDTH, LAM, RHO, ETA = 2.0, 10.0, 1.0, 0.1
N_NEIGHBORS = 10
#: Maximum number of updates of the pseudo-labels.
MAX_UPDATES = 10
#: Scores, which are near 0 and 1, are multiplied by this before the softmax.
SCORE_SCALE = 5.0


def make_classifier(name: str) -> CrossDomainClassifier:
    """Return a classifier by one of the names in CROSS_DOMAIN_CLASSIFIERS."""
    one_of("classifiers", name, CROSS_DOMAIN_CLASSIFIERS)
    return ManifoldClassifier() if name == "manifold" else PlainClassifier(name)


class PlainClassifier:
    """1-NN or logistic regression on the labelled rows of both domains."""

    def __init__(self, name: str) -> None:
        from sklearn.linear_model import LogisticRegression  # slow to import
        from sklearn.neighbors import KNeighborsClassifier

        self._weighted = name == "logistic"
        self._nearest = KNeighborsClassifier(1)
        self._model: ClassifierMixin = self._nearest
        if self._weighted:
            self._model = LogisticRegression(C=C, max_iter=300)

    def fit(self, Z: Array, codes: Indices, source: AnyArray, weights: Array) -> Self:
        """Fit to rows of both domains, source rows first; codes are -1 for unlabelled rows."""
        rows = codes >= 0
        self._n_classes = int(codes.max()) + 1
        if len(np.unique(codes[rows])) == 1:  # logistic regression needs two classes
            self._weighted, self._model = False, self._nearest
        extra = {"sample_weight": weights[rows]} if self._weighted else {}
        self._model.fit(Z[rows], codes[rows], **extra)
        return self

    def predict_proba(self, Z: Array) -> Array:
        """Return the probabilities of the classes 0 ... C - 1 for rows of the target."""
        probabilities = np.zeros((len(Z), self._n_classes))
        probabilities[:, self._model.classes_] = self._model.predict_proba(Z)
        return probabilities


class ManifoldClassifier:
    """Kernel ridge classifier with penalties for domain discrepancy and for roughness on the graph."""

    def fit(self, Z: Array, codes: Indices, source: AnyArray, weights: Array) -> Self:
        """Fit to rows of both domains, source rows first; codes are -1 for unlabelled rows."""
        n, ns, n_classes = len(Z), int(source.sum()), int(codes.max()) + 1
        K = rbf_kernel(Z, BANDWIDTH)
        E = np.where(codes >= 0, weights, 0.0)
        L = laplacian(cosine_graph(Z, N_NEIGHBORS), normed=True)  # sparse: few neighbours
        B = RHO * (L @ K) + E[:, None] * K
        B[np.diag_indices(n)] += ETA
        factors = lu_factor(B, overwrite_a=True, check_finite=False)
        Y = E[:, None] * (codes[:, None] == np.arange(n_classes))
        plain = a = lu_solve(factors, Y, check_finite=False)
        labeled = np.flatnonzero(codes >= 0)
        nearest = squared_distances(Z[ns:], Z[labeled]).argmin(axis=1)
        predicted = _with_labels(codes[ns:], codes[labeled[nearest]])
        labeled = labeled[labeled < ns]
        for _ in range(MAX_UPDATES if 0 < ns < n else 0):
            share = conditional_share(Z[labeled], codes[labeled], Z[ns:], predicted)
            domains = mean_gap_weights(ns, n - ns) * np.sqrt(n_classes * (1 - share))
            classes = class_gap_weights(ns, n, labeled, codes[labeled], predicted) * np.sqrt(share)
            G = np.column_stack([domains, classes])
            G *= np.sqrt(LAM / np.linalg.norm(G.T @ G))
            inner, KG = lu_solve(factors, G, check_finite=False), K @ G
            small = np.eye(G.shape[1]) + KG.T @ inner
            a = plain - inner @ np.linalg.solve(small, KG.T @ plain)
            before, predicted = predicted, _with_labels(codes[ns:], (K[ns:] @ a).argmax(axis=1))
            if np.array_equal(before, predicted):
                break
        self._rows, self._weights = Z, a
        return self

    def decision_function(self, Z: Array) -> Array:
        """Return the scores of rows, which may be new."""
        D = squared_distances(Z, self._rows)
        return np.asarray(np.exp(D / -BANDWIDTH) @ self._weights)

    def predict_proba(self, Z: Array) -> Array:
        """Return the probabilities of the classes 0 ... C - 1 for rows of the target."""
        return np.asarray(softmax(SCORE_SCALE * self.decision_function(Z), axis=1))


CrossDomainClassifier = PlainClassifier | ManifoldClassifier


def _with_labels(codes: Indices, predicted: Indices) -> Indices:
    """Return predicted codes, replaced by the known ones of labelled rows."""
    return np.where(codes >= 0, codes, predicted)
