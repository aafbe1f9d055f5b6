"""The forecast: what to expect of a candidate, learned from tasks of many kinds.

A candidate can only gain what is missing. With the error e of 1-NN on the features as they are, the room for
a change is ``e (1 - e)``, and on every kind of data a candidate uses about the same part of it:

``log l = room u``,  ``u = (1 - g) (b r + (1 - b) prior(k)) + g harm(k)``

* r is the rehearsed log ratio in units of the rehearsal's own room, trusted by ``b = room / (room + least)``:
  where everything rehearses without an error, nothing can be seen there, and the prior counts: what the
  candidate used on other data at k labels per class.
* g rises from 0 to 1 with how much more mutual the target's neighbourhoods are than those of the playing
  targets (`mutual_share`): then they follow something else than classes, and what trusts them does harm.

Without a rehearsal b is 0, and g follows from the share itself. The same counts, more and more, the farther
the domains are apart. All inputs are the same for few rows and for many; every part is monotone in r and in
the share, and is a few learned numbers by k (``make reproduce WHAT=forecast``).
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from l2t.exceptions import FileFormatError
from l2t.reflection.reliability import Familiarity, Reliability

if TYPE_CHECKING:
    from l2t.experiences import Experience

#: Candidates that trust the neighbourhoods of the target.
TRUSTING = ("spectrum", "classes+spectrum")
#: What is taken off the expected use of room of a candidate of which nothing is known.
UNKNOWN = 0.1
#: So many pairs of one's own weigh as much as what was learned from other data.
OWN_PAIRS = 20
#: Degrees of freedom of the distribution that real ratios have around an expectation.
TAIL = 5.0
#: The least standard deviation of a log ratio: a loss can be larger than the room.
FLOOR = 0.04
#: A use of room beyond these counts as these: it is noise where there is little room.
BOUNDS = (-2.0, 1.5)


class Expectation(NamedTuple):
    """A log improvement ratio with its uncertainty."""

    #: What to expect.
    mean: float
    #: Its standard deviation.
    spread: float
    #: How far a measured ratio is from the true one, because test rows are few.
    noise: float = 0.0

    @property
    def ratio(self) -> float:
        """The improvement ratio."""
        return float(np.exp(self.mean))

    def weighed(self, evidence: Expectation) -> Expectation:
        """Return the expectation after evidence; each counts by its precision.

        Expectations have heavy tails: where evidence contradicts one by several standard deviations, the
        expectation counts less.
        """
        if not self.spread:
            return self
        surprise = (evidence.mean - self.mean) ** 2 / (self.spread**2 + evidence.spread**2)
        doubt = max((TAIL + surprise) / (TAIL + 1.0), 1.0)
        ours, theirs = self.spread**-2 / doubt, evidence.spread**-2
        mean = (ours * self.mean + theirs * evidence.mean) / (ours + theirs)
        return Expectation(mean, (ours + theirs) ** -0.5, self.noise)

    def interval(self, reach: float) -> tuple[float, float]:
        """Return the ratios so many standard deviations away."""
        width = reach * float(np.hypot(self.spread, self.noise)) if self.spread else 0.0
        return float(np.exp(self.mean - width)), float(np.exp(self.mean + width))


@dataclass(frozen=True)
class Signs:
    """What is known of a pair without the labels of its target, and the error on its labelled rows."""

    #: How mutual the target's neighbourhoods are.
    share: float
    #: How much more than those of playing targets of as many rows; None without a rehearsal.
    excess: float | None = None
    #: The error of 1-NN in rehearsal, at the user's number of labels per class.
    error: float = 0.0
    #: The logarithm of the number of target classes over that of the classes that played the target.
    classes_ratio: float = 1.0
    #: The squared distance of the domains' means over the sum of their variances.
    gap: float = 0.0
    #: The leave-one-out error of 1-NN on the labelled target rows.
    own_error: float = 0.0
    #: How many labelled rows that rests on.
    n_own: int = 0
    #: Target rows without a label.
    n_test: int = 1000


class OwnRatios:
    """The ratios of one's own experiences, noted while something else reads them."""

    def __init__(self) -> None:
        #: The algorithm, source and target of all, with a number.
        self.groups: dict[tuple[str, str, str], int] = {}
        #: Of each experience the number of its group, labels per class, accuracy before and ratio.
        self.rows = array("d")

    def noting(self, experiences: Iterable[Experience]) -> Iterator[Experience]:
        """Yield the experiences as they are."""
        for each in experiences:
            if each.n_labels and each.trained_on == "target" and each.algorithm != "identity":
                name = (each.algorithm, each.source, each.target)
                group = self.groups.setdefault(name, len(self.groups))
                shots = each.n_labels / max(each.n_classes, 1)
                self.rows.extend((group, shots, each.accuracy_before, each.improvement_ratio))
            yield each


