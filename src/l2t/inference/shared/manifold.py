"""A manifold-regularised classifier across domains, in the manner of MEDA (Wang et al. 2018).

``min_f  Σ_labelled w_i (y_i - f(x_i))² + eta ||f||² + lam tr(F'M F) + rho tr(F'L F)``

F = K a are the scores of all rows: K is the RBF kernel of rows of length 1, M the discrepancy of JDA (domains
and classes, with an estimated balance), L the normalised Laplacian of the cosine graph. The solution is

``(B + lam M K) a = E Y``,  ``B = (E + rho L) K + eta I``,  E the diagonal of the weights w,

found anew with the classes it predicts until they stay. ``M = G G'`` has low rank, one column of G per class
and one more, so that B is factorised once and each round solves for G alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from scipy.special import softmax

from l2t.algorithms.jda import Codes, class_gap_weights, conditional_share
from l2t.numerics import cosine_graph, mean_gap_weights, rbf_kernel, squared_distances
from l2t.typing import AnyArray, Array

__all__ = ["ManifoldClassifier"]

#: The kernel ``exp(-D / 2)`` of rows of length 1, as published.
BANDWIDTH = 2.0
#: Scores are near 0 and 1; this makes probabilities of them.
SHARPNESS = 5.0


@dataclass(eq=False)
class ManifoldClassifier:
    """Structural risk, discrepancy of the domains and smoothness on the graph of all rows.

    Parameters
    ----------
    lam, rho, eta : float
        Weights of the discrepancy, the graph and the norm; by default the published ones.
    n_neighbors : int
        Neighbours of a row in the graph.
    max_iter : int
        Rounds of predicting classes, at most.
    """

    lam: float = 10.0
    rho: float = 1.0
    eta: float = 0.1
    n_neighbors: int = 10
    max_iter: int = 10
    _rows: Array = field(init=False, repr=False)
    _weights: Array = field(init=False, repr=False)

    def fit(self, Z: Array, codes: Codes, source: AnyArray, weights: Array) -> Self:
        """Fit to rows of length 1 of both domains, source rows first.

        Parameters
        ----------
        Z : array of shape (n, u)
            The rows.
        codes : int array of shape (n,)
            Classes from 0; -1 for unlabelled rows.
        source : bool array of shape (n,)
            Which rows are of the source.
        weights : array of shape (n,)
            How much the label of a row counts.
        """
        n, ns, n_classes = len(Z), int(source.sum()), int(codes.max()) + 1
        labeled = codes >= 0
        K = rbf_kernel(Z, BANDWIDTH)
        E = np.where(labeled, weights, 0.0)
        B = self.rho * self._laplacian(Z) @ K + E[:, None] * K
        B[np.diag_indices(n)] += self.eta
        factors = lu_factor(B, overwrite_a=True, check_finite=False)
        Y = E[:, None] * (codes[:, None] == np.arange(n_classes))
        plain = a = lu_solve(factors, Y, check_finite=False)
        taught = np.flatnonzero(labeled[:ns])
        predicted = self._nearest(Z, codes, ns)
        for _ in range(self.max_iter if 0 < ns < n else 0):
            share = conditional_share(Z[taught], codes[taught], Z[ns:], predicted)
            G = np.column_stack(
                [
                    mean_gap_weights(ns, n - ns) * np.sqrt(n_classes * (1 - share)),
                    class_gap_weights(ns, n, taught, codes[taught], predicted) * np.sqrt(share),
                ]
            )
            G *= np.sqrt(self.lam / np.linalg.norm(G.T @ G))
            inner, KG = lu_solve(factors, G, check_finite=False), K @ G
            small = np.eye(G.shape[1]) + KG.T @ inner
            a = plain - inner @ np.linalg.solve(small, KG.T @ plain)
            before, predicted = predicted, _known(codes[ns:], (K[ns:] @ a).argmax(axis=1))
            if np.array_equal(before, predicted):
                break
        self._rows, self._weights = Z, a
        return self

    def decision_function(self, Z: Array) -> Array:
        """Return the scores of rows of length 1, seen before or not."""
        D = squared_distances(Z, self._rows)
        return np.asarray(np.exp(D / -BANDWIDTH) @ self._weights)

    def predict_proba(self, Z: Array) -> Array:
        """Return the probabilities of the classes for rows of length 1."""
        return np.asarray(softmax(SHARPNESS * self.decision_function(Z), axis=1))

    def _laplacian(self, Z: Array) -> Array:
        graph = cosine_graph(Z, self.n_neighbors).toarray()
        degrees = graph.sum(axis=1)
        root = np.where(degrees > 0, 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0)), 0.0)
        return np.asarray(np.eye(len(Z)) - root[:, None] * graph * root)

    def _nearest(self, Z: Array, codes: Codes, ns: int) -> Codes:
        """Return the classes of target rows by 1-NN from all labelled rows."""
        labeled = np.flatnonzero(codes >= 0)
        nearest = squared_distances(Z[ns:], Z[labeled]).argmin(axis=1)
        return _known(codes[ns:], codes[labeled[nearest]])


def _known(codes: Codes, predicted: Codes) -> Codes:
    return np.where(codes >= 0, codes, predicted)
