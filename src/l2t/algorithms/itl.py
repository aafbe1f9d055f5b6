"""ITL: information-theoretical learning of a discriminative subspace (Shi, Sha 2012).

``min_L  -I_t(X; Y) + lam I_st(X; Q)   s.t.  tr(L'L) = u``,  L (m x u)

Every row i draws a neighbour j, and so a label, with probability ``p_ij ∝ exp(-||(x_i - x_j) L||²)``.

* ``I_t = H[mean_i p_i] - mean_i H[p_i]``: target rows i draw from the labelled source rows j; ``p_i(c)`` is
  the probability of source class c. Large when the target has clear clusters.
* ``I_st``: the same with the domain as the label; all rows draw from all others. Small when the domains are
  mixed.

Gradient of either information: ``a_ij = (log p_i(c_j) - log pbar(c_j)) / N``,
``Gamma = P * (Σ_j P_ij a_ij - a_ij)``, ``2 Lap(Gamma) L``. The constraint is the sphere of radius sqrt(u).

The scale of L sets the temperature of the softmax. The data are scaled so that at the PCA start, with
``tr(L'L) = u``, the mean squared distance is 2u: unit variance per component.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from l2t.algorithms.base import BaseAlgorithm, Diagnostics, LatentFactors, parameter
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.numerics import (
    Sphere,
    laplacian_product,
    mean_squared_distance,
    minimize_on_manifold,
    squared_distances,
)
from l2t.typing import Array, Indices
from l2t.validation import real_number, whole_number


@dataclass(frozen=True)
class ITL(BaseAlgorithm):
    """Information-theoretical learning; uses the labels of the source, never those of the target.

    Parameters
    ----------
    n_components : int, default=20
        Number of components u; at most the rank of the data is used.
    random_state : int or None, default=0
        Not used.
    lam : float, default=1.0
        Weight of the domain information, at least 0.
    max_iter : int, default=30
        Maximum number of conjugate gradient iterations.

    Notes
    -----
    With one source class ``I_t`` is 0 and the domain information alone is minimised.
    """

    name: ClassVar[str] = "itl"
    needs_source_labels: ClassVar[bool] = True

    lam: float = parameter(1.0, real_number, least=0)
    max_iter: int = parameter(30, whole_number, least=1)

    def _fit(self, pair: DomainPair) -> LatentFactors:
        labeled = np.flatnonzero(pair.source_labeled)
        if not labeled.size:
            raise InvalidInputError("itl needs labels in the source, got none")
        span = pair.span
        u = self._clip(span.rank)
        scale = np.sqrt(2 * u / mean_squared_distance(span.joint[:, :u], span.joint[:, :u]))
        objective = information_objective(
            span.source * scale, span.target * scale, pair.source.codes, labeled, self.lam
        )
        optimum = minimize_on_manifold(
            objective, np.eye(span.rank, u), Sphere(np.sqrt(u)), max_iter=self.max_iter
        )
        return self._linear(span, optimum.W, Diagnostics.of_search(optimum))


def information_objective(
    source: Array, target: Array, codes: Indices, labeled: Indices, lam: float
) -> Callable[[Array], tuple[float, Array]]:
    """Return L -> (``-I_t + lam I_st``, gradient); `labeled` are the labelled source rows."""
    X = np.concatenate([source, target])
    ns, n = len(source), len(X)
    domain = (np.arange(n) >= ns).astype(np.intp)
    _, classes = np.unique(codes[labeled], return_inverse=True)
    block = np.ix_(np.arange(ns, n), labeled)

    def objective(L: Array) -> tuple[float, Array]:
        Z = X @ L
        D = squared_distances(Z)
        class_information, weights = information(D[block], classes)
        np.fill_diagonal(D, np.inf)  # no row draws itself
        domain_information, C = information(D, domain)
        C *= lam
        C[block] -= weights
        C += C.T.copy()
        return lam * domain_information - class_information, laplacian_product(C, X, Z)

    return objective


def information(D: Array, labels: Indices) -> tuple[float, Array]:
    """Return the mutual information of drawing a label (0 ... C - 1) by distance, and its derivative in D.

    D (N, n) holds the squared distances of N rows to n labelled neighbours; inf excludes a neighbour.
    """
    P = D.min(axis=1, keepdims=True) - D
    np.exp(P, out=P)
    P /= P.sum(axis=1, keepdims=True)
    onehot = np.eye(labels.max() + 1)[labels]
    posterior = P @ onehot
    mean = posterior.mean(axis=0)
    gain = np.log(np.maximum(posterior, 1e-300)) - np.log(np.maximum(mean, 1e-300))
    expected = np.sum(posterior * gain, axis=1, keepdims=True)
    # Gamma = P * (expected - gain of the drawn label) / N, with the gain broadcast over the columns.
    P *= ((expected - gain) / len(D))[:, labels]
    return float(expected.mean()), P
