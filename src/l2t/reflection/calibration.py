"""How far predictions can be trusted, by the number of labels.

f predicts one level for a W; what that is worth depends on the number of labels. On predictions for pairs
that a function had not learned from, ``1/l_n`` is fitted by ``offset_n + slope_n / f`` for each number of
labels. The factors ``l_n / prediction`` that remain give intervals by conformal prediction: quantiles, with
room for the new pair itself, so that a share of at least `level` of new ratios is covered if pairs are drawn
alike. Between measured label counts everything is interpolated in log n.

l_hat brings ratios measured at different numbers of labels to one scale (`LabelCurve`).
Along one W the ratio is taken to fall like ``x / (a (x + c))``,
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

__all__ = ["Calibration", "LabelCurve", "calibrate", "fit_label_curve"]

Indices = npt.NDArray[np.intp]

#: Probabilities at which the distribution of factors is kept.
PROBABILITIES: Array = np.array([0.005, 0.01, *np.arange(1, 40) / 40, 0.99, 0.995])
#: Predictions of 1/f are kept above this (f below 10).
LEAST = 0.1
#: c of a label curve stays this share of p away from the pole at -p.
MARGIN = 0.02


@dataclass(frozen=True, eq=False)
class Calibration:
    """What ratios turned out to be where the function had not learned from the pair.

    Attributes
    ----------
    n_labels : array of shape (C,)
        Label counts, rising; 0 stands for l_hat itself.
    slope, offset : arrays of shape (C,)
        ``1/l_n = offset + slope / f``.
    quantiles : array of shape (C, len(PROBABILITIES))
        Of ``log(l_n / prediction)``.
    n_pairs : int
        How many pairs this rests on.
    """

    n_labels: Indices
    slope: Array
    offset: Array
    quantiles: Array
    n_pairs: int

    def expected(self, inverse: float, n_labels: int | None) -> float:
        """Return the ratio to expect for a prediction 1/f."""
        if n_labels is None:
            return 1.0 / max(inverse, LEAST)
        slope, offset = self._at(self.slope, n_labels), self._at(self.offset, n_labels)
        return 1.0 / max(float(offset + slope * inverse), LEAST)

    def interval(self, inverse: float, n_labels: int | None, level: float) -> tuple[float, float]:
        """Return where the ratio lies with probability `level`."""
        tail = (1.0 - level) / 2.0
        # Wider by the rank that the new pair itself takes among the others.
        tail = max(tail - (1.0 - tail) / (self.n_pairs + 1), 0.0)
        shifts = self._at(self.quantiles, n_labels or 0)
        low, high = np.interp((tail, 1.0 - tail), PROBABILITIES, shifts)
        centre = self.expected(inverse, n_labels)
        return float(centre * np.exp(low)), float(centre * np.exp(high))

    def updated(
        self,
        inverse: Array,
        l_hat: Array,
        run: Indices,
        n_labels: Indices,
        ratio: Array,
        n_pairs: int,
    ) -> Calibration:
        """Return the calibration that has seen more; arguments as those of `calibrate`.

        Slopes and offsets stay, and so do label counts; old and new weigh as their numbers of pairs.
        """
        inverse = np.maximum(inverse, LEAST)
        old = np.linspace(0.0025, 0.9975, 400)
        quantiles = self.quantiles.copy()
        for i, count in enumerate(self.n_labels):
            at = n_labels == count
            x = inverse[run[at]] if count else inverse
            expected = 1.0 / np.maximum(self.offset[i] + self.slope[i] * x, LEAST)
            new = np.log((ratio[at] if count else l_hat) / expected)
            if new.size:
                values = np.r_[np.interp(old, PROBABILITIES, self.quantiles[i]), new]
                shares = self.n_pairs / len(old), n_pairs / len(new)
                quantiles[i] = _weighted_quantiles(values, np.repeat(shares, (len(old), len(new))))
        return replace(self, quantiles=quantiles, n_pairs=self.n_pairs + n_pairs)

    def _at(self, values: Array, n_labels: int) -> Array:
        if n_labels == 0:
            return np.asarray(values[0])
        counts = np.log(self.n_labels[1:])
        place = np.clip(np.log(n_labels), counts[0], counts[-1])
        columns = values[1:].reshape(len(counts), -1)
        found = np.array([np.interp(place, counts, column) for column in columns.T])
        return found if values.ndim > 1 else found[0]


def calibrate(
    inverse: Array, l_hat: Array, run: Indices, n_labels: Indices, ratio: Array, n_pairs: int
) -> Calibration:
    """Calibrate on held-out predictions 1/f of the runs of `n_pairs` pairs.

    `inverse` and `l_hat` have one entry per run: 1/f, and the mean measured over the label counts that f was
    learned from; `run`, `n_labels` and `ratio` have one per experience.
    """
    if len(inverse) < 2:
        raise InvalidInputError(f"calibration needs at least 2 runs, got {len(inverse)}")
    inverse = np.maximum(inverse, LEAST)
    rows = [(0, 1.0, 0.0, np.quantile(np.log(l_hat * inverse), PROBABILITIES))]
    for count in np.unique(n_labels):
        at = n_labels == count
        x, y = inverse[run[at]], 1.0 / ratio[at]
        slope = _slope(x, y)
        offset = float(y.mean() - slope * x.mean())
        expected = 1.0 / np.maximum(offset + slope * x, LEAST)
        shifts = np.quantile(np.log(ratio[at] / expected), PROBABILITIES)
        rows.append((int(count), slope, offset, shifts))
    counts, slopes, offsets, quantiles = (np.array(column) for column in zip(*rows, strict=True))
    return Calibration(counts.astype(np.intp), slopes, offsets, quantiles, n_pairs)


def _slope(x: Array, y: Array) -> float:
    """Return the least-squares slope, not below 0: a better f never means a worse ratio."""
    spread = float(np.sum((x - x.mean()) ** 2))
    return max(float((x - x.mean()) @ (y - y.mean())) / spread, 0.0) if spread > 0 else 0.0


def _weighted_quantiles(values: Array, weights: Array) -> Array:
    order = np.argsort(values)
    cumulated = np.cumsum(weights[order])
    middle = (cumulated - 0.5 * weights[order]) / cumulated[-1]
    return np.asarray(np.interp(PROBABILITIES, middle, values[order]))


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
    """Fit c to the logarithms of ratios (one entry per experience), each run with a level of its own."""
    fewest, most = int(n_labels.min()), int(n_labels.max())
    if fewest == most:
        raise InvalidInputError(
            f"the label curve needs experiences at two label counts or more, got {fewest} alone"
        )
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
