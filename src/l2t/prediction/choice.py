"""Choice of a combination: a safe default, left only for an advantage that is large against its error.

The gain of a combination over the default, in accuracy, is expected from

* rehearsal: the mean difference d over the plays, shrunk by its error s to ``d³ / (d² + s²)``, less where the
  default hardly errs in rehearsal. What inference expects of a candidate's features beyond what they
  rehearsed (that neighbourhoods mislead, or that the domains are far apart) is added;
* cross-validation on the labelled rows, weighed by precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from l2t.prediction.classifiers import BALANCED, DEFAULT
from l2t.prediction.scoring import PLAIN, Scores
from l2t.typing import Array

__all__ = ["Outlook", "Rule", "choose"]

#: Classifiers that trust the neighbourhoods of the target, as the features "spectrum" do.
TRUSTING = ("label spreading", "smoothed logistic", "soft k-means", "balanced k-means")


@dataclass(frozen=True)
class Rule:
    """The numbers of the choice.

    Attributes
    ----------
    spread : float
        Standard deviation of real gains around what rehearsal expects.
    error : float
        Standard deviation of a difference between two combinations on one labelled row.
    room : float
        The default's error in rehearsal at which half of a rehearsed gain is believed.
    least : float
        The gain for which the default is left.
    """

    spread: float = 0.04
    error: float = 0.5
    room: float = 0.02
    least: float = 0.01


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
    combinations: list[tuple[str, str]],
    rehearsed: Scores | None,
    measured: Scores | None,
    corrections: Mapping[str, float],
    *,
    features: str = PLAIN,
    n_classes: int,
    balanced: bool = False,
    rule: Rule | None = None,
) -> tuple[Outlook, list[Outlook]]:
    """Return the combination to use, and the outlook of all.

    Parameters
    ----------
    combinations : list of (str, str)
        Features and classifiers to choose from.
    rehearsed, measured : Scores or None
        What they were worth in rehearsal, and on the labelled rows.
    corrections : mapping of str to float
        Log of the improvement ratio that inference expects of features over the one they rehearsed.
    features : str
        The features of the default.
    n_classes : int
        The classes of the target.
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
    rule = rule or Rule()
    names = [name for _, name in combinations]
    default = features, DEFAULT if DEFAULT in names else names[0]
    outlooks = [
        _outlook(each, default, rehearsed, measured, corrections, n_classes, rule)
        for each in combinations
    ]
    usable = [each for each in outlooks if balanced or each.classifier not in BALANCED]
    first = next((each for each in usable if (each.features, each.classifier) == default), None)
    best = max(usable, key=lambda each: each.gain)
    if first is None or best.gain > first.gain + rule.least:
        return best, outlooks
    return first, outlooks


def _outlook(
    combination: tuple[str, str],
    default: tuple[str, str],
    rehearsed: Scores | None,
    measured: Scores | None,
    corrections: Mapping[str, float],
    n_classes: int,
    rule: Rule,
) -> Outlook:
    gain, level = 0.0, None
    if rehearsed is not None and np.isfinite(rehearsed.of(*combination)).all():
        ours, theirs = rehearsed.of(*combination), rehearsed.of(*default)
        base = float(theirs.mean())
        gain = _shrunk(ours - theirs) * _share(1.0 - base, rule.room)
        gain += base * (_correction(combination, corrections) - _correction(default, corrections))
        level = _level(rehearsed, n_classes, float(theirs.mean()) + gain)
    if measured is None or not np.isfinite(measured.of(*combination)).all():
        return Outlook(*combination, gain, level, None, None)
    accuracy, theirs_too = (_mean(measured, each) for each in (combination, default))
    error = float(np.sqrt((accuracy * (1 - accuracy) + 0.25 / measured.n_rows) / measured.n_rows))
    if np.isfinite(theirs_too):
        weights = rule.spread**-2, measured.n_rows / rule.error**2
        gain = float(np.average([gain, accuracy - theirs_too], weights=weights))
    if level is None:
        level = accuracy
    else:
        level = float(np.average([level, accuracy], weights=[0.1**-2, error**-2]))
    return Outlook(*combination, gain, level, accuracy, error)


def _mean(scores: Scores, combination: tuple[str, str]) -> float:
    return float(np.average(scores.of(*combination), weights=scores.sizes))


def _shrunk(differences: Array) -> float:
    """Return the mean of differences, the smaller the larger its error is."""
    d = float(differences.mean())
    s = float(differences.std(ddof=1) / np.sqrt(len(differences))) if len(differences) > 1 else 1.0
    return d**3 / (d**2 + s**2) if d else 0.0


def _share(error: float, room: float) -> float:
    return error / (error + room) if error > 0 else 0.0


def _correction(combination: tuple[str, str], corrections: Mapping[str, float]) -> float:
    features, classifier = combination
    found = corrections.get(features, 0.0)
    if classifier in TRUSTING:
        found = min(found, corrections.get("spectrum", 0.0))
    return found


def _level(rehearsed: Scores, n_classes: int, accuracy: float) -> float:
    """Return an accuracy in rehearsal for as many classes as the target has, with the same skill."""
    chance = 1.0 / rehearsed.n_classes
    skill = (accuracy - chance) / (1.0 - chance)
    return float(np.clip(1.0 / n_classes + skill * (1.0 - 1.0 / n_classes), 0.0, 1.0))
