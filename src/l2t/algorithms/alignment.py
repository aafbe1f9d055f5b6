"""CORAL and subspace alignment: closed forms that align the source with the target.

CORAL (Sun, Feng, Saenko 2016) gives the source the target's covariance: with ``C = cov(X) + s I``,

``A = Cs^(-1/2) Ct^(1/2)``,  source rows ``Xs A``, target rows unchanged

(s is the mean variance of a feature: 1 for z-scored data, as published). Subspace alignment (Fernando,
Habrard, Sebban, Tuytelaars 2013) aligns the source's principal axes Ps with the target's Pt (m x d):

source rows ``Xs Ps (Ps'Pt)``, target rows ``Xt Pt``.

Both have one matrix for target rows (W) and another for source rows (`LatentFactors.source_W`), which matters
where a classifier is trained on source rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from l2t.algorithms.base import BaseAlgorithm, Diagnostics, LatentFactors, SoftAlgorithm
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.numerics import matrix_power, principal_axes
from l2t.typing import AnyArray


@dataclass(frozen=True)
class CORAL(SoftAlgorithm):
    """Correlation alignment.

    W (m x r) is an orthonormal basis of the span of both domains and preserves distances; `source_W` is W A.

    Parameters
    ----------
    random_state : int or None, default=0
        Not used: CORAL is a closed form.
    """

    name: ClassVar[str] = "coral"
    for_shared_classes: ClassVar[bool] = True

    def _fit(self, pair: DomainPair) -> LatentFactors:
        span = pair.span
        if span.rank < 1:
            raise InvalidInputError("coral needs rows that differ, got identical rows")
        variance = span.source.var(axis=0).sum() + span.target.var(axis=0).sum()
        ridge = variance / (2 * pair.n_features)
        Cs, Ct = (np.atleast_2d(np.cov(rows.T)) for rows in (span.source, span.target))
        A = matrix_power(Cs, -0.5, ridge) @ matrix_power(Ct, 0.5, ridge)
        distance = float(np.sum((Cs - Ct) ** 2))
        return _aligned(self.name, span.lift(np.eye(span.rank)), span.lift(A), distance)


@dataclass(frozen=True)
class SubspaceAlignment(BaseAlgorithm):
    """Subspace alignment.

    Parameters
    ----------
    n_components : int, default=20
        The dimension d of both subspaces, at most the rank of either centred domain.
    random_state : int or None, default=0
        Not used: subspace alignment is a closed form.
    """

    name: ClassVar[str] = "sa"
    for_shared_classes: ClassVar[bool] = True

    def _fit(self, pair: DomainPair) -> LatentFactors:
        span = pair.span
        source, target = (principal_axes(X, self.n_components) for X in (span.source, span.target))
        d = self._clip(min(source.shape[1], target.shape[1]), "the smaller of the centred domains")
        Ps, Pt = source[:, :d], target[:, :d]
        M = Ps.T @ Pt
        residual = float(np.sum((Ps @ M - Pt) ** 2))
        return _aligned(self.name, span.lift(Pt), span.lift(Ps @ M), residual)


def _aligned(name: str, W: AnyArray, source_W: AnyArray, objective: float) -> LatentFactors:
    diagnostics = Diagnostics((objective,), 0, "closed-form")
    return LatentFactors(W, "linear", name, diagnostics, {"source_W": source_W})
