"""Plain classifiers of a table, trained on the labelled rows of both domains and of the target alone.

Logistic regression, a random forest and boosted trees are trained on the labelled rows of both domains, their
mean probabilities being B, and on those of the target alone (T). The prediction is

``P = (1 - w) B + w T``,  w maximising  ``Σ_i log((1 - w) b_i + w t_i) + 4 log(1 - w) + log(w) / 2``

where b_i and t_i are the probabilities of the given class of labelled target row i by classifiers that were
trained without it: the target's rows must show that the source misleads before it loses weight. The prior of
4 and 1/2 rows was chosen on nine tables (docs/results/tables.md).

Without labelled target rows, classes whose shares differ from those of the source are corrected
(`class_shares`), and the accuracy is estimated from rows of the source alone (`source_checks`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import expit, logit, softmax

from l2t.classifiers.classifiers import Head
from l2t.classifiers.feature_map import FeatureMap
from l2t.classifiers.trees import TreeHead
from l2t.prediction.class_shares import shifted_scores
from l2t.prediction.model import Part, calibration_rows
from l2t.prediction.pooled_rows import DOUBT, LEARNERS, Rows, folds
from l2t.prediction.promise import Promise
from l2t.prediction.source_checks import SourceCheck, check_source
from l2t.prediction.training import Training
from l2t.typing import Array, Indices

#: Maximum number of features for which trees are trained, unless the features are of a table's columns.
MAX_FEATURES = 100
#: Rows that speak for classifiers of both domains, and of the target alone, before any label is seen.
PRIOR_ROWS = (4.0, 0.5)
N_FOLDS = 3
#: Maximum number of labelled target rows in cross-validation.
MAX_LABELED_ROWS = 1500
#: The odds by which a labelled row that only one of two predicts correctly speaks for it, as probabilities of
#: 3/4 and 1/4 do; and the smallest weight that is used, and the largest before any such row.
ODDS = 3.0
LEAST_SHARE = 0.05
MAX_SHARE = 1.0 - LEAST_SHARE
#: Rows that the accuracy carried over from the source counts for. It differs from that on the target by .18,
#: the root mean square over 54 tasks (docs/results/tables.md), as that of 6 rows does.
SOURCE_ROWS = 6.0


@dataclass(frozen=True)
class Member:
    """A trained classifier with its weight in the prediction."""

    classifier: str
    #: "both" or "target".
    trained_on: str
    head: Head | TreeHead
    weight: float


@dataclass(frozen=True, eq=False)
class Pool:
    """Plain classifiers with their weights, and the accuracies that were measured.

    Attributes
    ----------
    features : FeatureMap
        The columns, centred and scaled.
    target_share : float
        The weight w of the classifiers that are trained on the target alone.
    accuracies : dict
        The cross-validated accuracy on labelled target rows of each (classifier, trained_on), and of
        ("average", "both"); empty without such rows.
    n_measured : int
        The number of labelled target rows, or of their groups, behind these accuracies.
    check : SourceCheck
        What the rows of the source say about their classifiers.
    held_out : HeldOut or None
        The probabilities of labelled target rows by cross-validation.
    """

    features: FeatureMap
    target_share: float
    accuracies: dict[tuple[str, str], float]
    n_measured: int
    check: SourceCheck
    held_out: HeldOut | None = field(repr=False)
    _data: Rows = field(repr=False)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The trained classifiers; those of the target alone only if it has labelled rows."""
        labeled = np.flatnonzero(self._data.codes >= 0)
        of_target = labeled[labeled < self._data.n_target]
        w = self.target_share
        return tuple(
            Member(name, trained_on, self._data.fit(name, rows), share / len(LEARNERS))
            for trained_on, rows, share in (("both", labeled, 1.0 - w), ("target", of_target, w))
            if share > 0 and len(rows)
            for name in LEARNERS
        )

    @property
    def parts(self) -> tuple[Part, ...]:
        """The features with each classifier, for a model."""
        return tuple((self.features, member.head) for member in self.members)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights of the classifiers."""
        return tuple(member.weight for member in self.members)

    @cached_property
    def promise(self) -> Promise | None:
        """The accuracy to expect; None without labelled target rows.

        What the source lets expect counts for some rows beside those that were measured.
        """
        if not self.n_measured:
            return None
        basis = f"measured on {self.n_measured} labelled rows"
        accuracy, carried = self.accuracies["average", "both"], self.check.carried_accuracy
        n = self.n_unlabeled
        if carried is None:
            return Promise.measured(accuracy, self.n_measured, n, basis)
        rows = self.n_measured + SOURCE_ROWS
        mean = (self.n_measured * accuracy + SOURCE_ROWS * carried) / rows
        return Promise.of(mean, rows, n, basis)

    @property
    def n_unlabeled(self) -> int:
        """The number of unlabelled target rows, or of their groups."""
        free = self._data.codes[: self._data.n_target] < 0
        return len(np.unique(self._data.groups[: self._data.n_target][free]))

    @cached_property
    def shares(self) -> tuple[Array, Array] | None:
        """What is added to the scores for other class shares in the target, and these; None if nothing is.

        With labelled target rows, classifiers are trained on these.
        """
        codes, n = self._data.codes, self._data.n_target
        if (codes[:n] >= 0).any() or self.check.accuracy is None:
            return None
        Z = self._data.Z[calibration_rows(codes[:n] < 0, 0)]
        P = np.stack([softmax(member.head.scores(Z), axis=1) for member in self.members])
        doubtful = (1.0 - DOUBT) * P + DOUBT / self._data.n_classes
        return shifted_scores(self.check.held_out, self.check.truth, doubtful)

    def share_of(self, accuracy: float | None) -> float:
        """Return the weight of an adaptation with a cross-validated accuracy on labelled target rows.

        Each row that only one of both predicts correctly speaks for it by `ODDS` to 1; without an accuracy,
        the weight is `SourceCheck.adaptation_share`.
        """
        share = self.check.adaptation_share
        if accuracy is None or not self.n_measured or not share:
            return share
        share = min(share, MAX_SHARE)
        rows = self.n_measured * (accuracy - self.accuracies["average", "both"])
        return float(expit(logit(share) + rows * np.log(ODDS)))


def is_table(training: Training, *, encoded: bool) -> bool:
    """Return whether plain classifiers can pay: rows of a table's columns, or of few features."""
    return encoded or training.X.shape[1] <= MAX_FEATURES


