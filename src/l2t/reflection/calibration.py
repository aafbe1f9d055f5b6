"""How far predictions can be trusted, by the number of labels.

f predicts one level for a W; what that is worth depends on the number of labels. On predictions for pairs
that a function had not learned from, ``1/l_n`` is fitted by ``offset_n + slope_n / f`` for each number of
labels. The errors ``|log(l_n / prediction)|`` of a pair are those of the line fitted to the other pairs.

Intervals are conformal: they reach as far as the share ``level (n + 1) / n`` of the errors of n pairs, so
that at least the share `level` of new ratios is covered if pairs are drawn alike. For n below
``level / (1 - level)`` that is more than all errors, and intervals are infinite. Between measured label
counts everything is interpolated in log n.

l_hat brings ratios measured at different numbers of labels to one scale (`LabelCurve`).
Along one W the ratio is assumed to fall like ``x / (a (x + c))``,
``-p < c <= 0``, over numbers of labels x from p to q (errata section 6); its mean over [p, q] is

``l_hat = l_n (n + c) / n [1 - c / (q - p) log((q + c) / (p + c))]``.

c = 0 leaves ratios as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from l2t.exceptions import InvalidInputError
from l2t.typing import Array

__all__ = ["Calibration", "LabelCurve", "Outcomes", "calibrate", "finite_interval"]
__all__ += ["fit_label_curve"]

Indices = npt.NDArray[np.intp]

#: Shares of the errors at which their distribution is kept.
SHARES: Array = np.array([*np.arange(1, 40) / 40, 0.99, 0.995, 1.0])
#: Predictions of 1/f are kept above this (f below 10).
LEAST = 0.1
#: c of a label curve stays this share of p away from the pole at -p.
MARGIN = 0.02


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Predictions for held-out runs, and what was measured.

    Attributes
    ----------
    inverse, l_hat, pair : arrays of shape (n_runs,)
        1/f, the mean measured over the label counts that f was learned from, and the number of the pair.
    run, n_labels, ratio : arrays of shape (n_experiences,)
        The number of the run, the number of labels, and the measured improvement ratio.
    """

    inverse: Array
    l_hat: Array
    pair: Indices
    run: Indices
    n_labels: Indices
    ratio: Array

    def at(self, count: int) -> tuple[Array, Array, Indices]:
        """Return 1/f, ratio and pair of the experiences with `count` labels; of l_hat for 0."""
        inverse = np.maximum(self.inverse, LEAST)
        if count == 0:
            return inverse, self.l_hat, self.pair
        here = self.n_labels == count
        run = self.run[here]
        return inverse[run], self.ratio[here], self.pair[run]


@dataclass(frozen=True, eq=False)
class Calibration:
    """What ratios turned out to be where the function had not learned from the pair.

    Attributes
    ----------
    n_labels : array of shape (C,)
        Label counts, rising; 0 means l_hat itself.
    slope, offset : arrays of shape (C,)
        ``1/l_n = offset + slope / f``.
    errors : array of shape (C, len(SHARES))
        Quantiles of ``|log(l_n / prediction)|``.
    pairs : array of shape (C,)
        How many pairs the errors are of.
    """

    n_labels: Indices
    slope: Array
    offset: Array
    errors: Array
    pairs: Indices

    @property
    def n_pairs(self) -> int:
        """How many pairs this rests on."""
        return int(self.pairs[0])

    def expected(self, inverse: float, n_labels: int | None) -> float:
        """Return the ratio to expect for a prediction 1/f."""
        if n_labels is None:
            return 1.0 / max(inverse, LEAST)
        weights = self._weights(n_labels)
        return 1.0 / max(float(weights @ (self.offset + self.slope * inverse)), LEAST)

    def interval(self, inverse: float, n_labels: int | None, level: float) -> tuple[float, float]:
        """Return where the ratio lies with probability `level`; (0, inf) for too few pairs."""
        weights = self._weights(n_labels or 0)
        used = weights > 0
        with np.errstate(divide="ignore"):
            shares = level * (1.0 + 1.0 / self.pairs[used])
        reaches = [
            np.interp(share, SHARES, errors) if share <= 1.0 + 1e-12 else np.inf
            for share, errors in zip(shares, self.errors[used], strict=True)
        ]
        factor = np.exp(weights[used] @ reaches)
        centre = self.expected(inverse, n_labels)
        return float(centre / factor), float(centre * factor)

    def updated(self, outcomes: Outcomes) -> Calibration:
        """Return the calibration that has seen more pairs.

        Slopes and offsets stay, and so do label counts; old and new weigh as their numbers of pairs.
        """
        old = np.linspace(0.0025, 0.9975, 400)
        errors, pairs = self.errors.copy(), self.pairs.copy()
        for i, count in enumerate(self.n_labels):
            inverse, ratio, pair = outcomes.at(count)
            if not ratio.size:
                continue
            new = _errors(ratio, self.offset[i] + self.slope[i] * inverse)
            weights, n_new = _weights_by(pair)
            past = np.full(len(old), self.pairs[i] / len(old))
            values = np.r_[np.interp(old, SHARES, self.errors[i]), new]
            errors[i], pairs[i] = _quantiles(values, np.r_[past, weights]), pairs[i] + n_new
        return replace(self, errors=errors, pairs=pairs)

    def _weights(self, n_labels: int) -> Array:
        """Return how much each of the label counts weighs at a number of labels; 0 for l_hat."""
        if n_labels == 0:
            return np.array([1.0, *np.zeros(len(self.n_labels) - 1)])
        counts = np.log(self.n_labels[1:])
        rows = np.eye(len(counts))
        return np.array([0.0, *(np.interp(np.log(n_labels), counts, row) for row in rows)])


