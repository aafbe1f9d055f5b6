"""How improvement ratios depend on the number of labels.

l_hat makes ratios measured at different numbers of labels comparable (`LabelCurve`). For one W the ratio is
assumed to decrease like ``x / (a (x + c))``, ``-p < c <= 0``, over numbers of labels x from p to q (errata
section 6); its mean over [p, q] is

``l_hat = l_n (n + c) / n [1 - c / (q - p) log((q + c) / (p + c))]``.

c = 0 leaves ratios unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from l2t.exceptions import InvalidInputError
from l2t.typing import Array, Indices

#: Minimum distance of c from the pole at -p, as a share of p.
MARGIN = 0.02


@dataclass(frozen=True)
class LabelCurve:
    """How ratios depend on the number of labels: c in (-fewest, 0], for `fewest` (p) to `most` (q) labels."""

    c: float = 0.0
    fewest: int = 3
    most: int = 120

    def __post_init__(self) -> None:
        if not (1 <= self.fewest <= self.most or self.fewest == self.most == 0):
            raise InvalidInputError(
                f"fewest and most must be label counts with 1 <= fewest <= most, "
                f"got {self.fewest} and {self.most}"
            )
        if self.c != 0 and not -self.fewest < self.c < 0:
            raise InvalidInputError(
                f"c must be above -{self.fewest} (the fewest labels) and at most 0, got {self.c}"
            )

    def factor(self, n_labels: npt.ArrayLike) -> Array:
        """Return ``l_hat / l_n`` at each number of labels.

        >>> LabelCurve().factor([3, 120]).tolist()
        [1.0, 1.0]
        """
        p, q, c = self.fewest, self.most, self.c
        if c == 0:
            return np.ones(np.shape(n_labels))
        # The curve is not fitted below p, and has a pole at -c.
        n = np.maximum(np.asarray(n_labels, dtype=np.float64), p)
        mean = 1.0 - c / (q - p) * np.log((q + c) / (p + c)) if q > p else p / (p + c)
        return np.asarray((n + c) / n * mean)


def fit_label_curve(runs: Indices, n_labels: Indices, ratios: Array) -> LabelCurve:
    """Fit c to log ratios (one per experience) with an intercept per run; 0 for a single label count."""
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
    optimum = minimize_scalar(misfit, bounds=(low, 0.0), method="bounded", options={"xatol": 1e-6})
    c = float(optimum.x) if optimum.fun < misfit(0.0) else 0.0
    return LabelCurve(c, fewest, most)
