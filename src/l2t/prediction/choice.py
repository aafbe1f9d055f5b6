"""Choice of a combination: what should be gained over a safe default, learned from tasks of many kinds.

The default is logistic regression on centred rows of the features that inference chose. For another
combination of features and classifier, at k labels per class, the gain in accuracy is expected to be

``(a + a' log k) s r + c e + v n / (n + n0) m + prior(k)``

* r is the mean difference d to the default in rehearsal, shrunk by its error s_d to ``d³ / (d² + s_d²)``. It
  counts by ``s = error / (error + room)``: where the default hardly errs in rehearsal, there is no room to
  see a gain in;
* e is what inference expects of the features beyond what they rehearsed;
* m is the difference on the n labelled rows, cross-validated;
* the prior is a line in log k for each classifier, and for each kind of features.

The probabilities of up to four combinations are averaged: those that should gain most, and the default where
fewer should gain anything. Without a rehearsal, and where inference expects that the target's neighbourhoods
mislead unlike those in rehearsal, the labelled rows alone count, and a gain must be clear; in the second case
nothing that trusts neighbourhoods takes the place of the default.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from l2t.experiences.evaluation import expected_accuracy
from l2t.prediction.classifiers import BALANCED
from l2t.prediction.report import ReportRow
from l2t.prediction.scoring import Scores
from l2t.typing import Array

#: Features and classifiers that trust the neighbourhoods of the target.
TRUSTING = {"spectrum", "classes+spectrum", "label spreading", "smoothed logistic", "soft k-means"}
TRUSTING |= set(BALANCED)
#: Neighbourhoods mislead where inference takes so much off the log ratio that "spectrum" rehearsed.
MISLED = -0.1
#: Combinations that are averaged, at most.
AVERAGED = 4
#: The gain for which the default is left, and n0, where no rehearsal counts.
CLEAR = 0.02
CLEAR_ROWS = 60.0
MOST_SHOTS = 20.0
#: Standard deviation of real accuracies around rehearsed ones.
SPREAD = 0.1
#: No accuracy above this is promised.
MOST = 0.99

Combination = tuple[str, str]
Line = tuple[float, float]


@dataclass(frozen=True)
class Rule:
    """The numbers a and a', c, v, room, n0 and the priors of the module; a line is one in log k."""

    rehearsed: Line
    correction: float
    measured: float
    room: float
    rows: float
    classifiers: Mapping[str, Line]
    features: Mapping[str, Line]

    @staticmethod
    @cache
    def default() -> Rule:
        """Return the rule that ships with the package."""
        text = (resources.files("l2t.prediction") / "choice.json").read_text()
        return Rule(**json.loads(text))

    def prior(self, combination: Combination, shots: float) -> float:
        """Return the prior of a combination."""
        features, classifier = combination
        lines = self.features.get(features, (0.0, 0.0)), self.classifiers[classifier]
        return float(sum(start + slope * log_shots(shots) for start, slope in lines))


