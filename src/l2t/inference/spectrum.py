"""The discriminant spectrum of a target: directions scaled by how well they separate, without labels.

With weights ``K_jj' = exp(-||x_j - x_j'||² / (2^p eta))`` in the original features, eta the mean squared
distance between target rows, H = K on mutual r-neighbours and Laplacian scatters ``S_L`` of H and ``S_N``
of K - H (tau is the ratio of their traces under W), normalised to trace 1,

``S_N v = lambda (S_L + ridge lambda_max(S_L) I) v``.

Instead of cutting after u directions, each is kept and scaled by ``lambda^(power / 2)``; the metrics for
r = 5, 10 and 15 are added, which is to put their W side by side. A hard projection throws away what
1-NN could use once there are more labels; a soft one only makes it small.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from l2t.numerics import JointSpan, mean_squared_distance, squared_distances
from l2t.statistics.discriminability import mutual_neighbors
from l2t.typing import Array

__all__ = ["Spectrum"]


# Chosen on training pairs of photo-sketch, digits and office-caltech; flat around these values.
EXPONENT = -2.0
RIDGE = 0.1
DIRECTIONS = 40
NEIGHBORS = (5, 10, 15)


class Spectrum:
    """The directions of a pair's target, for any power.

    Parameters
    ----------
    span : JointSpan
        Both domains.
    """

    def __init__(self, span: JointSpan) -> None:
        centred = span.target - span.target.mean(axis=0)
        _, s, Vt = np.linalg.svd(centred, full_matrices=False)
        kept = s > max(span.noise, 1e-10 * s[0])
        self._axes = Vt[kept].T
        Z = centred @ self._axes
        D = squared_distances(Z)
        eta = mean_squared_distance(Z, Z)
        self._parts: list[tuple[Array, Array]] = []
        if eta == 0:
            return
        K = np.exp(D * (-(2.0**-EXPONENT) / eta))
        np.fill_diagonal(K, 0.0)
        found = (_directions(Z, K, mutual_neighbors(D, r)) for r in NEIGHBORS)
        self._parts = [part for part in found if part is not None]

    def __bool__(self) -> bool:
        """Tell whether there are directions at all: not where every pair of rows is near."""
        return bool(self._parts)

    def factor(self, power: float) -> Array:
        """Return V (r x u): the directions, each scaled by its eigenvalue to the power / 2."""
        columns = [vectors * shares ** (0.5 * power) for shares, vectors in self._parts]
        return np.asarray(self._axes @ np.hstack(columns))


def _directions(Z: Array, K: Array, near: npt.NDArray[np.bool_]) -> tuple[Array, Array] | None:
    """Return eigenvalues, as shares of the largest, and eigenvectors; None where one scatter is zero."""
    H = np.where(near, K, 0.0)
    within, between = _scatter(Z, H), _scatter(Z, K - H)
    sizes = np.trace(within), np.trace(between)
    if not min(sizes) > 0:
        return None
    within, between = within / sizes[0], between / sizes[1]
    m = len(within)
    largest = float(eigh(within, eigvals_only=True, subset_by_index=(m - 1, m - 1))[0])
    within[np.diag_indices(m)] += RIDGE * largest
    values, vectors = eigh(between, within, subset_by_index=(max(0, m - DIRECTIONS), m - 1))
    shares = np.maximum(values, 0.0) / values[-1]
    return shares, vectors


def _scatter(Z: Array, C: Array) -> Array:
    """Return ``Z'(diag(C 1) - C) Z`` for symmetric C."""
    S = Z.T @ (C.sum(axis=1)[:, None] * Z - C @ Z)
    return np.asarray(0.5 * (S + S.T))
