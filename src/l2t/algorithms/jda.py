"""JDA: joint distribution adaptation (Long, Wang, Ding, Sun, Yu 2013).

``min_V tr(V' K M K V) + lam tr(V'V)  s.t.  V' K H K V = I``,  ``W = X'V``

as in TCA, with classes in the discrepancy: K (n x n) is the linear kernel of the jointly centred rows,
``M = C e_0 e_0' + Σ_c e_c e_c'`` divided by its norm, where ``e_0'X`` is the difference of the domains' means
and ``e_c'X`` that of the means of class c. The target's classes are pseudo-labels, predicted in X W by 1-NN
trained on the source. W and the pseudo-labels are updated in turn until the pseudo-labels do not change.

Columns of V have norm 1, which keeps the scale of the components: with unit rows that are not centred, 1-NN
on unit rows of X W reproduces the published Office-Caltech10 figures exactly. Rows are scaled to a mean
squared norm of 1, so that lam does not depend on the scale of the data.

In principal coordinates ``X = U S R'`` and ``V = U Q`` the problem is r x r for any number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh, svd

from l2t.algorithms.base import BaseAlgorithm, Diagnostics, LatentFactors, parameter
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.numerics import jointly_centred, mean_gap_weights, squared_distances, unit_rows
from l2t.numerics.eigen import rounding
from l2t.typing import Array, Indices
from l2t.validation import real_number, whole_number


@dataclass(frozen=True)
class JDA(BaseAlgorithm):
    """Joint distribution adaptation; uses source labels, and pseudo-labels of the target.

    Parameters
    ----------
    n_components : int, default=100
        Number of components u.
    random_state : int or None, default=0
        Not used.
    lam : float, default=1.0
        Weight of ``||V||²``, positive.
    max_iter : int, default=10
        Maximum number of updates of the pseudo-labels.
    center : bool, default=True
        Whether to subtract the joint mean from the rows first. The published form does not, and so depends on
        the origin.
    """

    name: ClassVar[str] = "jda"
    needs_source_labels: ClassVar[bool] = True
    for_shared_classes: ClassVar[bool] = True

    n_components: int = parameter(100, whole_number, least=1)
    lam: float = parameter(1.0, real_number, above=0)
    max_iter: int = parameter(10, whole_number, least=1)
    center: bool = True

    def _fit(self, pair: DomainPair) -> LatentFactors:
        labeled = np.flatnonzero(pair.source_labeled)
        if not labeled.size:
            raise InvalidInputError(f"{self.name} needs labels in the source, got none")
        _, codes = np.unique(pair.source.codes[labeled], return_inverse=True)
        ns, (X, mean) = len(pair.source), jointly_centred(pair.source.X, pair.target.X)
        problem = _Problem(X if self.center else X + mean, self.lam)
        u = self._clip(len(problem.axes))
        # G with M = G G' up to its norm: one column for the domains at first, then one per class as well.
        domains = gaps = mean_gap_weights(ns, len(X) - ns)[:, None] * np.sqrt(codes.max() + 1)
        predicted: Indices | None = None
        n_iter, reason = 0, "max_iter"
        while n_iter < self.max_iter and reason == "max_iter":
            Q, objective = problem.solve(gaps, u)
            Z = unit_rows(problem.rows @ Q)
            nearest = squared_distances(Z[ns:], Z[labeled]).argmin(axis=1)
            before, predicted = predicted, codes[nearest]
            if before is not None and np.array_equal(before, predicted):
                reason = "labels-stay"
            classes = class_gap_weights(ns, len(X), labeled, codes, predicted)
            gaps, n_iter = np.hstack([domains, classes]), n_iter + 1
        W = (problem.axes.T @ Q).astype(np.result_type(pair.source.X, pair.target.X))
        return LatentFactors(W, "linear", self.name, Diagnostics((objective,), n_iter, reason))


class _Problem:
    """The eigenproblem of one pair, in principal coordinates (rows'rows is diagonal)."""

    def __init__(self, X: Array, lam: float) -> None:
        scale = np.linalg.norm(X) / np.sqrt(len(X))
        U, s, axes = svd(X / (scale or 1.0), full_matrices=False, check_finite=False)
        kept = s > rounding(X.shape, max(float(s[0]), 1.0))
        self._lam, self._s = lam, s[kept]
        self.rows, self.axes = U[:, kept] * s[kept], axes[kept]
        mean = self._s * self.rows.sum(axis=0) / np.sqrt(len(X))
        self._variance = np.diag(self._s**4) - np.outer(mean, mean)  # K H K

    def solve(self, gaps: Array, u: int) -> tuple[Array, float]:
        """Return S Q (r x u), which maps rows to components, and the objective."""
        G = self._s[:, None] * (self.rows.T @ gaps)
        discrepancy = G @ (G.T / np.linalg.norm(gaps.T @ gaps)) + self._lam * np.eye(len(G))
        places = (len(G) - u, len(G) - 1)
        values, Q = eigh(self._variance, discrepancy, subset_by_index=places, check_finite=False)
        Q = self._s[:, None] * (Q / np.linalg.norm(Q, axis=0))[:, ::-1]
        return Q, float(np.sum(1.0 / np.maximum(values, 1e-300)))


def class_gap_weights(
    ns: int, n: int, labeled: Indices, codes: Indices, predicted: Indices
) -> Array:
    """Return weights E (n x C): ``E'X`` is the difference between the domains' means of each class.

    The first ns of n rows are the source's, of which those `labeled` have the classes `codes`; a class
    `predicted` for target rows that no source row has gets a column of zeros.
    """
    E = np.zeros((n, int(max(codes.max(), predicted.max())) + 1))
    E[labeled, codes] = 1.0
    E[np.arange(ns, n), predicted] = -1.0
    E[:, ~E[:ns].any(axis=0)] = 0.0
    for part in (E[:ns], E[ns:]):
        part /= np.maximum(np.abs(part).sum(axis=0), 1.0)
    return E


def conditional_share(Zs: Array, codes: Indices, Zt: Array, predicted: Indices) -> float:
    """Return the weight mu of the conditional (per-class) against the marginal difference of two domains.

    ``mu = d_c / (d_c + d_0)``, with the proxy A-distance ``2 (1 - 2 error)`` of a ridge classifier of the
    domain: d_0 over all rows, d_c the mean over the classes of both domains.
    """
    both = np.intersect1d(codes, predicted)
    whole = _proxy_distance(Zs, Zt)
    classes = [_proxy_distance(Zs[codes == c], Zt[predicted == c]) for c in both]
    within = float(np.mean(classes)) if classes else 0.0
    return within / (within + whole) if within + whole > 0 else 0.5


def _proxy_distance(A: Array, B: Array) -> float:
    """Return the A-distance of two sets of rows, from the training error of a ridge classifier."""
    from sklearn.linear_model import Ridge  # slow to import

    X = np.concatenate([A, B])
    X = X - X.mean(axis=0)
    ridge = Ridge(np.sum(X**2) / len(X), fit_intercept=False, solver="cholesky")
    scores = ridge.fit(X, mean_gap_weights(len(A), len(B))).predict(X)
    errors = (np.mean(scores[: len(A)] <= 0) + np.mean(scores[len(A) :] > 0)) / 2
    return float(max(2.0 * (1.0 - 2.0 * errors), 0.0))
