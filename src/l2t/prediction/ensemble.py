"""The ensemble: learners whose log-probabilities are added with weights learned from trials.

``p(c | x) ~ exp( sum_k w_k log(p_k(c | x) + floor) )``

The weights w >= 0 minimise the log-loss of the trials, drawn towards weights w0 that were learned on other
data for the same number of labels per class:

``min  40 (1 - doubt) L_plays + L_own + 3 |w - w0|²``

L_plays is the mean log-loss over rows of plays, L_own the sum over the user's labelled rows when they are
held out, and doubt, from 0 to 1, says how little plays tell about the target:

* *misleading*: neighbourhoods do not follow the classes of the target. That is expected by `l2t.forecast`,
  or seen where learners disagree more about the target than in plays. Then w0 moves towards weights that were
  learned on such targets.
* *far*: the source is far away, or its own classes cannot be separated. Then the weights of learners that
  use the known classes move to those of the same kind that do not, and plays count for nothing. Unless
  learners agree about the target much more than in plays, its classes may be as random as those of the source
  (`Ensemble.randomness`).

No winner is chosen, so no accuracy is promised on the number that chose it. This is a logarithmic opinion
pool, or a product of experts (Hinton 2002). The weights w0 are in `ensemble.json`, written by
``make reproduce WHAT=ensemble``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

import msgspec
import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from l2t.forecast.forecast import rise
from l2t.prediction.trials import LEARNERS, MIXTURE, Learner, Trial
from l2t.prediction.views import OWN, PLAIN, SPECTRUM
from l2t.typing import Array, Indices

#: Added to probabilities, so that no learner excludes a class.
FLOOR = 0.01
#: Rows that all plays together count for, and the weight of the distance from w0. Accuracy changes little
#: around these values (docs/results/answers.md).
PLAY_ROWS = 40.0
PENALTY = 3.0
#: The squared distance of the domains relative to their variance (`KnownClasses.distance_to`), from which the
#: known classes begin to lose weight, and from which they have none; and the same for the accuracy above
#: chance in plays.
FAR = (0.2, 0.35)
SKILL = (0.1, 0.2)
#: The excess of the share of pairs of learners that disagree over that in plays, from which neighbourhoods
#: are thought to mislead, and fully so: on usual targets it is below 0.2, on misleading ones with five labels
#: per class above it.
DISAGREEMENT = (0.1, 0.25)
#: Iterations that make the predicted classes equally frequent, where they are known to be.
BALANCING = 50
#: A learner with a smaller share of the sum of all weights is left out, which halves their number and changes
#: accuracies by at most 0.001; and the least sum of weights, where labels are so random that no learner is
#: better than even probabilities.
LEAST_SHARE = 0.04
LEAST_SUM = 0.05


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Weights of `LEARNERS`, learned on other data.

    Attributes
    ----------
    shots : tuple of float
        Labels per class.
    usual, misleading : dict of str to tuple of float
        The weights of each learner at `shots`, by the name of the learner: on usual targets, and on those
        whose neighbourhoods do not follow their classes.
    """

    shots: tuple[float, ...]
    usual: dict[str, tuple[float, ...]]
    misleading: dict[str, tuple[float, ...]]

    def at(self, shots: float, misleading: float = 0.0) -> Array:
        """Return the weights of `LEARNERS` at a number of labels per class, interpolated on a log scale."""
        usual, other = (
            [np.interp(np.log(shots), np.log(self.shots), table[name]) for name in _NAMES]
            for table in (self.usual, self.misleading)
        )
        return np.asarray((1.0 - misleading) * np.array(usual) + misleading * np.array(other))

    @staticmethod
    @cache
    def default() -> Weights:
        """Return the weights that ship with the package."""
        text = resources.files("l2t.prediction").joinpath("ensemble.json").read_bytes()
        return msgspec.json.decode(text, type=Weights)


_NAMES = tuple(learner.name for learner in LEARNERS)


@dataclass(frozen=True)
class Situation:
    """What is known of a target besides its labels, for the weights of an ensemble.

    Attributes
    ----------
    shots : float
        Labels per class.
    misleading : float
        How far neighbourhoods are expected to mislead, from 0 to 1.
    distance : float
        The distance of the target from the known classes (`KnownClasses.distance_to`); infinite without two.
    easier : float
        How much more learners agree about the target than in plays, from 0 to 1.
    """

    shots: float
    misleading: float = 0.0
    distance: float = 0.0
    easier: float = 1.0

    def seen(self, target: Trial, plays: Sequence[Trial]) -> Situation:
        """Return the situation after the learners have answered for the target and in plays.

        `target` has the answers for rows of the target; their classes are not read.
        """
        if not plays:
            return self
        usual = float(np.mean([trial.disagreement for trial in plays]))
        excess = target.disagreement - usual
        misleading = max(self.misleading, rise(excess, DISAGREEMENT))
        return replace(self, misleading=misleading, easier=rise(-excess, DISAGREEMENT))


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The weights of `LEARNERS` for one target.

    Attributes
    ----------
    weights : array of shape (n_learners,)
        The weights.
    doubt : float
        How little the plays tell about the target, from 0 to 1.
    randomness : float, default=0
        How much speaks for classes of the target that are random: those of the plays cannot be separated,
        and learners do not agree more about the target. From 0 to 1.
    """

    weights: Array
    doubt: float
    randomness: float = 0.0

    @property
    def used(self) -> dict[Learner, float]:
        """The learners that are used with their weights, largest first."""
        order = np.argsort(-self.weights, kind="stable")
        return {LEARNERS[k]: float(self.weights[k]) for k in order if self.weights[k] > 0}

    def probabilities(self, trial: Trial) -> Array:
        """Return the probabilities (rows, classes) of a trial's rows."""
        return np.asarray(softmax(np.tensordot(self.weights, _logs(trial), 1), axis=1))

    def accuracy(self, trials: Sequence[Trial]) -> float:
        """Return the accuracy over all rows of some trials."""
        right = [self.probabilities(trial).argmax(axis=1) == trial.codes for trial in trials]
        return float(np.concatenate(right).mean())


