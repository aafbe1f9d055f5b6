"""The joint span: coordinates of both domains in the row space of the jointly centred data, without loss.

All quantities of L2T depend only on differences of rows. With ``X = [Xs; Xt]``, joint mean ``c`` and
``X - 1c = Y B'`` for an orthonormal B (m x r, r = rank <= min(ns + nt - 1, m)), the rows of Y have the
distances of the rows of X, and ``(X - 1c) B V = Y V``: a factor V (r x u) found in the span is ``W = B V``
in the original features. The coordinates are principal components (Y'Y is diagonal, decreasing).

For m > n, B is never formed: ``(X - 1c)' = Q R`` by Householder reflections, and Q is applied to single
factors. QR and SVD keep distances and rank to machine precision, where a Gram matrix would square the
condition number. Everything is computed in float64, whatever the dtype of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr, svd
from scipy.linalg.lapack import dormqr

from l2t.numerics.eigen import rounding
from l2t.typing import AnyArray, Array

#: Singular values below this share of the largest are not inverted (errata section 8).
PINV_RCOND = 1e-10


def jointly_centred(Xs: AnyArray, Xt: AnyArray) -> tuple[Array, Array]:
    """Return [Xs; Xt] in float64 minus the joint mean, and this mean."""
    n = len(Xs) + len(Xt)
    mean = (Xs.sum(axis=0, dtype=np.float64) + Xt.sum(axis=0, dtype=np.float64)) / n
    centred = np.empty((n, len(mean)))
    np.subtract(Xs, mean, out=centred[: len(Xs)])
    np.subtract(Xt, mean, out=centred[len(Xs) :])
    return centred, mean


@dataclass(frozen=True, eq=False)
class JointSpan:
    """Both domains in the coordinates of their joint span.

    `source` (ns x r) and `target` (nt x r) are jointly centred principal coordinates in float64, `mean` (m,)
    is the joint mean, and `dtype` that of the data and of lifted factors. Singular values below `noise` are
    rounding errors.
    """

    source: Array
    target: Array
    mean: Array
    dtype: np.dtype[Any]
    noise: float
    _rotation: Array
    _reflectors: tuple[AnyArray, AnyArray] | None

    @classmethod
    def of(cls, Xs: AnyArray, Xt: AnyArray) -> JointSpan:
        """Compute the joint span of two domains with the same number of columns."""
        dtype = np.result_type(Xs, Xt)
        ns, n, m = len(Xs), len(Xs) + len(Xt), Xs.shape[1]
        centred, mean = jointly_centred(Xs, Xt)
        reflectors = None
        if m > n:
            reflectors, R = qr(centred.T, mode="raw", overwrite_a=True, check_finite=False)
            U, s, rotation = svd(R[:n].T, check_finite=False)
            coordinates = U * s
        else:
            (R,) = qr(centred, mode="r", check_finite=False)
            _, s, rotation = svd(R[:m], check_finite=False)
            coordinates = centred @ rotation.T
        # Centring has rounding errors in proportion to the mean, so the noise level depends on it as well.
        noise = rounding(centred.shape, max(float(s[0]), float(np.abs(mean).max()) * np.sqrt(n)))
        rank = min(int((s > noise).sum()), n - 1)
        coordinates = coordinates[:, :rank]
        kept = np.ascontiguousarray(rotation[:rank].T)
        return cls(coordinates[:ns], coordinates[ns:], mean, dtype, noise, kept, reflectors)

    @property
    def rank(self) -> int:
        """The number of dimensions r of the span."""
        return int(self.source.shape[1])

    @cached_property
    def joint(self) -> Array:
        """The coordinates [source; target] of shape (ns + nt, r)."""
        return np.concatenate([self.source, self.target])

    def lift(self, V: Array, dtype: npt.DTypeLike | None = None) -> AnyArray:
        """Map a factor V (r x u) of the span to W = B V (m x u), by default in the dtype of the data."""
        W = self._rotation @ V
        if self._reflectors is not None:
            padded = np.zeros((self.mean.size, V.shape[1]), order="F")
            padded[: len(W)] = W
            W = self._reflect(padded, "N")
        return np.ascontiguousarray(W, dtype=self.dtype if dtype is None else dtype)

    def lower(self, W: Array) -> Array:
        """Map W (m x u) to V = B'W (r x u) in float64, which gives the same differences of rows."""
        W = np.array(W, dtype=np.float64, order="F")
        if self._reflectors is not None:
            W = self._reflect(W, "T")[: len(self._rotation)]
        return np.asarray(self._rotation.T @ W)

    def _reflect(self, W: Array, transposed: str) -> Array:
        """Return Q W ("N") or Q'W ("T"), computed in place; W must be in Fortran order."""
        reflectors, tau = cast(tuple[Array, Array], self._reflectors)
        _, work, _ = dormqr("L", transposed, reflectors, tau, W, -1)
        product, _, _ = dormqr("L", transposed, reflectors, tau, W, int(work[0]), overwrite_c=True)
        return np.asarray(product)

    @cached_property
    def _target_svd(self) -> tuple[Array, Array, Array]:
        U, s, Vt = np.linalg.svd(self.target - self.target.mean(axis=0), full_matrices=False)
        kept = s > max(PINV_RCOND * s.max(initial=0.0), self.noise)
        return U[:, kept], s[kept], Vt[kept]

    def linear_map(self, Zt: Array) -> tuple[Array, float]:
        """Fit a linear map V (r x u) to a latent representation Zt (nt x u) of the target.

        Returns ``V = pinv(Xt) Zt`` in the span, with Xt and Zt centred (errata section 8), and the relative
        residual ``||Xt V - Zt|| / ||Zt||``.
        """
        U, s, Vt = self._target_svd
        centred = Zt - Zt.mean(axis=0)
        inner = U.T @ centred
        V = Vt.T @ (inner / s[:, None])
        residual = np.linalg.norm(centred - U @ inner)
        return V, float(residual / max(np.linalg.norm(centred), np.finfo(float).tiny))
