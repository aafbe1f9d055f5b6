"""SIE: statistically invariant embedding (Baktashmotlagh, Harandi, Lovell, Salzmann 2014).

``min_{W'W = I} H²(W)``: the squared Hellinger distance of the projected domains, from Gaussian kernel
densities p_s, p_t on X W. With ``delta_i = log p_s(x_i W) - log p_t(x_i W)`` and ``T = sigmoid(delta)``,

``(sqrt T - sqrt(1 - T))² = 1 - 2 sqrt(T (1 - T)) = 1 - sech(delta / 2)``
``H² = mean over source rows + mean over target rows of that``,  in [0, 2].

``p(z) ∝ Σ_j exp(-||z - z_j||² / (2h)) / n`` with h *fixed* at the PCA start:
``h = 1/2 mean ||z_i - z_j||² n^(-2/(u + 4))``. Densities are compared by their logarithms, so nothing
underflows; the gradient is ``-(1/h) Lap(C) W`` for the symmetric part of
``C_ij = w_i g'(delta_i) (±softmax_ij)``.

Domains far apart have a vanishing gradient: the search then starts with a larger h, which it reduces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from l2t.algorithms.base import BaseAlgorithm, Diagnostics, LatentFactors, parameter
from l2t.algorithms.dip import leading_variance
from l2t.domains import DomainPair
from l2t.numerics import (
    Grassmann,
    laplacian_product,
    mean_squared_distance,
    minimize_on_manifold,
    squared_distances,
)
from l2t.typing import Array
from l2t.validation import real_number, whole_number

#: Above this value of the objective (at most 2) the gradient nearly vanishes.
SATURATED = 1.9
WIDEN = 4.0
MAX_WIDENINGS = 8


@dataclass(frozen=True)
class SIE(BaseAlgorithm):
    """Statistically invariant embedding.

    Parameters
    ----------
    n_components : int, default=20
        Number of components u; at most the rank of the data is used.
    random_state : int or None, default=0
        Not used.
    variance : float, default=0.99
        Share of the variance within the domains that the searched directions hold, at most 1.
    max_iter : int, default=20
        Maximum number of conjugate gradient iterations.

    Notes
    -----
    Parts: ``bandwidth`` (1,), the h of the densities.
    """

    name: ClassVar[str] = "sie"

    variance: float = parameter(0.99, real_number, above=0, most=1)
    max_iter: int = parameter(20, whole_number, least=1)

    def _fit(self, pair: DomainPair) -> LatentFactors:
        span = pair.span
        u = self._clip(span.rank)
        q = leading_variance(span, self.variance, least=u)
        source, target = span.source[:, :q], span.target[:, :q]
        Z = span.joint[:, :u]
        h = 0.5 * mean_squared_distance(Z, Z) * len(Z) ** (-2 / (u + 4))
        W = np.eye(q, u)
        for wider in _larger_bandwidths(source, target, h, W):
            W = minimize_on_manifold(
                hellinger(source, target, wider), W, Grassmann(), max_iter=self.max_iter // 4 + 1
            ).W
        optimum = minimize_on_manifold(
            hellinger(source, target, h), W, Grassmann(), max_iter=self.max_iter
        )
        parts = {"bandwidth": np.array([h])}
        return self._linear(span, optimum.W, Diagnostics.of_search(optimum), parts)


def _larger_bandwidths(source: Array, target: Array, h: float, W: Array) -> list[float]:
    """Return larger bandwidths to start with, largest first; none if the gradient at h does not vanish."""
    wider: list[float] = []
    while hellinger(source, target, h)(W)[0] > SATURATED and len(wider) < MAX_WIDENINGS:
        h *= WIDEN
        wider.append(h)
    return wider[::-1]


def hellinger(source: Array, target: Array, h: float) -> Callable[[Array], tuple[float, Array]]:
    """Return W -> (squared Hellinger distance, gradient) for the bandwidth h."""
    X = np.concatenate([source, target])
    ns, nt = len(source), len(target)
    weights = np.concatenate([np.full(ns, 1 / ns), np.full(nt, 1 / nt)])

    def objective(W: Array) -> tuple[float, Array]:
        Z = X @ W
        P = squared_distances(Z)
        P *= -0.5 / h
        # Row by row, softmax over each domain in place; its normaliser is the log density.
        log_s, log_t = _softmax(P[:, :ns]), _softmax(P[:, ns:])
        half = 0.5 * (log_s - log_t + np.log(nt / ns))
        sech = 1.0 / np.cosh(np.clip(half, -300.0, 300.0))
        slope = (0.5 * weights * sech * np.tanh(half))[:, None]
        P[:, :ns] *= slope
        P[:, ns:] *= -slope
        P += P.T.copy()
        gradient = laplacian_product(P, X, Z) * (-0.5 / h)
        return float(weights @ (1.0 - sech)), gradient

    return objective


def _softmax(logits: Array) -> Array:
    """Replace each row by its softmax, in place, and return the log of the normalisers."""
    peak = logits.max(axis=1, keepdims=True)
    logits -= peak
    np.exp(logits, out=logits)
    total = logits.sum(axis=1, keepdims=True)
    logits /= total
    return np.asarray(peak[:, 0] + np.log(total[:, 0]))
