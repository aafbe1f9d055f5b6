"""DIP: domain invariant projection (Baktashmotlagh, Harandi, Lovell, Salzmann 2013).

``min_{W'W = I} s' K(W) s``,  ``s = [1/ns; -1/nt]``: the squared MMD of the projected domains.

RBF kernel ``K_ij = exp(-||(x_i - x_j) W||² / sigma)`` with sigma *fixed* at the mean squared distance of the
source rows; or polynomial ``K_ij = (x_i W W' x_j' + 1)²``. With ``C = s s' * K`` the gradients are
``-(2/sigma) Lap(C) W`` and ``4 X' (s s' * (Z Z' + 1)) Z``, Z = X W.

Directions of almost no variance have a small MMD for any two domains. The search is therefore restricted to
the leading principal directions that hold the share `variance` of the variance within the domains (the
distance between the domains, which is to be reduced, does not count).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from l2t.algorithms.base import BaseAlgorithm, Diagnostics, LatentFactors, parameter
from l2t.domains import DomainPair
from l2t.numerics import (
    Grassmann,
    JointSpan,
    ValueAndGradient,
    laplacian_product,
    mean_gap_weights,
    mean_squared_distance,
    minimize_on_manifold,
    rbf_kernel,
)
from l2t.typing import Array
from l2t.validation import one_of, real_number, whole_number


@dataclass(frozen=True)
class DIP(BaseAlgorithm):
    """Domain invariant projection.

    Parameters
    ----------
    n_components : int, default=20
        Number of components u; at most the rank of the data is used.
    random_state : int or None, default=0
        Not used.
    kernel : {"rbf", "polynomial"}, default="rbf"
        The kernel of the MMD.
    variance : float, default=0.99
        Share of the variance within the domains that the searched directions hold, at most 1.
    max_iter : int, default=20
        Maximum number of conjugate gradient iterations.
    """

    name: ClassVar[str] = "dip"

    kernel: str = parameter("rbf", one_of, ("rbf", "polynomial"))
    variance: float = parameter(0.99, real_number, above=0, most=1)
    max_iter: int = parameter(20, whole_number, least=1)

    def _fit(self, pair: DomainPair) -> LatentFactors:
        span = pair.span
        u = self._clip(span.rank)
        q = leading_variance(span, self.variance, least=u)
        source, target = span.source[:, :q], span.target[:, :q]
        mmd = rbf_mmd if self.kernel == "rbf" else polynomial_mmd
        optimum = minimize_on_manifold(
            mmd(source, target), np.eye(q, u), Grassmann(), max_iter=self.max_iter
        )
        return self._linear(span, optimum.W, Diagnostics.of_search(optimum))


def leading_variance(span: JointSpan, share: float, *, least: int) -> int:
    """Return the number of leading coordinates that hold a share of the variance within the domains."""
    within = span.source.var(axis=0) + span.target.var(axis=0)
    cumulated = np.cumsum(within)
    enough = int(np.searchsorted(cumulated, share * cumulated[-1] * (1 - 1e-12)) + 1)
    return min(max(least, enough), span.rank)


def rbf_mmd(source: Array, target: Array) -> ValueAndGradient:
    """Return W -> (squared MMD, gradient) for the RBF kernel with a fixed bandwidth."""
    X, weights = np.concatenate([source, target]), mean_gap_weights(len(source), len(target))
    sigma = mean_squared_distance(source, source) or mean_squared_distance(X, X)

    def objective(W: Array) -> tuple[float, Array]:
        Z = X @ W
        C = rbf_kernel(Z, sigma)
        C *= weights
        C *= weights[:, None]
        return float(C.sum()), laplacian_product(C, X, Z) * (-2.0 / sigma)

    return objective


def polynomial_mmd(source: Array, target: Array) -> ValueAndGradient:
    """Return W -> (squared MMD, gradient) for ``(x W W' x' + 1)²``."""
    X, weights = np.concatenate([source, target]), mean_gap_weights(len(source), len(target))

    def objective(W: Array) -> tuple[float, Array]:
        Z = X @ W
        root = Z @ Z.T + 1.0
        C = np.outer(weights, weights) * root
        return float(np.vdot(C, root)), 4.0 * (X.T @ (C @ Z))

    return objective
