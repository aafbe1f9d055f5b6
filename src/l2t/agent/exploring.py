"""Suggestions that the agent can learn from: base algorithms by turns, or where the most may be gained.

The upper end of an interval is the same multiple of every prediction, and so no reason to prefer another W.
What differs from W to W is how well the function knows the terms of 1/f that count there: to second order
its n experiences give its parameters theta the covariance ``C = s² (n H + n R)^-1`` (H of `Memory`, R the
regulariser, s the noise of ratios), and 1/f at W the variance ``g'C g``, with g its gradient in theta. So
"upper" takes the W whose interval ends highest when 1/f is at its own lower end.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from l2t import algorithms
from l2t.domains import DomainPair
from l2t.exceptions import L2TError, L2TWarning
from l2t.inference.starts import CHEAP_STARTS
from l2t.reflection import ReflectionFunction
from l2t.reflection.calibration import PROBABILITIES
from l2t.reflection.loss import LEAST_TAU
from l2t.statistics import PairStatistics

__all__ = ["base_factors", "cheap_factors", "uncertainty", "upper_end"]


#: The ends of a 90 % interval, in standard deviations.
_WIDTH = 1.645


def base_factors(
    pair: DomainPair, rng: np.random.Generator, random_state: int
) -> tuple[str, npt.NDArray[np.floating]]:
    """Return the W of a random base algorithm that can be run on the pair, and its name."""
    names = algorithms.names()
    found = _factors(pair, [names[i] for i in rng.permutation(len(names))], random_state)
    return next(found)


def cheap_factors(
    pair: DomainPair, random_state: int
) -> Iterator[tuple[str, npt.NDArray[np.floating]]]:
    """Yield the W's of the base algorithms that take little time."""
    yield from _factors(pair, CHEAP_STARTS, random_state)


def _factors(
    pair: DomainPair, names: list[str] | tuple[str, ...], random_state: int
) -> Iterator[tuple[str, npt.NDArray[np.floating]]]:
    reason: L2TError | None = None
    n_found = 0
    for name in names:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", L2TWarning)  # fewer components are fine here
                W = algorithms.make(name, random_state=random_state).fit(pair).W
        except L2TError as error:
            reason = error
            continue
        n_found += 1
        yield name, W
    if reason is not None and not n_found:
        raise reason


def uncertainty(function: ReflectionFunction, statistics: PairStatistics) -> float:
    """Return the standard deviation of 1/f that comes from the function's own parameters."""
    if function.lessons is None:
        return 0.0
    lessons = function.lessons
    memory, units, settings = lessons.memory, lessons.units, lessons.settings
    K = len(function.kernels)
    w, s, v, m = memory.theta[:K], *memory.theta[K : K + 3]
    d, Q, tau = statistics.d / units.d, statistics.Q / units.Q, statistics.tau / units.tau
    wtau = max(float(w @ tau), LEAST_TAU)
    by_w = s * d + 2 * v * (Q @ w) - m / wtau**2 * tau
    g = np.r_[by_w, d @ w, w @ Q @ w, 1.0 / wtau, 1.0]
    ridge = np.r_[np.full(K + 3, settings.gamma), 1e-12]
    spread = memory.weight * (memory.hessian + np.diag(ridge))
    return _noise(function) * float(np.sqrt(g @ np.linalg.solve(spread, g)))


def _noise(function: ReflectionFunction) -> float:
    """Return the standard deviation of ratios about their predictions: half of what 68 % of them span."""
    if function.calibration is None:
        return 0.1
    low, high = np.interp((0.16, 0.84), PROBABILITIES, function.calibration.quantiles[0])
    return float(high - low) / 2


def upper_end(
    function: ReflectionFunction, statistics: PairStatistics, n_labels: int | None
) -> float:
    """Return the improvement ratio that W may reach."""
    low = function.inverse(statistics) - _WIDTH * uncertainty(function, statistics)
    if function.calibration is None:
        return function.ratio(low, n_labels)
    return function.calibration.interval(low, n_labels, 0.9)[1]