def fit_pool(training: Training, *, encoded: bool, random_state: int = 0) -> Pool:
    """Train plain classifiers, and weigh those of both domains against those of the target.

    Parameters
    ----------
    training : Training
        The rows of the target, followed by labelled rows of sources with classes of the target.
    encoded : bool
        Whether the features were made of a table's columns, and so are scaled already.
    random_state : int, default=0
        The seed of the rows that are drawn for cross-validation.

    Returns
    -------
    Pool
    """
    features = _scaled(training, encoded=encoded)
    data = Rows(
        features(training.X),
        training.codes,
        training.groups,
        training.n_target,
        len(training.classes),
    )
    rng = np.random.default_rng(random_state)
    held_out = _cross_validate(data, rng)
    w, accuracies, n_measured = 0.0, {}, 0
    if held_out is not None:
        w, accuracies = held_out.target_share, held_out.accuracies
        n_measured = held_out.n_groups
    return Pool(features, w, accuracies, n_measured, check_source(data, rng), held_out, data)


def _scaled(training: Training, *, encoded: bool) -> FeatureMap:
    """Return the columns centred and divided by their standard deviation, which encoded ones are already."""
    X = training.unmarked.astype(np.float64)
    deviations = None
    if not encoded:
        deviations = X.std(axis=0)
        deviations[deviations == 0] = 1.0
        X = X / deviations
    return FeatureMap(None, X.mean(axis=0), 1.0, columns=deviations)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out probabilities (classifiers, rows, classes) of labelled target rows, and their classes."""

    both: Array
    target: Array
    truth: Indices
    n_groups: int

    @property
    def target_share(self) -> float:
        """The weight w of classifiers of the target alone, by expectation maximisation."""
        rows = np.arange(len(self.truth))
        given = np.stack([P.mean(axis=0)[rows, self.truth] for P in (self.both, self.target)])
        return mixture_weight(given[0], given[1], PRIOR_ROWS)

    @property
    def average(self) -> Array:
        """The probabilities of the average."""
        w = self.target_share
        return np.asarray((1.0 - w) * self.both.mean(axis=0) + w * self.target.mean(axis=0))

    @property
    def accuracies(self) -> dict[tuple[str, str], float]:
        """The accuracy of each classifier, and of their average."""
        accuracies = {("average", "both"): self._accuracy(self.average)}
        for trained_on, probabilities in (("both", self.both), ("target", self.target)):
            for name, P in zip(LEARNERS, probabilities, strict=True):
                accuracies[name, trained_on] = self._accuracy(P)
        return accuracies

    def _accuracy(self, P: Array) -> float:
        return float(np.mean(P.argmax(axis=1) == self.truth))


def mixture_weight(first: Array, second: Array, prior: tuple[float, float]) -> float:
    """Return the w that maximises ``Σ log((1 - w) first + w second) + prior[0] log(1 - w) + prior[1] log w``.

    It is the mode of a concave function, found by expectation maximisation.

    >>> rows = np.ones(5)
    >>> round(mixture_weight(rows, rows, (4.0, 1.0)), 3)
    0.2
    """
    w = prior[1] / sum(prior)
    for _ in range(200):
        explained = w * second / ((1.0 - w) * first + w * second)
        before, w = w, float((explained.sum() + prior[1]) / (len(first) + sum(prior)))
        if abs(w - before) < 1e-9:
            break
    return w


def _cross_validate(data: Rows, rng: np.random.Generator) -> HeldOut | None:
    """Cross-validate on labelled target rows; None if they are of one class or group.

    The accuracy on rows of one class is its recall, which a classifier that knows no other always has. Source
    rows of the groups of test rows are not trained on.
    """
    labeled = np.flatnonzero(data.codes[: data.n_target] >= 0)
    labeled = np.sort(rng.permutation(labeled)[:MAX_LABELED_ROWS])
    source = data.some_of_source(rng)
    splits = list(folds(data.groups[labeled], rng, N_FOLDS))
    if len(splits) < 2 or not len(source) or len(np.unique(data.codes[labeled])) < 2:
        return None
    shape = (len(LEARNERS), len(labeled), data.n_classes)
    both, target = np.empty(shape), np.empty(shape)
    for test in splits:
        own = labeled[~test]
        apart = source[~np.isin(data.groups[source], data.groups[labeled[test]])]
        for place, name in enumerate(LEARNERS):
            pooled = np.concatenate([own, apart])
            both[place, test] = data.probabilities(name, pooled, labeled[test])
            target[place, test] = data.probabilities(name, own, labeled[test])
    n_groups = len(np.unique(data.groups[labeled]))
    return HeldOut(both, target, data.codes[labeled], n_groups)