class Forecast(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was learned of candidates; every tuple is by labels per class."""

    #: Labels per class, rising.
    shots: tuple[int, ...]
    #: The part of the room that a candidate uses on other data; 0 for those not named.
    prior: dict[str, tuple[float, ...]]
    #: The same where neighbourhoods mislead, for candidates that trust them and for others.
    harm: tuple[float, ...]
    other_harm: tuple[float, ...]
    #: The mean error of 1-NN on other data.
    error: tuple[float, ...]
    #: Standard deviation of the use of room, where neighbourhoods are as in rehearsal and where not.
    spread: tuple[float, ...]
    doubtful_spread: tuple[float, ...]
    #: The room in rehearsal at which half of the rehearsed ratio is believed.
    least_room: float
    #: Excess of the share at which the neighbourhoods begin to mislead, and do so wholly; the same for the
    #: share itself, without a rehearsal.
    excess: tuple[float, float]
    share: tuple[float, float]
    #: The gap of the domains at which a rehearsal begins to be doubted, and does not count any more.
    far: tuple[float, float]
    #: How much of the error in rehearsal is believed of the target.
    trust: float
    #: So many labelled rows weigh as much as the expected error.
    own_rows: float
    #: The variance of a measured log ratio, for one test row and even odds.
    noise: float
    #: How the labelled rows count: their slope, the labels per class at which both of their measures count
    #: alike, and the standard error of one row.
    evidence: tuple[float, float, float]
    reliability: Reliability
    #: What the signs of the pairs that it was learned from look like.
    familiarity: Familiarity
    #: How many pairs of one's own are in the prior of a candidate.
    own_pairs: dict[str, int] = {}
    training: dict[str, Any] = {}

    def __post_init__(self) -> None:
        by_shots = (self.harm, self.other_harm, self.error, self.spread, self.doubtful_spread)
        if {len(each) for each in (*by_shots, *self.prior.values())} != {len(self.shots)}:
            raise ValueError("its lists must have one number for each of its shots")

    def expect(self, name: str, signs: Signs, rehearsed: float | None, shots: float) -> Expectation:
        """Return what to expect of a candidate with a log ratio in rehearsal, at so many labels per class."""
        apart = self.apart(signs)
        prior = self._prior(name, shots)
        seen = room_of(signs.error)
        doubt = 1.0 + self.own_pairs.get(name, 0) / OWN_PAIRS
        b = seen / (seen + self.least_room * doubt) if rehearsed is not None else 0.0
        r = float(np.clip((rehearsed or 0.0) / max(seen, 0.01), *BOUNDS))
        near = b * r + (1.0 - b) * prior
        far = prior - (UNKNOWN if name not in self.prior or name != "spectrum" else 0.0)
        g_near = rise(signs.excess or 0.0, self.excess)
        g_far = rise(signs.share, self.share)
        g = (1.0 - apart) * g_near + apart * g_far
        harm = self._at(self.harm if name in TRUSTING else self.other_harm, shots)
        use = (1.0 - apart) * (1.0 - g_near) * near + apart * (1.0 - g_far) * far + g * harm
        spread = (1.0 - g) * self._at(self.spread, shots) + g * self._at(
            self.doubtful_spread, shots
        )
        e = self.expected_error(signs, shots)
        noise = np.sqrt(self.noise * e / (1.0 - e) / max(signs.n_test, 1))
        return Expectation(
            room_of(e) * use, float(np.hypot(room_of(e) * spread, FLOOR)), float(noise)
        )

    def suggested(self, order: float, nearest: float, n_rows: int, shots: float) -> Expectation:
        """Return what labelled target rows suggest.

        `order` and `nearest` are what a candidate adds to the share of triples in order, and of rows whose
        nearest labelled row is of their class (`l2t.inference.evidence`). With few labels per class (`shots`)
        the order says more, with many the nearest row.
        """
        slope, even, error = self.evidence
        w = shots / (shots + even)
        return Expectation(
            slope * ((1.0 - w) * order + w * nearest), error / float(np.sqrt(n_rows))
        )

    def apart(self, signs: Signs) -> float:
        """Return how little a rehearsal counts: 0 for wholly, 1 for not at all."""
        return 1.0 if signs.excess is None else rise(signs.gap, self.far)

    def expected_error(self, signs: Signs, shots: float) -> float:
        """Return the error of 1-NN to expect on the target as it is."""
        usual = self._at(self.error, shots)
        # With more classes than played the target there is more to confuse.
        seen = 1.0 - (1.0 - signs.error) ** signs.classes_ratio
        expected = usual + (1.0 - self.apart(signs)) * self.trust * (seen - usual)
        n, m = signs.n_own, self.own_rows
        return float(np.clip((n * signs.own_error + m * expected) / (n + m), 0.02, 0.98))

    def reach(self, signs: Signs, level: float = 0.9) -> float:
        """Return how many standard deviations an interval reaches; infinite where that is not known."""
        return self.reliability.reach(level) * max(self.strangeness(signs), 1.0)

    def strangeness(self, signs: Signs) -> float:
        """Return how far a pair is from those learned from; above 1 it is unlike all of them."""
        if signs.excess is None:
            return 0.0
        return self.familiarity.distance([signs.share, signs.excess, signs.error, signs.gap])

    def refined(self, experiences: Iterable[Experience]) -> Forecast:
        """Return the forecast after one's own experiences: the prior moves towards what they show.

        What was learned from other data weighs as much as 20 pairs.
        """
        own = OwnRatios()
        deque(own.noting(experiences), maxlen=0)
        return self.refined_by(own)

    def refined_by(self, own: OwnRatios) -> Forecast:
        """Return the same for ratios that were noted before."""
        prior, n_pairs = dict(self.prior), dict(self.own_pairs)
        group, shots, accuracy, ratio = np.array(own.rows).reshape(-1, 4).T
        room = np.maximum(accuracy * (1.0 - accuracy), 0.01)  # that of the error 1 - accuracy
        use = np.clip(np.log(ratio) / room, *BOUNDS)
        at, places = np.log(shots), np.log(self.shots)
        shape = (len(own.groups), len(places))
        run = group.astype(np.intp)
        cell = run * len(places) + np.abs(at[:, None] - places).argmin(axis=1)
        names, code = np.unique([name for name, *_ in own.groups], return_inverse=True)
        for i, name in enumerate(names.tolist()):
            mine = code[run] == i
            old = np.array(prior.get(name, (0.0,) * len(places)))
            left = use[mine] - np.interp(at[mine], places, old)
            counts = np.bincount(cell[mine], minlength=shape[0] * shape[1]).reshape(shape)
            sums = np.bincount(cell[mine], left, minlength=counts.size).reshape(shape)
            means = (sums / np.maximum(counts, 1)).sum(axis=0)
            weight = OWN_PAIRS + n_pairs.get(name, 0) + (counts > 0).sum(axis=0)
            prior[name] = tuple((old + means / weight).tolist())
            n_pairs[name] = n_pairs.get(name, 0) + int(np.sum(code == i))
        return msgspec.structs.replace(self, prior=prior, own_pairs=n_pairs)

    def _prior(self, name: str, shots: float) -> float:
        return self._at(self.prior[name], shots) if name in self.prior else 0.0

    def _at(self, values: tuple[float, ...], shots: float) -> float:
        return float(np.interp(np.log(shots), np.log(self.shots), values))

    def to_json(self) -> str:
        """Return the forecast as JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Forecast:
        """Read a forecast back; a FileFormatError where the text does not hold one."""
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.MsgspecError, ValueError) as error:
            raise FileFormatError(f"this is not a forecast: {error}") from None

    @staticmethod
    @cache
    def default() -> Forecast:
        """Return the forecast that ships with the package."""
        text = resources.files("l2t.reflection").joinpath("forecast.json").read_bytes()
        return Forecast.from_json(text)


def rise(value: float, between: tuple[float, float]) -> float:
    """Return 0 below the first of two numbers, 1 above the second, and a line between them."""
    low, high = between
    return float(np.clip((value - low) / (high - low), 0.0, 1.0))


def room_of(error: float) -> float:
    """Return the room for a change: ``error (1 - error)``."""
    return error * (1.0 - error)