def calibrate(outcomes: Outcomes) -> Calibration:
    """Calibrate on the outcomes of predictions for held-out pairs."""
    if len(np.unique(outcomes.pair)) < 2:
        raise InvalidInputError("calibration needs runs of at least 2 pairs, got 1 pair or none")
    counts = np.r_[0, np.unique(outcomes.n_labels)]
    slope, offset = np.ones(len(counts)), np.zeros(len(counts))
    errors, pairs = np.zeros((len(counts), len(SHARES))), np.zeros(len(counts), dtype=np.intp)
    for i, count in enumerate(counts):
        predicted, ratio, pair = outcomes.at(count)
        weights, n_pairs = _weights_by(pair)
        if count:
            offset[i], slope[i], predicted = _line(predicted, 1.0 / ratio, pair)
        if n_pairs > 1:  # else nothing is known of the errors, as of 0 pairs
            errors[i], pairs[i] = _quantiles(_errors(ratio, predicted), weights), n_pairs
    return Calibration(counts.astype(np.intp), slope, offset, errors, pairs)


def finite_interval(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return an interval to show or to write as JSON; None where it is unknown or infinite.

    >>> finite_interval((0.9, 1.1)), finite_interval((0.0, float("inf")))
    ((0.9, 1.1), None)
    """
    return interval if interval is not None and np.isfinite(interval).all() else None


def _line(x: Array, y: Array, pair: Indices) -> tuple[float, float, Array]:
    """Return offset and slope of the least-squares line, and y by the lines fitted to other pairs.

    Slopes are not below 0: a better f never means a worse ratio.
    """
    _, group = np.unique(pair, return_inverse=True)
    centre = x.mean()
    x = x - centre
    sums = np.array([np.bincount(group, each) for each in (np.ones_like(x), x, y, x * x, x * y)])
    total = sums.sum(axis=1, keepdims=True)
    # First the line of all pairs, then those that leave one of them out.
    n, sx, sy, sxx, sxy = np.hstack([total, total - sums])
    with np.errstate(invalid="ignore", divide="ignore"):  # of one pair nothing is left
        spread = sxx - sx**2 / n
        slope = np.where(spread > 1e-12, np.maximum((sxy - sx * sy / n) / spread, 0.0), 0.0)
        offset = (sy - slope * sx) / n
    others = offset[1:][group] + slope[1:][group] * x
    return float(offset[0] - slope[0] * centre), float(slope[0]), others


def _errors(ratio: Array, inverse: Array) -> Array:
    return np.abs(np.log(ratio * np.maximum(inverse, LEAST)))


def _weights_by(pair: Indices) -> tuple[Array, int]:
    """Return weights that add up to 1 over each pair, and the number of pairs."""
    _, group, sizes = np.unique(pair, return_inverse=True, return_counts=True)
    return 1.0 / sizes[group], len(sizes)


def _quantiles(errors: Array, weights: Array) -> Array:
    return np.asarray(np.quantile(errors, SHARES, weights=weights, method="inverted_cdf"))


@dataclass(frozen=True)
class LabelCurve:
    """How ratios depend on the number of labels: c in (-fewest, 0], and the range p, q of label counts."""

    c: float = 0.0
    fewest: int = 3
    most: int = 120

    def __post_init__(self) -> None:
        if not 1 <= self.fewest <= self.most:
            raise InvalidInputError(
                f"fewest and most must be label counts with 1 <= fewest <= most, "
                f"got {self.fewest} and {self.most}"
            )
        if not -self.fewest < self.c <= 0:
            raise InvalidInputError(
                f"c must be above -{self.fewest} (the fewest labels) and at most 0, got {self.c}"
            )

    def factor(self, n_labels: npt.ArrayLike) -> Array:
        """Return ``l_hat / l_n`` at each number of labels.

        >>> LabelCurve().factor([3, 120]).tolist()
        [1.0, 1.0]
        """
        p, q, c = self.fewest, self.most, self.c
        # Below p the curve is not known, and near -c it has a pole.
        n = np.maximum(np.asarray(n_labels, dtype=np.float64), p)
        mean = 1.0 - c / (q - p) * np.log((q + c) / (p + c)) if q > p else p / (p + c)
        return np.asarray((n + c) / n * mean)


def fit_label_curve(runs: Indices, n_labels: Indices, ratios: Array) -> LabelCurve:
    """Fit c to log ratios (one per experience), each run with its own level; 0 for one label count."""
    fewest, most = int(n_labels.min()), int(n_labels.max())
    if fewest == most:
        return LabelCurve(0.0, fewest, most)
    n_runs = int(runs.max()) + 1
    sizes = np.bincount(runs, minlength=n_runs)

    def within(values: Array) -> Array:
        means = np.bincount(runs, values, minlength=n_runs) / np.maximum(sizes, 1)
        return values - means[runs]

    measured = within(np.log(ratios))

    def misfit(c: float) -> float:
        residual = measured + within(np.log1p(c / n_labels))
        return float(residual @ residual)

    low = -fewest * (1.0 - MARGIN)
    found = minimize_scalar(misfit, bounds=(low, 0.0), method="bounded", options={"xatol": 1e-6})
    c = float(found.x) if found.fun < misfit(0.0) else 0.0
    return LabelCurve(c, fewest, most)
