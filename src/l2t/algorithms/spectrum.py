"""spectrum: directions of the target, scaled by how well they separate its rows, without labels.

With weights ``K_jj' = exp(-4 ||x_j - x_j'||² / eta)`` of target rows, eta their mean squared distance, H = K
for mutual r-nearest neighbours and 0 otherwise, and the Laplacian scatters S_L of H and S_N of K - H,
normalised to trace 1,

``S_N v = lambda (S_L + ridge lambda_max(S_L) I) v``,  ``W = [sqrt(lambda_1) v_1, ...]``.

Directions are scaled rather than selected: a projection loses information that 1-NN can use with more labels.
The metrics for r = 5, 10 and 15 are added, by concatenating the columns of their W.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh

from l2t.algorithms.base import LatentFactors, SoftAlgorithm
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.numerics import mean_squared_distance, mutual_neighbors, principal_axes, squared_distances
from l2t.numerics.eigen import rounding
from l2t.typing import AnyArray, Array, Mask

# Accuracy hardly changes around these values on photo-sketch, digits and office-caltech (docs/adr/0008).
BANDWIDTH = 0.25
RIDGE = 0.1
DIRECTIONS = 40
GRAPH_NEIGHBORS = (5, 10, 15)
#: Maximum number of principal axes of the target.
MAX_AXES = 256
#: Maximum number of target rows, drawn at random: time grows with the cube.
MAX_SPECTRUM_ROWS = 1000


@dataclass(frozen=True)
class Spectrum(SoftAlgorithm):
    """The discriminant spectrum of the target's neighbour graph; the source is not used.

    Parameters
    ----------
    random_state : int or None, default=0
        The seed for sampling a target of more than 1,000 rows.
    """

    name: ClassVar[str] = "spectrum"
    uses_source: ClassVar[bool] = False
    relies_on_neighbours: ClassVar[bool] = True

    def _fit(self, pair: DomainPair) -> LatentFactors:
        return self._pack(
            pair, spectrum_factor(pair.target.sample(MAX_SPECTRUM_ROWS, self.random_state).X)
        )


def spectrum_factor(X: AnyArray) -> Array:
    """Return W (m x u) of target rows X."""
    centred = X - X.mean(axis=0, dtype=np.float64)
    axes = principal_axes(centred, MAX_AXES)
    Z = centred @ axes
    eta = mean_squared_distance(Z, Z) if axes.size else 0.0
    if eta > 0:
        D = squared_distances(Z)
        K = np.exp(D * (-1.0 / (BANDWIDTH * eta)))
        np.fill_diagonal(K, 0.0)
        directions = (_directions(Z, K, mutual_neighbors(D, r)) for r in GRAPH_NEIGHBORS)
        columns = [part for part in directions if part is not None]
        if columns:
            return np.asarray(axes @ np.hstack(columns))
    raise InvalidInputError(
        "spectrum needs target rows of which some are mutual neighbours and others are not, "
        f"got {len(X)} rows that are identical or all alike"
    )


def _directions(Z: Array, K: Array, near: Mask) -> Array | None:
    """Return the scaled directions for one graph; None where one of the scatters is zero."""
    H = np.where(near, K, 0.0)
    within, between = _scatter(Z, H), _scatter(Z, K - H)
    sizes = np.trace(within), np.trace(between)
    # The scatter of identical rows is not zero but of the size of rounding errors.
    if not min(sizes) > rounding(Z.shape, float(K.sum(axis=1) @ (Z * Z).sum(axis=1))):
        return None
    within, between = within / sizes[0], between / sizes[1]
    p = len(within)
    largest = float(eigh(within, eigvals_only=True, subset_by_index=(p - 1, p - 1))[0])
    within[np.diag_indices(p)] += RIDGE * largest
    values, vectors = eigh(between, within, subset_by_index=(max(0, p - DIRECTIONS), p - 1))
    shares = np.maximum(values, 0.0) / values[-1]
    return np.asarray(vectors * np.sqrt(shares))


def _scatter(Z: Array, C: Array) -> Array:
    """Return ``Z'(diag(C 1) - C) Z`` for symmetric C."""
    S = Z.T @ (C.sum(axis=1)[:, None] * Z - C @ Z)
    return np.asarray(0.5 * (S + S.T))
