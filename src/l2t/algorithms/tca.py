"""TCA: transfer component analysis (Pan, Tsang, Kwok, Yang 2011).

``min_V tr(V' K L K V) + mu tr(V'V)  s.t.  V' K H K V = I``

K (n x n) kernel of the jointly centred rows, n = ns + nt; L = e e', e = [1/ns; -1/nt];
H = I - 11'/n; V (n x u). The solution is the generalised *symmetric* eigenproblem
``K H K v = lambda (K L K + mu I) v``, largest first. ``K L K = a a'`` with ``a = K e`` has rank one, so

``R = (mu I + a a')^(-1/2) sqrt(mu) = I - (1 - kappa) b b'``,  ``b = a / |a|``,
``kappa = sqrt(mu / (mu + |a|²))``

reduces it to the standard symmetric ``R K H K R y = mu lambda y``, ``v = R y``. ``Z = K V``; for the linear
kernel ``W = X'V`` satisfies ``X W = K V`` exactly, for the RBF kernel W is fitted to the target's Z.

With a linear kernel and more rows than features the same problem is solved in the joint span
(r x r): ``S⁴ x = lambda (mu I + h h') x`` for ``S x = X'v``, with ``X'X = S²`` and ``h = S X'e``.

Fourth powers of singular values lose precision. Where components are too small relative to the largest, the
singular vectors of ``C R`` with ``C'C = K H K`` are computed instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import svd

from l2t.algorithms.base import BaseAlgorithm, Diagnostics, LatentFactors, parameter
from l2t.domains import DomainPair
from l2t.numerics import (
    jointly_centred,
    leading_eigenpairs_of,
    mean_gap_weights,
    rbf_kernel,
)
from l2t.typing import Array
from l2t.validation import one_of, real_number

#: Above this ratio of the squared mean to the variance, centring the Gram matrix is inaccurate.
MAX_OFFSET = 1e3
#: An eigenvalue below this share of the norm of the matrix is inaccurate.
MIN_EIGENVALUE = 1e-7


@dataclass(frozen=True)
class TCA(BaseAlgorithm):
    """Transfer component analysis.

    Parameters
    ----------
    n_components : int, default=20
        Number of components u; at most the rank of the data is used.
    random_state : int or None, default=0
        Not used.
    mu : float, default=1.0
        Weight of ``||V||²``, positive.
    kernel : {"linear", "rbf"}, default="linear"
        The RBF kernel is ``exp(-D / s)`` with s the mean squared distance of all rows.

    Notes
    -----
    Parts: ``V``, the solutions in rows (n x u) or in the joint span (r x u), ``eigenvalues`` (u,) and
    ``eigen_residual`` (1,), the largest ``|A v - lambda B v| / |A v|`` over components.
    """

    name: ClassVar[str] = "tca"

    mu: float = parameter(1.0, real_number, above=0)
    kernel: str = parameter("linear", one_of, ("linear", "rbf"))

    def _fit(self, pair: DomainPair) -> LatentFactors:
        if self.kernel == "rbf":
            return self._fit_rbf(pair)
        if pair.n_features > len(pair.source) + len(pair.target):
            return self._fit_rows(pair) or self._fit_span(pair)
        return self._fit_span(pair)

    def _fit_rows(self, pair: DomainPair) -> LatentFactors | None:
        """Solve the n x n problem of the Gram matrix; None if that is not accurate enough."""
        Xs, Xt = (X.astype(np.float64, copy=False) for X in (pair.source.X, pair.target.X))
        K = _centred_gram(Xs, Xt)
        a = K @ mean_gap_weights(len(Xs), len(Xt))
        size = float(np.vdot(K, K))
        components = _squared_components(lambda V: K @ (K @ V), size, a, self.mu, self.n_components)
        if components is None:
            return None
        # The columns of V sum to zero, so X need not be centred here.
        dtype = np.result_type(pair.source.X, pair.target.X)
        W = (components.V[: len(Xs)].T @ Xs + components.V[len(Xs) :].T @ Xt).T.astype(dtype)
        return LatentFactors(W, "linear", self.name, components.diagnostics, components.parts)

    def _fit_span(self, pair: DomainPair) -> LatentFactors:
        """Solve the r x r problem in the joint span."""
        span = pair.span
        s = np.linalg.norm(span.joint, axis=0)
        h = s * (span.source.mean(axis=0) - span.target.mean(axis=0))
        u = self._clip(span.rank)
        components = _components(np.diag(s**2), h, self.mu, u)
        W = span.lift(s[:, None] * components.V)
        return LatentFactors(W, "linear", self.name, components.diagnostics, components.parts)

    def _fit_rbf(self, pair: DomainPair) -> LatentFactors:
        span = pair.span
        u = self._clip(span.rank)
        K = rbf_kernel(span.joint)
        a = K @ mean_gap_weights(len(pair.source), len(pair.target))
        components = _components(K - K.mean(axis=0), a, self.mu, u)
        Zt = K[len(pair.source) :] @ components.V
        return self._fitted(span, Zt, components.diagnostics, components.parts)


@dataclass(frozen=True, eq=False)
class _Components:
    """Solutions of ``A v = lambda (mu I + a a') v`` with ``v'A v = 1``, largest lambda first."""

    V: Array
    eigenvalues: Array
    residual: float

    @property
    def parts(self) -> dict[str, Array]:
        return {
            "V": self.V,
            "eigenvalues": self.eigenvalues,
            "eigen_residual": np.array([self.residual]),
        }

    @property
    def diagnostics(self) -> Diagnostics:
        """With ``V'A V = I`` the objective is the sum of the inverse eigenvalues."""
        return Diagnostics(
            (float(np.sum(1.0 / np.maximum(self.eigenvalues, 1e-300))),), 0, "closed-form"
        )


def _components(C: Array, a: Array, mu: float, u: int) -> _Components:
    """Solve for ``A = C'C`` by its eigenvectors, or by an SVD if that is not accurate enough."""
    size = float(np.linalg.norm(C)) ** 2
    components = _squared_components(lambda V: C.T @ (C @ V), size, a, mu, u)
    return components or _exact_components(C, a, mu, u)


def _squared_components(
    product: Callable[[Array], Array], size: float, a: Array, mu: float, u: int
) -> _Components | None:
    """Solve for A given by ``product(V) = A V``, of norm at most `size`; None if inaccurate."""
    length = float(np.linalg.norm(a))
    b = a / length if length > 0 else a
    kappa = np.sqrt(mu / (mu + length**2))

    def root(V: Array, power: float = 1.0) -> Array:
        """Apply R, or another power of it."""
        return np.asarray(V - np.multiply.outer((1.0 - kappa**power) * b, b @ V))

    values, y = leading_eigenpairs_of(lambda V: root(product(root(V))), len(a), min(u, len(a) - 1))
    if len(values) < u or not values[-1] > MIN_EIGENVALUE * size:
        return None
    V = root(y) / np.sqrt(values)
    image = product(V)
    errors = np.linalg.norm(image - np.sqrt(values) * root(y, -1.0), axis=0)
    residual = float((errors / np.linalg.norm(image, axis=0)).max())
    return _Components(V, values / mu, residual)


def _exact_components(C: Array, a: Array, mu: float, u: int) -> _Components:
    """Solve by ``C R = P Sigma Q'`` without squaring C.

    ``R = H D H`` with ``D = diag(kappa, 1, ..., 1)`` and the reflection H that maps the first axis to
    ``±a / |a|``. For ``C H D = P Sigma Q'`` the solutions are ``v = H D q / sigma``.
    """
    length = float(np.linalg.norm(a))
    mirror = np.zeros_like(a)
    if length > 0:
        mirror = a / length
        mirror[0] += 1.0 if mirror[0] >= 0 else -1.0
        mirror /= np.linalg.norm(mirror)
    D = np.ones_like(a)
    D[0] = np.sqrt(mu / (mu + length**2))
    B = (C - np.outer(C @ mirror, 2.0 * mirror)) * D
    P, sigma, Qt = svd(B, full_matrices=False, check_finite=False)
    kept = sigma > len(a) * np.finfo(float).eps * sigma[0]
    P, sigma, Qt = P[:, kept][:, :u], sigma[kept][:u], Qt[kept][:u]
    V = D[:, None] * Qt.T / sigma
    V -= np.outer(2.0 * mirror, mirror @ V)
    errors = np.linalg.norm(B @ Qt.T - P * sigma, axis=0) / sigma
    return _Components(V, sigma**2 / mu, float(errors.max(initial=0.0)))


def _centred_gram(Xs: Array, Xt: Array) -> Array:
    """Return the Gram matrix of the jointly centred rows, without copying the rows."""
    ns, n = len(Xs), len(Xs) + len(Xt)
    K = np.empty((n, n))
    np.matmul(Xs, Xs.T, out=K[:ns, :ns])
    np.matmul(Xt, Xt.T, out=K[ns:, ns:])
    np.matmul(Xs, Xt.T, out=K[:ns, ns:])
    K[ns:, :ns] = K[:ns, ns:].T
    means = K.mean(axis=0)
    mean = float(means.mean())
    if mean > MAX_OFFSET * (float(np.trace(K)) / n - mean):
        # The rows are so far from the origin that cancellation would dominate.
        X, _ = jointly_centred(Xs, Xt)
        return np.asarray(X @ X.T)
    K -= means
    K -= means[:, None]
    K += mean
    return K
