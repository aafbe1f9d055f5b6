"""The forecast: what to expect of a candidate, learned from tasks of many kinds.

For a candidate c at k labels per class

``log l = (1 - g) (b r + (1 - b) prior_c(k)) + g harm_c(k)``

* r, the rehearsed log ratio, is trusted by ``b = e / (e + room)``: e is the error of 1-NN in rehearsal. Where
  everything rehearses without an error there is no room to see a gain in, and the prior counts: the mean gain
  on other data.
* g rises from 0 to 1 with how much more mutual the target's neighbourhoods are than those of the playing
  targets (`mutual_share`): then they follow something else than classes, and what trusts them does harm.

Without a rehearsal b is 0, and g follows from the share itself. The same counts, more and more, the farther
the domains are apart. Every part is monotone in r and in the share, and is a few learned numbers by k
(``make reproduce WHAT=forecast``).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from l2t.exceptions import FileFormatError

__all__ = ["TRUSTING", "Expectation", "Forecast", "Signs", "rise"]

#: Candidates that trust the neighbourhoods of the target.
TRUSTING = ("spectrum", "classes+spectrum")


#: What is taken off the expectation of a candidate of which nothing is known.
UNKNOWN = 0.02


@dataclass(frozen=True)
class Expectation:
    """A log improvement ratio, and its standard deviation."""

    mean: float
    spread: float

    @property
    def ratio(self) -> float:
        """The improvement ratio."""
        return float(np.exp(self.mean))

    @property
    def interval(self) -> tuple[float, float]:
        """Where the ratio lies with 90 % probability, if its logarithm is normal."""
        reach = 1.645 * self.spread
        return float(np.exp(self.mean - reach)), float(np.exp(self.mean + reach))


@dataclass(frozen=True)
class Signs:
    """What is known of a pair before any label.

    Attributes
    ----------
    share : float
        How mutual the target's neighbourhoods are, among as many rows as a playing target has.
    rehearsed_share : float or None
        The same of the playing targets; None without a rehearsal.
    error : float
        The error of 1-NN in rehearsal, at the user's number of labels per class.
    gap : float
        The squared distance of the domains' means over the sum of their variances.
    """

    share: float
    rehearsed_share: float | None = None
    error: float = 0.0
    gap: float = 0.0


@dataclass(frozen=True)
class Forecast:
    """What was learned of candidates; every tuple is by labels per class.

    Attributes
    ----------
    shots : tuple of int
        Labels per class, rising.
    prior : tuple of float
        Mean log ratio of candidates that trust the target's neighbourhoods.
    harm, other_harm : tuple of float
        Log ratio of candidates that trust them where they mislead, and of others.
    spread, doubtful_spread : tuple of float
        Standard deviation of the real log ratio, where neighbourhoods are as in rehearsal and where not.
    room : float
        The error in rehearsal at which half of the rehearsed ratio is believed.
    excess : (float, float)
        Excess of the share at which the neighbourhoods begin to mislead, and do so wholly.
    share : (float, float)
        The same for the share itself, without a rehearsal.
    far : (float, float)
        The gap of the domains at which a rehearsal begins to be doubted, and does not count any more.
    training : mapping
        How it was learned.
    """

    shots: tuple[int, ...]
    prior: tuple[float, ...]
    harm: tuple[float, ...]
    other_harm: tuple[float, ...]
    spread: tuple[float, ...]
    doubtful_spread: tuple[float, ...]
    room: float
    excess: tuple[float, float]
    share: tuple[float, float]
    far: tuple[float, float]
    training: dict[str, Any]

    def expect(self, name: str, signs: Signs, rehearsed: float | None, shots: float) -> Expectation:
        """Return what to expect of a candidate.

        Parameters
        ----------
        name : str
            The candidate.
        signs : Signs
            What is known of the pair.
        rehearsed : float or None
            Its log ratio in rehearsal.
        shots : float
            Labels per class.
        """
        apart = 1.0
        if signs.rehearsed_share is not None:
            apart = rise(signs.gap, self.far)
        near, far = self._rehearsed(name, signs, rehearsed, shots), self._plain(name, signs, shots)
        return Expectation(
            (1 - apart) * near.mean + apart * far.mean,
            (1 - apart) * near.spread + apart * far.spread,
        )

    def _rehearsed(
        self, name: str, signs: Signs, rehearsed: float | None, shots: float
    ) -> Expectation:
        """Return what to expect by the rehearsal."""
        g = rise(signs.share - (signs.rehearsed_share or 0.0), self.excess)
        b = signs.error / (signs.error + self.room) if rehearsed is not None else 0.0
        prior = self._at(self.prior, shots) if name in TRUSTING else 0.0
        return self._mixed(name, g, b * (rehearsed or 0.0) + (1.0 - b) * prior, shots)

    def _plain(self, name: str, signs: Signs, shots: float) -> Expectation:
        """Return what to expect without a rehearsal; of what the classes give nothing is known then."""
        prior = self._at(self.prior, shots) if name in TRUSTING else 0.0
        if name != "spectrum":
            prior -= UNKNOWN
        return self._mixed(name, rise(signs.share, self.share), prior, shots)

    def _mixed(self, name: str, g: float, ordinary: float, shots: float) -> Expectation:
        harm = self._at(self.harm if name in TRUSTING else self.other_harm, shots)
        spread = (1 - g) * self._at(self.spread, shots) + g * self._at(self.doubtful_spread, shots)
        return Expectation((1 - g) * ordinary + g * harm, spread)

    def _at(self, values: tuple[float, ...], shots: float) -> float:
        return float(np.interp(np.log(shots), np.log(self.shots), values))

    def to_json(self) -> str:
        """Return the forecast as JSON."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Forecast:
        """Read a forecast back.

        Raises
        ------
        FileFormatError
            The text does not hold one.
        """
        try:
            content = json.loads(text)
            fields: dict[str, Any] = {
                key: tuple(value) if isinstance(value, list) else value
                for key, value in content.items()
            }
            found = cls(**fields)
            numbers = [*found.prior, *found.harm, *found.other_harm, *found.spread]
            lengths = {len(found.shots), len(found.prior), len(found.harm), len(found.spread)}
            if len(lengths) > 1 or not np.isfinite(numbers).all():
                raise ValueError("its lists must be of one length and finite")
        except (TypeError, ValueError, AttributeError) as error:
            raise FileFormatError(f"this is not a forecast: {error}") from None
        return found

    @classmethod
    def default(cls) -> Forecast:
        """Return the forecast that ships with the package."""
        return _shipped()


def rise(value: float, between: tuple[float, float]) -> float:
    """Return 0 below the first of two numbers, 1 above the second, and a line between them."""
    low, high = between
    return float(np.clip((value - low) / (high - low), 0.0, 1.0))


@cache
def _shipped() -> Forecast:
    text = resources.files("l2t.reflection").joinpath("forecast.json").read_text("utf-8")
    return Forecast.from_json(text)
