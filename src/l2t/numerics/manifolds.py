"""The two gauges in which W is searched: orthonormal columns, or a fixed Frobenius norm.

* Grassmann: ``W'W = I_u`` up to rotation; tangent ``G - W W'G``; retraction by QR.
* Sphere: ``||W||_F = radius``; tangent ``G - <G, W> W / radius²``; retraction by scaling.

Both use the flat inner product and transport vectors by projection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from l2t.typing import Array

__all__ = ["Grassmann", "Manifold", "Sphere"]


class Manifold(Protocol):
    """What the conjugate gradient needs to know about a gauge."""

    def project(self, W: Array, G: Array) -> Array:
        """Return the part of G that is tangent at W."""
        ...

    def retract(self, W: Array) -> Array:
        """Return a point of the manifold close to W."""
        ...


@dataclass(frozen=True)
class Grassmann:
    """Subspaces, written as orthonormal columns."""

    def project(self, W: Array, G: Array) -> Array:
        """Return ``G - W W'G``."""
        return G - W @ (W.T @ G)

    def retract(self, W: Array) -> Array:
        """Return the Q of ``W = QR`` with a positive diagonal of R."""
        Q, R = np.linalg.qr(W)
        return np.asarray(Q * np.where(np.diag(R) < 0, -1.0, 1.0))


@dataclass(frozen=True)
class Sphere:
    """Matrices of one Frobenius norm."""

    radius: float

    def project(self, W: Array, G: Array) -> Array:
        """Return ``G - <G, W> W / radius²``."""
        return G - (np.vdot(G, W) / self.radius**2) * W

    def retract(self, W: Array) -> Array:
        """Return W scaled to the radius."""
        return W * (self.radius / np.linalg.norm(W))
