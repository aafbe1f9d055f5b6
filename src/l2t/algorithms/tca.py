"""TCA: transfer component analysis (Pan, Tsang, Kwok, Yang 2011).

``min_V tr(V' K L K V) + mu tr(V'V)  s.t.  V' K H K V = I``

K (n x n) kernel of the jointly centred rows, n = ns + nt; L = e e', e = [1/ns; -1/nt];
H = I - 11'/n; V (n x u). The solution is the generalised *symmetric* eigenproblem
``K H K v = lambda (K L K + mu I) v``, largest first. ``K L K = a a'`` with ``a = K e`` has rank one, so

``(mu I + a a')^(-1/2) = mu^(-1/2) (I - c a a' / |a|²)``,  ``c = 1 - sqrt(mu / (mu + |a|²))``

turns it into an ordinary symmetric one. ``Z = K V``; for the linear kernel ``W = X'V`` gives exactly
``X W = K V``, for the RBF kernel W is fitted to the target's Z.

With a linear kernel and more rows than features the same problem is solved in the joint span
(r x r): ``S² w = lambda (mu S^(-2) + g g') w`` for ``w = X'v``, with ``X'X = S²`` and ``g = X'e``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from l2t.algorithms.base import BaseAlgorithm, Diagnostics, LatentFactors
from l2t.domains import DomainPair
from l2t.numerics import (
    jointly_centred,
    leading_eigenpairs_of,
    mean_squared_distance,
    squared_distances,
)

__all__ = ["TCA"]

Array = npt.NDArray[np.float64]

#: Squared distance of the mean from the origin, over the variance, that centring afterwards can bear.
FAR_OFF = 1e3


@dataclass(frozen=True)
class TCA(BaseAlgorithm):
    """Transfer component analysis.

    Parameters
    ----------
    n_components : int
        Number of components u.
    random_state : int or None
        Not used: TCA is a closed form.
    mu : float
        Weight of ``||V||²``, positive.
    kernel : {"linear", "rbf"}
        The RBF kernel is ``exp(-D / s)`` with s the mean squared distance of all rows.

    Notes
    -----
    Parts: ``V`` (n x u) and ``eigenvalues`` (u,) where the problem was solved in rows,
    ``eigen_residual`` (1,) always: the largest ``|A v - lambda B v| / |A v|`` of a component.
    """

    name: ClassVar[str] = "tca"

    mu: float = 1.0
    kernel: str = "linear"

    def _check(self) -> None:
        self._require_number("mu", above=0.0)
        self._require_choice("kernel", ("linear", "rbf"))

    def _fit(self, pair: DomainPair) -> LatentFactors:
        if self.kernel == "rbf":
            return self._fit_rbf(pair)
        if pair.n_features > len(pair.source) + len(pair.target):
            return self._fit_rows(pair)
        return self._fit_span(pair)

    def _fit_rows(self, pair: DomainPair) -> LatentFactors:
        """Solve in rows: one Gram matrix is all that the number of features costs."""
        Xs, Xt = (X.astype(np.float64, copy=False) for X in (pair.source.X, pair.target.X))
        K = _centred_gram(Xs, Xt)
        e = _mean_gap_weights(len(pair.source), len(pair.target))
        u = min(self.n_components, len(K) - 1)
        V, values, residual = _rank_one_eigenproblem(lambda V: K @ (K @ V), K @ e, self.mu, u)
        u = self._clip(_significant(values))
        V, values, residual = V[:, :u], values[:u], residual[:u]
        # The columns of V sum to zero, so that the mean need not be taken off X here.
        dtype = np.result_type(pair.source.X, pair.target.X)
        W = (V[: len(Xs)].T @ Xs + V[len(Xs) :].T @ Xt).T.astype(dtype)
        parts = {"V": V, "eigenvalues": values, "eigen_residual": residual.max()}
        return LatentFactors(W, "linear", self.name, _closed_form(values), parts)

    def _fit_span(self, pair: DomainPair) -> LatentFactors:
        """Solve in the joint span: a problem of r x r, however many rows there are."""
        span = pair.span
        u = self._clip(span.rank)
        s = np.linalg.norm(span.joint, axis=0)
        g = span.source.mean(axis=0) - span.target.mean(axis=0)
        # With w = S x the problem reads S⁴ x = lambda (mu I + h h') x, h = S g.
        x, values, residual = _rank_one_eigenproblem(lambda V: (s**4 * V.T).T, s * g, self.mu, u)
        parts = {"eigenvalues": values, "eigen_residual": residual.max()}
        W = span.lift(s[:, None] * x)
        return LatentFactors(W, "linear", self.name, _closed_form(values), parts)

    def _fit_rbf(self, pair: DomainPair) -> LatentFactors:
        span = pair.span
        u = self._clip(span.rank)
        K = squared_distances(span.joint)
        K /= -mean_squared_distance(span.joint, span.joint)
        np.exp(K, out=K)
        e = _mean_gap_weights(len(pair.source), len(pair.target))
        V, values, residual = _rank_one_eigenproblem(
            lambda V: K @ _centred(K @ V), K @ e, self.mu, u
        )
        parts = {"V": V, "eigenvalues": values, "eigen_residual": residual.max()}
        return self._fitted(span, K[len(pair.source) :] @ V, _closed_form(values), parts)


def _mean_gap_weights(ns: int, nt: int) -> Array:
    """Return e: ``e'X`` is the source's mean less the target's."""
    return np.concatenate([np.full(ns, 1 / ns), np.full(nt, -1 / nt)])


