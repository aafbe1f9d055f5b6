"""The forecast: the improvement ratio to expect of a candidate, learned from tasks on many kinds of data.

With the error e of 1-NN on the original features, the *room* for a change is ``e (1 - e)``, and a candidate
uses about the same share u of it on every kind of data:

``log l = room u``,  ``u = (1 - g) (b r + (1 - b) prior(k)) + g misled(k)``

* r is the rehearsed log ratio divided by the room in rehearsal, with weight ``b = room / (room + least)``:
  where 1-NN makes no errors in rehearsal, its ratios say nothing, and the prior counts instead: the share
  that the candidate used on other data at k labels per class.
* g grows from 0 to 1 with the excess of the target's share of mutual neighbours over that in the plays
  (`mutual_share`): with a large excess neighbourhoods do not follow classes, and candidates that rely on them
  do harm.

Without a rehearsal b is 0, and g depends on the share itself; the farther the domains are apart, the more the
forecast approaches that case. No input depends on the number of rows. Every part is monotone in r and in the
share, and is a few learned numbers per k (``make reproduce WHAT=forecast``); `refine` updates the prior by
the user's own experiences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import NamedTuple

import msgspec
import numpy as np

from l2t.algorithms import Traits, traits_by_name
from l2t.exceptions import FileFormatError
from l2t.forecast.reliability import Count, Familiarity, Natural, Reliability
from l2t.typing import JsonObject

#: Subtracted from the prior of candidates that use the source where no rehearsal supports it.
UNKNOWN = 0.1
#: Number of the user's pairs that weigh as much as the prior from other data (docs/adr/0015).
OWN_PAIRS = 20
#: Degrees of freedom of the t distribution of ratios around an expectation (docs/adr/0015).
TAIL = 5.0
#: Minimum standard deviation of a log ratio: a loss can exceed the room.
MIN_SPREAD = 0.04
#: Bounds of the share of room used: with little room, larger values are noise.
BOUNDS = (-2.0, 1.5)


class Expectation(NamedTuple):
    """An expected log improvement ratio with its uncertainty."""

    mean: float
    #: Standard deviation.
    spread: float
    #: Standard deviation of a measured ratio around the true one, due to few test rows.
    noise: float = 0.0

    @property
    def ratio(self) -> float:
        """The improvement ratio."""
        return float(np.exp(self.mean))

    def weighed(self, evidence: Expectation) -> Expectation:
        """Return the mean with the evidence, both weighted by their precision.

        Expectations have heavy tails: one that evidence contradicts by several standard deviations gets less
        weight.
        """
        if not self.spread:
            return self
        surprise = (evidence.mean - self.mean) ** 2 / (self.spread**2 + evidence.spread**2)
        doubt = max((TAIL + surprise) / (TAIL + 1.0), 1.0)
        ours, theirs = self.spread**-2 / doubt, evidence.spread**-2
        mean = (ours * self.mean + theirs * evidence.mean) / (ours + theirs)
        return Expectation(mean, (ours + theirs) ** -0.5, self.noise)

    def interval(self, half_width: float) -> tuple[float, float]:
        """Return the ratios `half_width` standard deviations below and above."""
        width = half_width * float(np.hypot(self.spread, self.noise)) if self.spread else 0.0
        return float(np.exp(self.mean - width)), float(np.exp(self.mean + width))


@dataclass(frozen=True)
class MetaFeatures:
    """Meta-features of a pair: the inputs of a forecast. Target labels are used for the own error only."""

    #: The target's share of mutual neighbours.
    share: float
    #: Its difference to the share in plays with as many rows; None without a rehearsal.
    excess: float | None = None
    #: The error of 1-NN in rehearsal, at the given number of labels per class.
    error: float = 0.0
    #: The log of the number of target classes, divided by the log of that in a play.
    classes_ratio: float = 1.0
    #: The squared distance of the domains' means, divided by the sum of their variances.
    gap: float = 0.0
    #: The leave-one-out error of 1-NN on the labelled target rows.
    own_error: float = 0.0
    #: Number of labelled rows behind `own_error`.
    n_own: int = 0
    #: Number of unlabelled target rows.
    n_test: int = 1000


class Forecast(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Learned parameters of the expected ratios; most tuples have one number per entry of `shots`.

    The names of some fields differ in files, which keep those of version 0.2.
    """

    #: Labels per class, increasing.
    shots: tuple[Count, ...]
    #: The share of room that a candidate uses on other data; 0 for those not named.
    prior: dict[str, tuple[float, ...]]
    #: The same where neighbourhoods mislead, for candidates that rely on them and for others.
    misled: tuple[float, ...] = msgspec.field(name="harm")
    misled_others: tuple[float, ...] = msgspec.field(name="other_harm")
    #: The mean error of 1-NN on other data.
    error: tuple[float, ...]
    #: Standard deviation of the share of room used, where neighbourhoods are as in rehearsal and where not.
    spread: tuple[float, ...]
    doubtful_spread: tuple[float, ...]
    #: The room in rehearsal at which the rehearsed ratio and the prior have equal weight.
    least_room: float
    #: The excess of the share at which g begins to grow, and reaches 1.
    excess: tuple[float, float]
    #: The same for the share itself, without a rehearsal.
    share: tuple[float, float]
    #: The gap between the domains at which a rehearsal begins to lose weight, and has none.
    far: tuple[float, float]
    #: Weight of the error in rehearsal in the expected error of the target.
    rehearsal_weight: float = msgspec.field(name="trust")
    #: Number of labelled rows whose error weighs as much as the expected error.
    own_rows: float
    #: The variance of a measured log ratio for one test row at an error of 1/2.
    noise: float
    #: For labelled rows (`suggested`): slope, labels per class at which both measures have equal weight, and
    #: standard error of one row.
    evidence: tuple[float, float, float]
    reliability: Reliability
    #: The distribution of the meta-features of the training pairs.
    familiarity: Familiarity
    #: Number of the user's pairs in the prior of a candidate.
    own_pairs: dict[str, Natural] = {}
    training: JsonObject = {}

    def __post_init__(self) -> None:
        by_shots = (self.misled, self.misled_others, self.error, self.spread, self.doubtful_spread)
        if {len(row) for row in (*by_shots, *self.prior.values())} != {len(self.shots)}:
            raise ValueError("lists must have one number for each of the shots")

    def check(self) -> None:
        """Raise a ValueError if it cannot be evaluated, such as one with numbers that are not finite."""
        meta = MetaFeatures(share=0.5, excess=0.0, error=0.5)
        try:
            with np.errstate(all="ignore"):
                expected = self.expect("spectrum", meta, 0.0, 1.0)
                valid = np.isfinite(expected).all() and not np.isnan(self.half_width(meta))
        except (ValueError, ArithmeticError):
            valid = False
        if not valid:
            raise ValueError("forecast must hold lists of matching lengths and finite numbers")

    def expect(
        self,
        name: str,
        meta: MetaFeatures,
        rehearsed: float | None,
        shots: float,
        traits: Traits | None = None,
    ) -> Expectation:
        """Return the expectation for a candidate.

        Parameters
        ----------
        name : str
            The name of the candidate.
        meta : MetaFeatures
            The meta-features of the pair.
        rehearsed : float or None
            The log improvement ratio in rehearsal; None without one.
        shots : float
            Labels per class.
        traits : Traits, optional
            The traits of the candidate's algorithm; by default those of the algorithm with its name.

        Returns
        -------
        Expectation
        """
        traits = traits_by_name(name) if traits is None else traits
        lost, g = self.lost_weight(meta), self.misleading(meta)
        prior = self._at(self.prior[name], shots) if name in self.prior else 0.0
        seen = room_of(meta.error)
        doubt = 1.0 + self.own_pairs.get(name, 0) / OWN_PAIRS
        b = seen / (seen + self.least_room * doubt) if rehearsed is not None else 0.0
        r = float(np.clip((rehearsed or 0.0) / max(seen, 0.01), *BOUNDS))
        near = b * r + (1.0 - b) * prior
        far = prior - (UNKNOWN if traits.uses_source or name not in self.prior else 0.0)
        g_near, g_far = self._misleading(meta)
        misled = self._at(self.misled if traits.relies_on_neighbours else self.misled_others, shots)
        use = (1.0 - lost) * (1.0 - g_near) * near + lost * (1.0 - g_far) * far + g * misled
        spread = (1.0 - g) * self._at(self.spread, shots) + g * self._at(
            self.doubtful_spread, shots
        )
        e = self.expected_error(meta, shots)
        noise = np.sqrt(self.noise * e / (1.0 - e) / max(meta.n_test, 1))
        return Expectation(
            room_of(e) * use, float(np.hypot(room_of(e) * spread, MIN_SPREAD)), float(noise)
        )

    def suggested(self, order: float, nearest: float, n_rows: int, shots: float) -> Expectation:
        """Return the expectation from labelled target rows alone.

        `order` and `nearest` are the increases, by a candidate, of the share of triples in order and of rows
        whose nearest labelled row is of their class (`l2t.inference.evidence`). With few labels per class
        (`shots`) the order has more weight, with many the nearest row.
        """
        slope, even, error = self.evidence
        w = shots / (shots + even)
        return Expectation(
            slope * ((1.0 - w) * order + w * nearest), error / float(np.sqrt(n_rows))
        )

    def misleading(self, meta: MetaFeatures) -> float:
        """Return how far neighbourhoods are expected to mislead in the target: 0 for not, 1 for fully."""
        lost, (near, far) = self.lost_weight(meta), self._misleading(meta)
        return (1.0 - lost) * near + lost * far

    def _misleading(self, meta: MetaFeatures) -> tuple[float, float]:
        """Return the same for domains that are near, from a rehearsal, and for those that are far."""
        return rise(meta.excess or 0.0, self.excess), rise(meta.share, self.share)

    def lost_weight(self, meta: MetaFeatures) -> float:
        """Return how much weight a rehearsal loses: 0 for none, 1 for all."""
        return 1.0 if meta.excess is None else rise(meta.gap, self.far)

    def expected_error(self, meta: MetaFeatures, shots: float) -> float:
        """Return the expected error of 1-NN on the original features of the target."""
        usual = self._at(self.error, shots)
        # With more classes than in a play there are more errors.
        seen = 1.0 - (1.0 - meta.error) ** meta.classes_ratio
        expected = usual + (1.0 - self.lost_weight(meta)) * self.rehearsal_weight * (seen - usual)
        n, m = meta.n_own, self.own_rows
        return float(np.clip((n * meta.own_error + m * expected) / (n + m), 0.02, 0.98))

    def half_width(self, meta: MetaFeatures, level: float = 0.9) -> float:
        """Return the half-width of an interval in standard deviations; infinite if it is unknown."""
        return self.reliability.half_width(level) * max(self.novelty(meta), 1.0)

    def novelty(self, meta: MetaFeatures) -> float:
        """Return the distance of a pair from the training pairs; above 1 it is unlike nearly all of them."""
        if meta.excess is None:
            return 0.0
        return self.familiarity.distance([meta.share, meta.excess, meta.error, meta.gap])

    def _at(self, values: tuple[float, ...], shots: float) -> float:
        return float(np.interp(np.log(shots), np.log(self.shots), values))

    def to_json(self) -> str:
        """Return the forecast as JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Forecast:
        """Return the forecast in a JSON text; raise FileFormatError if it is not one."""
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.MsgspecError, ValueError) as error:
            raise FileFormatError(f"not a forecast: {error}") from None

    @staticmethod
    @cache
    def default() -> Forecast:
        """Return the forecast that ships with the package."""
        text = resources.files("l2t.forecast").joinpath("forecast.json").read_bytes()
        return Forecast.from_json(text)


def rise(value: float, between: tuple[float, float]) -> float:
    """Return 0 below the first of two numbers, 1 above the second, linear in between."""
    low, high = between
    return float(np.clip((value - low) / (high - low), 0.0, 1.0))


def room_of(error: float) -> float:
    """Return the room for a change: ``error (1 - error)``."""
    return error * (1.0 - error)
