"""Calibration of forecasts: intervals that hold on new kinds of data, and which pairs are unfamiliar.

The errors of forecasts for kinds of data that were left out of learning are measured in their standard
deviations. An interval is conformal: it covers the share `level` of these errors, corrected for the new pair
itself, on the kind of data that was predicted worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from l2t.typing import Array

#: Probabilities at which the distribution of errors is kept.
LEVELS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.96, 0.97, 0.98, 0.99, 1.0)


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far forecasts for one kind of data were off."""

    #: Number of pairs that were predicted.
    n_pairs: int
    #: Quantiles, at `LEVELS`, of the error in standard deviations.
    errors: tuple[float, ...]

    @classmethod
    def of(cls, errors: Any, n_pairs: int) -> Kind:
        """Return the kind whose forecasts had these errors."""
        return cls(n_pairs, tuple(np.quantile(np.abs(errors), LEVELS).round(3).tolist()))

    def reach(self, level: float) -> float:
        """Return how far an interval reaches that holds the share `level`; infinite for too few pairs."""
        rank = level * (self.n_pairs + 1) / self.n_pairs if self.n_pairs else np.inf
        return float(np.interp(rank, LEVELS, self.errors)) if rank <= 1.0 else float("inf")

    def covered(self, reach: float) -> float:
        """Return the share of errors that an interval of this reach holds, from 0.5 on."""
        return float(np.interp(reach, self.errors, LEVELS))


class Reliability(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far forecasts were off, by kind of data; each was left out of learning.

    Examples
    --------
    With nine pairs the largest error bounds nine of ten new ones; with eight nothing does.

    >>> Reliability({"images": Kind.of(np.arange(1.0, 10.0), 9)}).reach(0.9)
    9.0
    >>> Reliability({"images": Kind.of(np.arange(1.0, 9.0), 8)}).reach(0.9)
    inf
    """

    kinds: dict[str, Kind]

    def reach(self, level: float) -> float:
        """Return how many standard deviations an interval of this level reaches on the worst kind."""
        return max((kind.reach(level) for kind in self.kinds.values()), default=float("inf"))


class Familiarity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the signs of the training pairs look like: their centre, and how they vary."""

    centre: tuple[float, ...]
    #: The inverse of their covariance.
    precision: tuple[tuple[float, ...], ...]
    #: The Mahalanobis distance that one in a hundred training pairs exceeds.
    limit: float

    @classmethod
    def of(cls, signs: Array) -> Familiarity:
        """Return what signs (pairs, signs) look like."""
        precision = np.linalg.pinv(np.cov(signs, rowvar=False))
        found = cls(tuple(signs.mean(axis=0).tolist()), tuple(map(tuple, precision.tolist())), 1.0)
        limit = float(np.quantile([found.distance(row) for row in signs], 0.99))
        return cls(found.centre, found.precision, limit)

    def distance(self, signs: Sequence[float] | Array) -> float:
        """Return the distance from the centre; above 1 the signs are unlike those of training."""
        away = np.asarray(signs) - self.centre
        return float(np.sqrt(max(away @ np.asarray(self.precision) @ away, 0.0))) / self.limit