def _centred_gram(Xs: Array, Xt: Array) -> Array:
    """Return the Gram matrix of the jointly centred rows, without a centred copy of the rows."""
    ns, n = len(Xs), len(Xs) + len(Xt)
    K = np.empty((n, n))
    np.matmul(Xs, Xs.T, out=K[:ns, :ns])
    np.matmul(Xt, Xt.T, out=K[ns:, ns:])
    np.matmul(Xs, Xt.T, out=K[:ns, ns:])
    K[ns:, :ns] = K[:ns, ns:].T
    means = K.mean(axis=0)
    mean = float(means.mean())
    if mean > FAR_OFF * (float(np.trace(K)) / n - mean):
        # So far from the origin that the products have lost the digits of the differences.
        X, _ = jointly_centred(Xs, Xt)
        return np.asarray(X @ X.T)
    K -= means
    K -= means[:, None]
    K += mean
    return K


def _centred(V: Array) -> Array:
    """Return H V: every column less its mean."""
    return np.asarray(V - V.mean(axis=0))


def _rank_one_eigenproblem(
    product: Callable[[Array], Array], a: Array, mu: float, u: int
) -> tuple[Array, Array, Array]:
    """Solve ``A v = lambda (mu I + a a') v`` for the u largest lambda, with ``v'A v = 1``.

    A is given by ``product(V) = A V``. Returns the vectors, the eigenvalues and the relative
    residuals.
    """
    square = float(a @ a)
    weight = (1.0 - np.sqrt(mu / (mu + square))) / square if square > 0 else 0.0

    def root(V: Array) -> Array:
        """Apply ``I - weight a a'``: the inverse root of B but for its scale."""
        return np.asarray(V - np.multiply.outer(weight * a, a @ V))

    values, y = leading_eigenpairs_of(lambda V: root(product(root(V))), len(a), u)
    values = np.maximum(values, 0.0) / mu
    v = root(y) / np.sqrt(mu)
    image = product(v)
    missed = image - values * (mu * v + np.outer(a, a @ v))
    residual = np.linalg.norm(missed, axis=0) / np.maximum(np.linalg.norm(image, axis=0), 1e-300)
    return v / np.sqrt(np.maximum(values, 1e-300)), values, residual


def _significant(values: Array) -> int:
    """Count the eigenvalues that stand above the rounding of the largest."""
    return int((values > 1e-14 * values.max(initial=0.0)).sum())


def _closed_form(values: Array) -> Diagnostics:
    """With ``V'KHKV = I`` the objective is the sum of the inverse eigenvalues."""
    return Diagnostics((float(np.sum(1.0 / values)),), 0, "closed-form")
