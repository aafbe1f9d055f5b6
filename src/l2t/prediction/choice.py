"""Choice of a combination: what should be gained over a safe default, learned from tasks of many kinds.

The default is logistic regression on centred rows of the features that inference chose. For another
combination of features and classifier, at k labels per class, the gain in accuracy is expected to be

``(a + a' log k) s r + c e + v n / (n + n0) m + prior(k)``

* r is the mean difference d to the default in rehearsal, shrunk by its error s_d to ``d³ / (d² + s_d²)``. It
  counts by ``s = error / (error + room)``: where the default hardly errs in rehearsal, there is no room to
  see a gain in;
* e is what inference expects of the features beyond what they rehearsed (that neighbourhoods mislead, or that
  the domains are far apart); classifiers that trust neighbourhoods are taken for "spectrum" here;
* m is the difference on the n labelled rows, cross-validated;
* the prior is a line in log k for each classifier, and for each kind of features.

Without a rehearsal the labelled rows alone count, and the default is left for a clear gain only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from l2t.prediction.classifiers import BALANCED, DEFAULT
from l2t.prediction.scoring import PLAIN, Scores
from l2t.typing import Array

__all__ = ["Outlook", "Rule", "Situation", "choose"]

#: Classifiers that trust the neighbourhoods of the target, as the features "spectrum" do.
TRUSTING = ("label spreading", "smoothed logistic", "soft k-means", "balanced k-means")
#: The gain for which the default is left where nothing was rehearsed.
CLEAR = 0.03
#: Standard deviation of real accuracies around rehearsed ones.
SPREAD = 0.1

Combination = tuple[str, str]


@dataclass(frozen=True)
class Rule:
    """The numbers of the choice; see the module.

    Attributes
    ----------
    rehearsed : (float, float)
        The weight of a rehearsed gain: at one label per class, and what log k adds.
    correction : float
        The weight of what inference expects.
    measured : float
        The weight of the labelled rows.
    room : float
        The default's error in rehearsal at which half of a gain counts.
    rows : float
        The number of labelled rows at which half of theirs counts.
    classifiers, features : mapping of str to (float, float)
        The priors: at one label per class, and what log k adds.
    """

    rehearsed: tuple[float, float]
    correction: float
    measured: float
    room: float
    rows: float
    classifiers: Mapping[str, tuple[float, float]]
    features: Mapping[str, tuple[float, float]]

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
        return float(sum(start + slope * np.log(shots) for start, slope in lines))


@dataclass(frozen=True, eq=False)
class Situation:
    """What is known of the combinations for one target.

    Attributes
    ----------
    rehearsed, measured : Scores or None
        What they were worth in rehearsal, and on the labelled rows.
    corrections : mapping of str to float
        Log of the improvement ratio that inference expects of features over the one they rehearsed.
    default : (str, str)
        The features and the classifier that others are compared with.
    shots : float
        Labelled rows per class.
    n_classes : int
        The classes of the target.
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
                e = self._correction(combination) - self._correction(self.default)
                found[:3] = r, r * np.log(self.shots), e * float(base.mean())
        if self.measured is not None:
            m = _mean(self.measured, combination) - _mean(self.measured, self.default)
            n = self.measured.n_rows
            found[3] = m * n / (n + rows) if np.isfinite(m) else 0.0
        return found

    def _correction(self, combination: Combination) -> float:
        features, classifier = combination
        found = self.corrections.get(features, 0.0)
        if classifier in TRUSTING:
            found = min(found, self.corrections.get("spectrum", 0.0))
        return found

    def gain(self, combination: Combination, rule: Rule) -> float:
        """Return the expected gain of a combination over the default."""
        weights = (*rule.rehearsed, rule.correction, rule.measured)
        gain = float(self.inputs(combination, rule.room, rule.rows) @ weights)
        if self.rehearsed is not None:
            gain += rule.prior(combination, self.shots) - rule.prior(self.default, self.shots)
        return gain

    def level(self, gain: float) -> float | None:
        """Return the accuracy of the default in rehearsal and a gain, for the classes of the target."""
        if self.rehearsed is None:
            return None
        accuracy = float(np.clip(self.rehearsed.of(*self.default).mean() + gain, 0.0, 1.0))
        chance = 1.0 / self.rehearsed.n_classes
        skill = (accuracy - chance) / (1.0 - chance)
        return float(np.clip(1.0 / self.n_classes + skill * (1.0 - 1.0 / self.n_classes), 0.0, 1.0))


@dataclass(frozen=True)
class Outlook:
    """What to expect of a combination.

    Attributes
    ----------
    features, classifier : str
        The combination.
    gain : float
        Expected accuracy over that of the default.
    expected : float or None
        Expected accuracy; None where nothing was measured.
    measured, error : float or None
        Accuracy on the labelled rows, and its standard error.
    """

    features: str
    classifier: str
    gain: float
    expected: float | None
    measured: float | None
    error: float | None


def choose(
    combinations: list[Combination],
    rehearsed: Scores | None,
    measured: Scores | None,
    corrections: Mapping[str, float],
    *,
    features: str = PLAIN,
    shots: float,
    n_classes: int,
    balanced: bool = False,
    rule: Rule | None = None,
) -> tuple[Outlook, list[Outlook]]:
    """Return the combination to use, and the outlook of all.

    Parameters
    ----------
    combinations : list of (str, str)
        Features and classifiers to choose from.
    rehearsed, measured, corrections, shots, n_classes
        As for `Situation`.
    features : str
        The features of the default.
    balanced : bool, default=False
        Whether all classes are known to have about the same number of rows.
    rule : Rule, optional
        The numbers of the choice.

    Returns
    -------
    used : Outlook
        The choice.
    outlooks : list of Outlook
        All combinations, in the order given.
    """
    rule = rule or Rule.default()
    names = [name for _, name in combinations]
    default = features, DEFAULT if DEFAULT in names else names[0]
    if rehearsed is not None and not np.isfinite(rehearsed.of(*default)).all():
        rehearsed = None  # the features of the default could not be rehearsed
    situation = Situation(rehearsed, measured, corrections, default, shots, n_classes)
    outlooks = [_outlook(each, situation, rule) for each in combinations]
    usable = [each for each in outlooks if balanced or each.classifier not in BALANCED]
    best = max(usable, key=lambda each: each.gain)
    first = next((each for each in usable if (each.features, each.classifier) == default), None)
    if first is not None and best.gain <= (CLEAR if rehearsed is None else 0.0):
        return first, outlooks
    return best, outlooks


def _outlook(combination: Combination, situation: Situation, rule: Rule) -> Outlook:
    gain = situation.gain(combination, rule)
    level, measured = situation.level(gain), situation.measured
    if measured is None or not np.isfinite(measured.of(*combination)).all():
        return Outlook(*combination, gain, level, None, None)
    accuracy, n = _mean(measured, combination), measured.n_rows
    error = float(np.sqrt((accuracy * (1 - accuracy) + 0.25 / n) / n))
    if level is None:
        level = accuracy
    else:
        level = float(np.average([level, accuracy], weights=[SPREAD**-2, error**-2]))
    return Outlook(*combination, gain, level, accuracy, error)


def _mean(scores: Scores, combination: Combination) -> float:
    return float(np.average(scores.of(*combination), weights=scores.sizes))


def _shrunk(differences: Array) -> float:
    """Return the mean of differences, the smaller the larger its error is."""
    d = float(differences.mean())
    s = float(differences.std(ddof=1) / np.sqrt(len(differences))) if len(differences) > 1 else 1.0
    return d**3 / (d**2 + s**2) if d else 0.0
