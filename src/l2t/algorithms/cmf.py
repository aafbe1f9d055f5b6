"""CMF: graph co-regularised matrix factorisation (Long, Wang, Ding, Shen, Yang 2014, "GTL").

``min_{U, Vs, Vt >= 0}  ||Xs - Vs U'||² + ||Xt - Vt U'||² + lam tr(U'(Ls + Lt)U)
+ gam [tr(Vs' Ms Vs) + tr(Vt' Mt Vt)] + sig (||Vs'Vs - I||² + ||Vt'Vt - I||²)``

U (m x u) feature factors shared by both domains, Vs and Vt the factors of the rows; Ls, Lt and Ms, Mt
Laplacians of 10-nearest-neighbour graphs with cosine weights, over features and over rows of each
domain. Multiplicative updates, with exponent r = 1/2 against the quartic term and 1 without it:

``U <- U * [(Xs'Vs + Xt'Vt + lam W U) / (U (Vs'Vs + Vt'Vt) + lam D U)]^r``
``V <- V * [(X U + gam W V + 2 sig V) / (V U'U + gam D V + 2 sig V V'V)]^r``

The embedding is Vt, and W is fitted to it. Labels play no part. The features themselves matter here:
CMF works on the raw ones, shifted by their joint minimum where they are negative (which no distance
notices), and multiplied by one number so that the mean row norm is 1.
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

#: Factors stay above this: a multiplicative update cannot leave zero again.
FLOOR = 1e-10


@dataclass(frozen=True)
class CMF(BaseAlgorithm):
    """Graph co-regularised collective matrix factorisation.

    Parameters
    ----------
    n_components, random_state : int, default=20 and 0
        As for `BaseAlgorithm`; the seed is not used.
    lam, gam, sig : float, default=0.1, 1.0 and 1.0
        Weights of the feature graphs, the row graphs and the orthogonality, at least 0.
    n_neighbors : int, default=10
        Neighbours in the graphs.
    max_iter, tol : int, float, default=200 and 1e-5
        Maximum number of updates; it stops earlier when one gains less than `tol` of the objective.

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
        live = X.any(axis=0)
        X = X[:, live]  # a feature that is always zero has a zero row of U
        ns = len(pair.source)
        rows = [cosine_graph(part, self.n_neighbors) for part in (X[:ns], X[ns:])]
        features = [cosine_graph(part.T, self.n_neighbors) for part in (X[:ns], X[ns:])]
        smooth_u = _Smoothness(features[0] + features[1], self.lam)
        smooth_v = _Smoothness(sparse.csr_array(sparse.block_diag(rows)), self.gam)
        U, V, diagnostics = self._factorize(X, ns, u, smooth_u, smooth_v)
        every = np.zeros((pair.n_features, u))
        every[live] = U
        parts = {"U": every, "Vs": V[:ns], "Vt": V[ns:]}
        return self._fitted(pair.span, V[ns:], diagnostics, parts)

    def _factorize(
        self, X: Array, ns: int, u: int, smooth_u: _Smoothness, smooth_v: _Smoothness
    ) -> tuple[Array, Array, Diagnostics]:
        U, V = _non_negative_svd(X, u)
        root = self.sig > 0
        halves_u, halves_v = smooth_u.halves(U), smooth_v.halves(V)
        total = float(np.vdot(X, X))
        trace: list[float] = []
        reason = "max_iter"
        while True:
            XU = X @ U
            gram_u, grams = U.T @ U, [part.T @ part for part in (V[:ns], V[ns:])]
            fit = total - 2 * np.vdot(XU, V) + np.vdot(gram_u, grams[0] + grams[1])
            rough = np.sum(U * (halves_u[1] - halves_u[0])) + np.sum(
                V * (halves_v[1] - halves_v[0])
            )
            crossed = sum(np.sum((gram - np.eye(u)) ** 2) for gram in grams)
            trace.append(float(fit + rough + self.sig * crossed))
            if len(trace) > 1 and trace[-2] - trace[-1] <= self.tol * trace[-2]:
                reason = "progress"
                break
            if len(trace) > self.max_iter:
                break
            spread = np.concatenate([V[:ns] @ grams[0], V[ns:] @ grams[1]])
            above = XU + halves_v[0] + 2 * self.sig * V
            _multiply(V, above, V @ gram_u + halves_v[1] + 2 * self.sig * spread, root)
            _multiply(U, X.T @ V + halves_u[0], U @ (V.T @ V) + halves_u[1], root)
            halves_u, halves_v = smooth_u.halves(U), smooth_v.halves(V)
        return U, V, Diagnostics(tuple(trace), len(trace) - 1, reason)


class _Smoothness:
    """A graph term ``weight tr(F'(D - W)F)``, by the two halves of its gradient."""

    def __init__(self, graph: sparse.csr_array, weight: float) -> None:
        self.graph, self.weight = graph, weight
        self.degree = np.asarray(graph.sum(axis=1))[:, None]

    def halves(self, F: Array) -> tuple[Array, Array]:
        """Return ``weight W F`` and ``weight D F``."""
        return self.weight * (self.graph @ F), self.weight * self.degree * F


def _non_negative(pair: DomainPair) -> Array:
    X = np.concatenate([pair.source.X, pair.target.X], dtype=np.float64)
    X -= np.minimum(X.min(axis=0), 0.0)
    return np.asarray(X / np.linalg.norm(X, axis=1).mean())


def _multiply(F: Array, above: Array, below: Array, root: bool) -> None:
    """Update F in place by ``F * (above / below)^r``, kept above FLOOR."""
    below += FLOOR
    np.divide(above, below, out=above)
    if root:
        np.sqrt(above, out=above)
    F *= above
    np.maximum(F, FLOOR, out=F)


def _non_negative_svd(X: Array, u: int) -> tuple[Array, Array]:
    """Return positive starts U (m x u), V (n x u) from the leading singular vectors (NNDSVD).

    Of each singular pair the stronger of its positive and its negative side is taken, zeros are
    filled with the mean, and columns of V get a squared norm of 2 (1 per domain).
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
        np.maximum(F, max(1e-2 * float(F.mean()), FLOOR), out=F)
    return U, V
