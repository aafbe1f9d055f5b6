"""The joint span: both domains in the row space of the jointly centred data, without loss.

Everything L2T measures depends on differences of rows alone. With ``X = [Xs; Xt]``, joint mean ``c``
and ``X - 1c = Y B'`` for an orthonormal B (m x r, r = rank <= min(ns + nt - 1, m)), the rows of Y have
the distances of the rows of X, and ``(X - 1c) B V = Y V``: a factor V (r x u) found in the span is
``W = B V`` in the original features. The coordinates are principal ones (Y'Y is diagonal, falling).

For m > n, B is never formed: ``(X - 1c)' = Q R`` by Householder reflections, and Q is applied to the
few columns that are wanted. A QR keeps distances to machine precision where a Gram matrix would
square the condition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, qr
from scipy.linalg.lapack import get_lapack_funcs

__all__ = ["JointSpan", "jointly_centred"]

Array = npt.NDArray[np.float64]

#: Singular values below this share of the largest are not inverted (errata section 8).
PINV_RCOND = 1e-10


def jointly_centred(Xs: npt.NDArray[Any], Xt: npt.NDArray[Any]) -> tuple[Array, Array]:
    """Return source above target in float64 less their joint mean, and that mean."""
    n = len(Xs) + len(Xt)
    mean = (Xs.sum(axis=0, dtype=np.float64) + Xt.sum(axis=0, dtype=np.float64)) / n
    centred = np.empty((n, len(mean)))
    np.subtract(Xs, mean, out=centred[: len(Xs)])
    np.subtract(Xt, mean, out=centred[len(Xs) :])
    return centred, mean


@dataclass(frozen=True, eq=False)
class JointSpan:
    """Both domains in the coordinates of their joint span.

    Attributes
    ----------
    source, target : array of shape (ns, r), (nt, r)
        Jointly centred principal coordinates, always float64.
    mean : array of shape (m,)
        The joint mean that was taken off.
    dtype : dtype
        The floating type of the data, in which factors are handed back.
    """

    source: Array
    target: Array
    mean: Array
    dtype: np.dtype[Any]
    _rotation: Array
    _reflectors: tuple[npt.NDArray[Any], npt.NDArray[Any]] | None

    @classmethod
    def of(cls, Xs: npt.NDArray[Any], Xt: npt.NDArray[Any]) -> JointSpan:
        """Compute the joint span of two domains with the same number of columns."""
        dtype = np.result_type(Xs, Xt)
        ns, n, m = len(Xs), len(Xs) + len(Xt), Xs.shape[1]
        centred, mean = jointly_centred(Xs, Xt)
        reflectors = None
        coordinates = centred
        if m > n:
            reflectors, R = qr(
                centred.T.astype(dtype), mode="raw", overwrite_a=True, check_finite=False
            )
            coordinates = np.ascontiguousarray(R[:n].T, dtype=np.float64)
        _, rotation = eigh(coordinates.T @ coordinates, check_finite=False)
        coordinates = coordinates @ rotation
        # Rank from the coordinates themselves: the eigenvalues are squares, and lose half the digits.
        # Centring rounds at the size of the mean, so noise is judged against that as well.
        norms = np.linalg.norm(coordinates, axis=0)
        size = max(float(norms.max(initial=0.0)), float(np.abs(mean).max()) * np.sqrt(n))
        floor = max(n, m) * float(np.finfo(dtype).eps) * size
        order = np.argsort(-norms, kind="stable")[: min(n - 1, m)]
        kept = order[norms[order] > floor]
        coordinates, rotation = coordinates[:, kept], rotation[:, kept]
        return cls(coordinates[:ns], coordinates[ns:], mean, dtype, rotation, reflectors)

    @property
    def rank(self) -> int:
        """The number of dimensions r of the span."""
        return int(self.source.shape[1])

    @cached_property
    def joint(self) -> Array:
        """Source above target, (ns + nt) x r."""
        return np.concatenate([self.source, self.target])

    def lift(self, V: Array) -> npt.NDArray[Any]:
        """Map a factor V (r x u) of the span to W = B V (m x u) in the original features."""
        inner = (self._rotation @ V).astype(self.dtype, copy=False)
        if self._reflectors is None:
            return inner
        reflectors, tau = self._reflectors
        padded = np.zeros((self.mean.size, V.shape[1]), dtype=self.dtype, order="F")
        padded[: inner.shape[0]] = inner
        (apply,) = get_lapack_funcs(("ormqr",), (reflectors,))
        _, work, _ = apply("L", "N", reflectors, tau, padded, -1)
        W, _, info = apply("L", "N", reflectors, tau, padded, int(work[0]), overwrite_c=True)
        if info != 0:
            raise RuntimeError(f"LAPACK ormqr rejected its argument {-info}")
        return np.ascontiguousarray(W)

    @cached_property
    def _target_svd(self) -> tuple[Array, Array, Array]:
        U, s, Vt = np.linalg.svd(self.target - self.target.mean(axis=0), full_matrices=False)
        rcond = max(PINV_RCOND, max(self.target.shape) * float(np.finfo(self.dtype).eps))
        kept = s > rcond * s.max(initial=0.0)
        return U[:, kept], s[kept], Vt[kept]

    def linear_map(self, Zt: Array) -> tuple[Array, float]:
        """Fit the linear map closest to a latent target Zt (nt x u).

        Returns ``V = pinv(Xt) Zt`` in the span, both centred by their target means (errata
        section 8), and the relative residual ``||Xt V - Zt|| / ||Zt||``.
        """
        U, s, Vt = self._target_svd
        centred = Zt - Zt.mean(axis=0)
        inner = U.T @ centred
        V = Vt.T @ (inner / s[:, None])
        missed = np.linalg.norm(centred - U @ inner)
        return V, float(missed / max(np.linalg.norm(centred), np.finfo(float).tiny))