@dataclass(frozen=True, eq=False)
class Situation:
    """What combinations were worth in rehearsal and on the labelled rows of a target of `n_classes`.

    `corrections` are logs of the improvement ratios that inference expects over the rehearsed ones, `default`
    is what others are compared with, and `shots` are labelled rows per class.
    """

    rehearsed: Scores | None
    measured: Scores | None
    corrections: Mapping[str, float]
    default: Combination
    shots: float
    n_classes: int

    def inputs(self, combination: Combination, room: float, rows: float) -> Array:
        """Return what the gain of a combination is linear in: s r, s r log k, e and the measured part."""
        found = np.zeros(4)
        if self.rehearsed is not None:
            gain = self.rehearsed.of(*combination) - (base := self.rehearsed.of(*self.default))
            if np.isfinite(gain).all():
                error = 1.0 - float(base.mean())
                r = _shrunk(gain) * (error / (error + room) if error > 0 else 0.0)
                ours, theirs = (
                    self.corrections.get(each[0], 0.0) for each in (combination, self.default)
                )
                e = ours - theirs
                found[:3] = r, r * log_shots(self.shots), e * float(base.mean())
        if self.measured is not None:
            m = self.measured.mean(*combination) - self.measured.mean(*self.default)
            n = self.measured.n_rows
            found[3] = m * n / (n + rows) if np.isfinite(m) else 0.0
        return found

    @property
    def rehearsal_counts(self) -> bool:
        """Whether there is a rehearsal, and the target's neighbourhoods are as in it."""
        return self.rehearsed is not None and self.corrections.get("spectrum", 0.0) >= MISLED

    def usable(self, combination: Combination, *, balanced: bool = False) -> bool:
        """Tell whether a combination may be used, where balanced classes are known or not."""
        misled = self.rehearsed is not None and not self.rehearsal_counts
        if misled and combination != self.default and TRUSTING & set(combination):
            return False
        return balanced or combination[1] not in BALANCED

    def gain(self, combination: Combination, rule: Rule) -> float:
        """Return the expected gain of a combination over the default."""
        if not self.rehearsal_counts:
            return float(self.inputs(combination, rule.room, CLEAR_ROWS)[3])
        weights = (*rule.rehearsed, rule.correction, rule.measured)
        gain = float(self.inputs(combination, rule.room, rule.rows) @ weights)
        return gain + rule.prior(combination, self.shots) - rule.prior(self.default, self.shots)

    def outlook(self, combination: Combination, rule: Rule) -> ReportRow:
        """Return what to expect of a combination: its gain over what to expect of the default."""
        gain, level, deviation = self.gain(combination, rule), None, SPREAD
        if self.rehearsed is not None and self.rehearsal_counts:  # the skill of its classes
            base = self.rehearsed.of(*self.default).mean()
            skill = (base - 1 / self.rehearsed.n_classes) / (1 - 1 / self.rehearsed.n_classes)
            level = 1 / self.n_classes + skill * (1 - 1 / self.n_classes)
        accuracy, error = self._measured(self.default)
        if self.measured is not None and accuracy is not None and error is not None:
            accuracy = expected_accuracy(accuracy, self.measured.n_rows)
            if level is None or abs(level - accuracy) > 2.0 * np.hypot(SPREAD, error):
                level = accuracy  # the rehearsal is of something else
                deviation = error
            else:
                level = np.average([level, accuracy], weights=[SPREAD**-2, error**-2])
                deviation = float((SPREAD**-2 + error**-2) ** -0.5)
        expected = None if level is None else float(np.clip(level + gain, 0.0, MOST))
        row = ReportRow(*combination, gain, expected, *self._measured(combination))
        return row.with_interval(deviation)

    def _measured(self, combination: Combination) -> tuple[float | None, float | None]:
        """Return the accuracy on the labelled rows, and its standard error."""
        if self.measured is None or not np.isfinite(self.measured.mean(*combination)):
            return None, None
        accuracy = self.measured.mean(*combination)
        return accuracy, standard_error(accuracy, self.measured.n_rows)


def choose(
    combinations: list[Combination],
    situation: Situation,
    *,
    balanced: bool = False,
    single: bool = False,
    rule: Rule | None = None,
) -> tuple[list[ReportRow], list[ReportRow]]:
    """Return the outlooks of the combinations to average, a `single` one where wanted, and those of all."""
    rule = rule or Rule.default()
    outlooks = {each: situation.outlook(each, rule) for each in combinations}
    usable = (each for each in combinations if situation.usable(each, balanced=balanced))
    used = to_average({each: outlooks[each].gain for each in usable}, situation, single=single)
    return [outlooks[each] for each in used], list(outlooks.values())


def to_average(
    gains: Mapping[Combination, float], situation: Situation, *, single: bool = False
) -> list[Combination]:
    """Return the combinations to average, best first: those that should gain over the default, and it."""
    least = CLEAR if single or not situation.rehearsal_counts else 0.0
    better = [each for each in sorted(gains, key=lambda each: -gains[each]) if gains[each] > least]
    return [*better, situation.default][: 1 if single else AVERAGED]


def standard_error(accuracy: float, n: int) -> float:
    """Return the standard error of an accuracy on n rows, above zero where all of them are right."""
    return float(np.sqrt((accuracy * (1 - accuracy) + 0.25 / n) / n))


def log_shots(shots: float) -> float:
    """Return log k; the rule has met up to 20 labels per class."""
    return float(np.log(min(shots, MOST_SHOTS)))


def _shrunk(differences: Array) -> float:
    """Return the mean of differences, the smaller the larger its error is."""
    d = float(differences.mean())
    s = float(differences.std(ddof=1) / np.sqrt(len(differences))) if len(differences) > 1 else 1.0
    return d**3 / (d**2 + s**2) if d else 0.0
