"""CMF: graph co-regularised matrix factorisation (Long, Wang, Ding, Shen, Yang 2014, "GTL").

``min_{U, Vs, Vt >= 0}  ||Xs - Vs U'||² + ||Xt - Vt U'||² + lam tr(U'(Ls + Lt)U)
+ gam [tr(Vs' Ms Vs) + tr(Vt' Mt Vt)] + sig (||Vs'Vs - I||² + ||Vt'Vt - I||²)``

U (m x u) feature factors shared by both domains, Vs and Vt the factors of the rows; Ls, Lt and Ms, Mt
Laplacians of 10-nearest-neighbour graphs with cosine weights, over features and over rows of each
domain. Multiplicative updates, with exponent r = 1/2 against the quartic term and 1 without it:

``U <- U * [(Xs'Vs + Xt'Vt + lam W U) / (U (Vs'Vs + Vt'Vt) + lam D U)]^r``
``V <- V * [(X U + gam W V + 2 sig V) / (V U'U + gam D V + 2 sig V V'V)]^r``

The embedding is Vt, and W is fitted to it. Labels are not used. CMF is not invariant to rotations, so it
works on the original features, shifted by their joint minimum where that is negative (distances do not
change), and scaled so that the mean row norm is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from l2t.algorithms.base import BaseAlgorithm, Diagnostics, LatentFactors, parameter
from l2t.domains import DomainPair
from l2t.numerics import cosine_graph, leading_eigenpairs
from l2t.typing import Array
from l2t.validation import real_number, whole_number

#: Lower bound of the factors: a multiplicative update never changes a zero.
SMALLEST_FACTOR = 1e-10


@dataclass(frozen=True)
class CMF(BaseAlgorithm):
    """Graph co-regularised collective matrix factorisation.

    Parameters
    ----------
    n_components : int, default=20
        Number of components u; at most the rank of the data is used.
    random_state : int or None, default=0
        Not used.
    lam : float, default=0.1
        Weight of the feature graphs, at least 0.
    gam : float, default=1.0
        Weight of the row graphs, at least 0.
    sig : float, default=1.0
        Weight of the orthogonality, at least 0.
    n_neighbors : int, default=10
        Number of neighbours in the graphs.
    max_iter : int, default=200
        Maximum number of updates.
    tol : float, default=1e-5
        Relative decrease of the objective below which the updates stop.

    Notes
    -----
    Parts: ``U`` (m x u), ``Vs`` (ns x u), ``Vt`` (nt x u).
    """

    name: ClassVar[str] = "cmf"
    needs_features: ClassVar[bool] = True

    lam: float = parameter(0.1, real_number, least=0)
    gam: float = parameter(1.0, real_number, least=0)
    sig: float = parameter(1.0, real_number, least=0)
    n_neighbors: int = parameter(10, whole_number, least=1)
    max_iter: int = parameter(200, whole_number, least=1)
    tol: float = parameter(1e-5, real_number, least=0)

    def _fit(self, pair: DomainPair) -> LatentFactors:
        u = self._clip(pair.span.rank)
        X = _non_negative(pair)
        nonzero = X.any(axis=0)
        X = X[:, nonzero]  # a feature that is always zero has a zero row of U
        ns = len(pair.source)
        rows = [cosine_graph(part, self.n_neighbors) for part in (X[:ns], X[ns:])]
        features = [cosine_graph(part.T, self.n_neighbors) for part in (X[:ns], X[ns:])]
        smooth_u = _Smoothness(features[0] + features[1], self.lam)
        smooth_v = _Smoothness(sparse.csr_array(sparse.block_diag(rows)), self.gam)
        U, V, diagnostics = self._factorize(X, ns, u, smooth_u, smooth_v)
        all_features = np.zeros((pair.n_features, u))
        all_features[nonzero] = U
        parts = {"U": all_features, "Vs": V[:ns], "Vt": V[ns:]}
        return self._fitted(pair.span, V[ns:], diagnostics, parts)

    def _factorize(
        self, X: Array, ns: int, u: int, smooth_u: _Smoothness, smooth_v: _Smoothness
    ) -> tuple[Array, Array, Diagnostics]:
        U, V = _non_negative_svd(X, u)
        root = self.sig > 0
        graph_u, graph_v = smooth_u.gradient_parts(U), smooth_v.gradient_parts(V)
        total = float(np.vdot(X, X))
        trace: list[float] = []
        reason = "max_iter"
        while True:
            XU = X @ U
            gram_u, grams = U.T @ U, [part.T @ part for part in (V[:ns], V[ns:])]
            fit = total - 2 * np.vdot(XU, V) + np.vdot(gram_u, grams[0] + grams[1])
            rough = np.sum(U * (graph_u[1] - graph_u[0])) + np.sum(V * (graph_v[1] - graph_v[0]))
            crossed = sum(np.sum((gram - np.eye(u)) ** 2) for gram in grams)
            trace.append(float(fit + rough + self.sig * crossed))
            if len(trace) > 1 and trace[-2] - trace[-1] <= self.tol * trace[-2]:
                reason = "progress"
                break
            if len(trace) > self.max_iter:
                break
            spread = np.concatenate([V[:ns] @ grams[0], V[ns:] @ grams[1]])
            above = XU + graph_v[0] + 2 * self.sig * V
            _multiply(V, above, V @ gram_u + graph_v[1] + 2 * self.sig * spread, root)
            _multiply(U, X.T @ V + graph_u[0], U @ (V.T @ V) + graph_u[1], root)
            graph_u, graph_v = smooth_u.gradient_parts(U), smooth_v.gradient_parts(V)
        return U, V, Diagnostics(tuple(trace), len(trace) - 1, reason)


class _Smoothness:
    """A graph term ``weight tr(F'(D - W)F)``, by the negative and the positive part of its gradient."""

    def __init__(self, graph: sparse.csr_array, weight: float) -> None:
        self.graph, self.weight = graph, weight
        self.degree = np.asarray(graph.sum(axis=1))[:, None]

    def gradient_parts(self, F: Array) -> tuple[Array, Array]:
        """Return ``weight W F`` and ``weight D F``."""
        return self.weight * (self.graph @ F), self.weight * self.degree * F


def _non_negative(pair: DomainPair) -> Array:
    X = np.concatenate([pair.source.X, pair.target.X], dtype=np.float64)
    X -= np.minimum(X.min(axis=0), 0.0)
    return np.asarray(X / np.linalg.norm(X, axis=1).mean())


def _multiply(F: Array, above: Array, below: Array, root: bool) -> None:
    """Update F in place by ``F * (above / below)^r``, kept above SMALLEST_FACTOR."""
    below += SMALLEST_FACTOR
    np.divide(above, below, out=above)
    if root:
        np.sqrt(above, out=above)
    F *= above
    np.maximum(F, SMALLEST_FACTOR, out=F)


def _non_negative_svd(X: Array, u: int) -> tuple[Array, Array]:
    """Return positive starts U (m x u), V (n x u) from the leading singular vectors (NNDSVD).

    Each component is the larger of the positive and the negative part of a singular pair, zeros are
    filled with the mean, and columns of V have a squared norm of 2 (1 per domain).
    """
    n, m = X.shape
    k = min(u, n, m)
    if n <= m:
        values, left = leading_eigenpairs(X @ X.T, k)
        right = X.T @ left / np.sqrt(np.maximum(values, 1e-300))
    else:
        values, right = leading_eigenpairs(X.T @ X, k)
        left = X @ right / np.sqrt(np.maximum(values, 1e-300))
    fill = X.mean()
    U, V = np.full((m, u), fill), np.full((n, u), fill)
    for j in range(k):
        sides = [(np.maximum(s * left[:, j], 0), np.maximum(s * right[:, j], 0)) for s in (1, -1)]
        a, b = max(sides, key=lambda side: np.linalg.norm(side[0]) * np.linalg.norm(side[1]))
        norm = float(np.linalg.norm(a))
        strength = np.sqrt(max(values[j], 0.0)) * norm * np.linalg.norm(b)
        if strength > 0:
            V[:, j] = a * (np.sqrt(2.0) / norm)
            U[:, j] = b * (strength / (np.sqrt(2.0) * np.linalg.norm(b)))
    for F in (U, V):
        np.maximum(F, max(1e-2 * float(F.mean()), SMALLEST_FACTOR), out=F)
    return U, V
