"""Calibration of forecasts: intervals for new kinds of data, and pairs unlike those of training.

Forecasts are made for each kind of data with that kind left out of learning, and their errors divided by the
predicted standard deviation. Intervals are conformal: they cover the share `level` of these errors, corrected
for a finite number of pairs, on the kind of data with the largest errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np

from l2t.typing import Array

if TYPE_CHECKING:
    import numpy.typing as npt

#: Numbers in files; larger integers are not exact in JSON, and may not fit into a float.
Natural = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Count = Annotated[int, msgspec.Meta(ge=1, le=2**53)]
#: Probabilities of the stored quantiles.
LEVELS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.96, 0.97, 0.98, 0.99, 1.0)


class ErrorQuantiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Quantiles of the absolute errors of predictions."""

    #: Number of pairs that were predicted.
    n_pairs: Natural
    #: The quantiles at `LEVELS`: of a log ratio, or in standard deviations for forecasts.
    errors: tuple[float, ...]

    @classmethod
    def of(cls, errors: npt.ArrayLike, n_pairs: int) -> ErrorQuantiles:
        """Return the quantiles of some errors, which are of `n_pairs` pairs."""
        return cls(n_pairs, tuple(np.quantile(np.abs(errors), LEVELS).round(3).tolist()))

    def half_width(self, level: float) -> float:
        """Return the half-width of an interval with coverage `level`; infinite for too few pairs."""
        rank = level * (self.n_pairs + 1) / self.n_pairs if self.n_pairs else np.inf
        return float(np.interp(rank, LEVELS, self.errors)) if rank <= 1.0 else float("inf")

    def covered(self, half_width: float) -> float:
        """Return the coverage of an interval of this half-width; at least 0.5."""
        return float(np.interp(half_width, self.errors, LEVELS))


class Reliability(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Errors of forecasts by kind of data, each of which was left out of learning.

    Examples
    --------
    With nine pairs the largest error has a coverage of 90 %; eight are too few for that.

    >>> Reliability({"images": ErrorQuantiles.of(np.arange(1.0, 10.0), 9)}).half_width(0.9)
    9.0
    >>> Reliability({"images": ErrorQuantiles.of(np.arange(1.0, 9.0), 8)}).half_width(0.9)
    inf
    """

    kinds: dict[str, ErrorQuantiles]

    def half_width(self, level: float) -> float:
        """Return the half-width, in standard deviations, of an interval with this level on the worst kind."""
        return max((kind.half_width(level) for kind in self.kinds.values()), default=float("inf"))


class Familiarity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The distribution of the meta-features of the training pairs: mean and covariance."""

    centre: tuple[float, ...]
    #: The inverse covariance.
    precision: tuple[tuple[float, ...], ...]
    #: The Mahalanobis distance that 1 % of the training pairs exceed.
    limit: float

    @classmethod
    def of(cls, meta: Array) -> Familiarity:
        """Estimate the distribution from meta-features (pairs, features)."""
        precision = np.linalg.pinv(np.cov(meta, rowvar=False))
        support = cls(tuple(meta.mean(axis=0).tolist()), tuple(map(tuple, precision.tolist())), 1.0)
        limit = float(np.quantile([support.distance(row) for row in meta], 0.99))
        return cls(support.centre, support.precision, limit)

    def distance(self, meta: Sequence[float] | Array) -> float:
        """Return the distance from the centre in units of `limit`: above 1 for an unfamiliar pair."""
        offset = np.asarray(meta) - self.centre
        return float(np.sqrt(max(offset @ np.asarray(self.precision) @ offset, 0.0))) / self.limit