def fit_ensemble(
    situation: Situation,
    plays: Sequence[Trial] = (),
    own: Trial | None = None,
    weights: Weights | None = None,
) -> Ensemble:
    """Fit the weights of learners.

    Parameters
    ----------
    situation : Situation
        What is known of the target.
    plays : sequence of Trial, default=()
        The trials in plays of known classes.
    own : Trial or None, default=None
        The trial on the user's labelled rows.
    weights : Weights or None, default=None
        Weights learned on other data; by default those that ship with the package.

    Returns
    -------
    Ensemble
    """
    prior = weights or Weights.default()
    w0 = prior.at(situation.shots)
    unskilled = 1.0 - rise(_skill(plays, w0), SKILL) if plays else 0.0
    far = max(rise(situation.distance, FAR), unskilled)
    w0 = (1.0 - far) * w0 + far * _without_known_classes(w0)
    m = situation.misleading
    w0 = (1.0 - m) * w0 + m * prior.at(situation.shots, 1.0)
    if np.isinf(situation.distance):  # no view depends on known classes
        w0 = _without_known_classes(w0)
    doubt = 1.0 - (1.0 - far) * (1.0 - m)
    losses = []
    n_rows = sum(len(trial.codes) for trial in plays)
    if plays and doubt < 1.0:
        weight = PLAY_ROWS * (1.0 - doubt) / n_rows
        losses += [(_logs(trial), trial.codes, weight) for trial in plays]
    if own is not None:
        losses.append((_logs(own), own.codes, 1.0))
    w = _minimise(losses, w0)
    if w.sum() < LEAST_SUM:
        w = LEAST_SUM * w0 / w0.sum()
    used = (w > LEAST_SHARE * w.sum()) | (w == w.max())
    return Ensemble(np.where(used, w, 0.0), doubt, unskilled * (1.0 - situation.easier))


def balancing_shift(scores: Array) -> Array:
    """Return what is added to the scores of classes that are known to be equally frequent.

    Parameters
    ----------
    scores : array of shape (n, n_classes)
        Scores of unlabelled rows, whose softmax is the probability.

    Returns
    -------
    array of shape (n_classes,)
    """
    shift = np.zeros(scores.shape[1])
    for _ in range(BALANCING if len(scores) else 0):
        frequency = softmax(scores + shift, axis=1).mean(axis=0)
        shift -= np.log(np.maximum(frequency * len(shift), np.finfo(float).tiny))
    return shift


def _logs(trial: Trial) -> Array:
    """Return the logarithms (learners, rows, classes) of the probabilities of `LEARNERS`."""
    places = [trial.learners.index(learner) for learner in LEARNERS]
    return np.log(trial.probabilities[places] + FLOOR)


def _skill(plays: Sequence[Trial], weights: Array) -> float:
    """Return how well the classes of plays are separated: 0 at chance level, 1 without errors."""
    chance = float(np.mean([1.0 / trial.n_classes for trial in plays]))
    return (Ensemble(weights, 0.0).accuracy(plays) - chance) / (1.0 - chance)


def _without_known_classes(weights: Array) -> Array:
    """Return the weights moved to learners in views that do not depend on known classes."""
    moved = np.zeros_like(weights)
    for weight, learner in zip(weights, LEARNERS, strict=True):
        own, classifier = learner.view, learner.classifier
        if classifier == MIXTURE:
            own, classifier = SPECTRUM, "smoothed logistic"
        elif own not in OWN:
            own = SPECTRUM if own.endswith(SPECTRUM) else PLAIN
        moved[LEARNERS.index(Learner(classifier, own))] += weight
    return moved


def _minimise(losses: Sequence[tuple[Array, Indices, float]], w0: Array) -> Array:
    """Return the weights w >= 0 of least loss; `losses` are logs, codes and weights of rows."""
    w0 = np.maximum(w0, 0.0)
    if not losses:
        return w0

    def value_and_gradient(w: Array) -> tuple[float, Array]:
        value = PENALTY * float(np.sum((w - w0) ** 2))
        gradient = 2.0 * PENALTY * (w - w0)
        for logs, codes, weight in losses:
            log_p = log_softmax(np.tensordot(w, logs, 1), axis=1)
            rows = np.arange(len(codes))
            value -= weight * float(log_p[rows, codes].sum())
            residual = np.exp(log_p)
            residual[rows, codes] -= 1.0
            gradient += weight * np.tensordot(logs, residual, ((1, 2), (0, 1)))
        return value, gradient

    bounds = [(0.0, None)] * len(w0)
    solved = minimize(value_and_gradient, w0, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(solved.x)


def learner_accuracy(trials: Sequence[Trial], learner: Learner) -> float:
    """Return the accuracy of one learner over all rows of some trials."""
    sizes = [len(trial.codes) for trial in trials]
    return float(np.average([trial.accuracy(learner) for trial in trials], weights=sizes))
