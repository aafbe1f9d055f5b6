"""GFK: the geodesic flow kernel (Gong, Shi, Sha, Grauman 2012).

``G = ∫_0^1 Phi(t) Phi(t)' dt``, Phi(t) (m x d) the geodesic from the source's principal subspace Ps to the
target's Pt. With ``Ps'Pt = U cos(theta) V'``, ``A = Ps U``, ``B = Pt V - A cos(theta)``,
``sin(theta) = |B|`` column by column and ``E = B / sin(theta)``:

``G = A l1 A' + A l2 E' + E l2 A' + E l3 E'``
``l1 = (1 + sinc)/2``, ``l2 = (1 - cos 2 theta)/(4 theta)``, ``l3 = (1 - sinc)/2``,
``sinc = sin(2 theta)/(2 theta)``.

``theta = atan2(sin, cos)`` is accurate for small angles; no complement of Ps or generalised SVD is needed.
``W W' = G`` by a 2 x 2 Cholesky factor per angle, so W has up to 2d columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from l2t.algorithms.base import BaseAlgorithm, Diagnostics, LatentFactors
from l2t.domains import DomainPair
from l2t.numerics import principal_axes
from l2t.typing import Array

#: Below this sine a principal angle is zero: both subspaces share the direction.
SMALLEST_SINE = 1e-8


@dataclass(frozen=True)
class GFK(BaseAlgorithm):
    """The geodesic flow kernel.

    Parameters
    ----------
    n_components : int, default=20
        The dimension d of both subspaces, at most the rank of either centred domain; **W has up to 2d
        columns**.
    random_state : int or None, default=0
        Not used: GFK is a closed form.

    Notes
    -----
    Parts: ``angles`` (d,), the principal angles between the subspaces.
    """

    name: ClassVar[str] = "gfk"

    def _fit(self, pair: DomainPair) -> LatentFactors:
        span = pair.span
        source, target = (principal_axes(X, self.n_components) for X in (span.source, span.target))
        d = self._clip(min(source.shape[1], target.shape[1]), "the smaller of the centred domains")
        F, angles = geodesic_flow(source[:, :d], target[:, :d])
        # Nothing is minimised; the squared geodesic distance between the subspaces stands for the objective.
        diagnostics = Diagnostics((float(np.sum(angles**2)),), 0, "closed-form")
        return LatentFactors(span.lift(F), "metric", self.name, diagnostics, {"angles": angles})


def geodesic_flow(Ps: Array, Pt: Array) -> tuple[Array, Array]:
    """Return F with ``F F' = G`` and the principal angles between the spans of orthonormal Ps, Pt (m, d).

    For two orthogonal lines:

    >>> F, angles = geodesic_flow(np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]]))
    >>> np.round(F @ F.T * np.pi, 6).tolist()
    [[1.570796, 1.0], [1.0, 1.570796]]
    """
    U, cosines, Vt = np.linalg.svd(Ps.T @ Pt)
    A = Ps @ U
    B = Pt @ Vt.T - A * cosines
    sines = np.linalg.norm(B, axis=0)
    moving = sines > SMALLEST_SINE
    E = np.where(moving, B / np.where(moving, sines, 1.0), 0.0)
    angles = np.where(moving, np.arctan2(sines, cosines), 0.0)
    sinc = np.sinc(2 * angles / np.pi)
    l1, l3 = 0.5 * (1 + sinc), 0.5 * (1 - sinc)
    l2 = np.where(moving, np.sin(angles) ** 2 / np.where(moving, 2 * angles, 1.0), 0.0)
    # Cholesky of [[l1, l2], [l2, l3]] for each angle; l1 >= 1/2, so it never divides by zero.
    first = np.sqrt(l1)
    second = np.sqrt(np.maximum(l3 - l2**2 / l1, 0.0))
    return np.hstack([A * first + E * (l2 / first), (E * second)[:, moving]]), angles
