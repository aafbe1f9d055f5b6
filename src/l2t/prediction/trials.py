"""Trials: answers of learners for rows whose classes are known, in plays and on the user's own labelled rows.

A *learner* is a classifier in a view (`views`). In a play, some of the known classes are the target and the
others the source: the views are fitted to them, and the learners get as many labels as the user has. On the
user's labelled rows the learners are cross-validated; views do not depend on labels, so they are fitted once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from l2t.classifiers.classifiers import (
    C_DEFAULT,
    CLASSIFIERS,
    DEFAULT,
    Head,
    NeighbourGraph,
    TrainingSet,
)
from l2t.classifiers.feature_map import Evaluation
from l2t.classifiers.trees import TreeHead
from l2t.domains import Domain, KnownClasses
from l2t.experiences.evaluation import rows_to_test
from l2t.numerics import LRUCache
from l2t.prediction.views import (
    CENTRED,
    CLASSES,
    GAUSSIAN,
    NETWORK,
    ORIGINAL,
    PLAIN,
    SUFFIX,
    View,
    fit_views,
)
from l2t.rehearsal.plays import draw_plays, playing_classes
from l2t.typing import AnyArray, Array, Indices

Split = tuple[Indices, Indices]

#: Three plays are as good as six (docs/results/answers.md).
N_TRIAL_PLAYS = 3
#: Random draws of labelled rows per play, by the least number of labels per class: few labels vary more.
DRAWS_BY_SHOTS = {1: 2, 5: 1}
#: Maximum number of target rows that learners are trained on, labelled or not, and of labelled rows among
#: them that they are cross-validated on.
MAX_TRAINED_ROWS = 1500
MAX_TESTED_ROWS = 500
#: Maximum number of rows of a play's target, and of labels per class in it.
MAX_PLAY_ROWS = 600
MAX_SHOTS = 40
N_FOLDS = 4
#: Numbers of lists of plays with fitted views, and of lists of trials, that are cached in the process.
N_CACHED_PLAYS, N_CACHED_TRIALS = 4, 64
_plays: LRUCache[list[FittedPlay]] = LRUCache(N_CACHED_PLAYS)
_trials: LRUCache[tuple[Trial, ...]] = LRUCache(N_CACHED_TRIALS)


class Learner(NamedTuple):
    """A classifier, by its name, in a view."""

    classifier: str
    view: str

    @property
    def name(self) -> str:
        """The name for display."""
        plain = self.view in (ORIGINAL, PLAIN)
        return self.classifier if plain else f"{self.classifier} on {self.view}"


#: The classifiers that are trained in each view with rows of norm 1.
IN_EVERY_VIEW = (DEFAULT, "label spreading", "smoothed logistic")
MIXTURE = "gaussian mixture"
#: What an ensemble is made of.
LEARNERS = (
    *(Learner(classifier, view) for view in CENTRED for classifier in IN_EVERY_VIEW),
    *(Learner(MIXTURE, view) for view in GAUSSIAN),
)
#: Learners whose disagreement is measured.
DIFFERENT = (
    *(
        Learner(classifier, view)
        for view in (PLAIN, CLASSES + SUFFIX, NETWORK)
        for classifier in IN_EVERY_VIEW[:2]
    ),
    *(learner for learner in LEARNERS if learner.classifier == MIXTURE),
)
#: Classifiers of the original features that are compared with the ensemble, but are not in it.
BASELINES = tuple(
    Learner(name, ORIGINAL) for name in ("nearest neighbour", "nearest centroid", "logistic")
)


class ViewRows:
    """Rows of a target in several views, each with its graph."""

    def __init__(self, views: Mapping[str, View], X: AnyArray) -> None:
        evaluate = Evaluation(X)
        self.variances = {name: view.variances for name, view in views.items()}
        self.rows = {name: evaluate(view.features) for name, view in views.items()}
        self._graphs: dict[str, NeighbourGraph] = {}

    def training_set(self, view: str, at: Indices, codes: Indices, n_classes: int) -> TrainingSet:
        """Return the rows in a view with the classes of the labelled ones."""
        Z = self.rows[view]
        if view not in self._graphs:
            self._graphs[view] = NeighbourGraph(Z)
        return TrainingSet(Z, at, codes, n_classes, self._graphs[view], self.variances[view])

    def fit(
        self, learners: Iterable[Learner], at: Indices, codes: Indices, n_classes: int
    ) -> dict[Learner, Head | TreeHead]:
        """Train learners on the labelled rows; those whose view does not exist are left out."""
        heads: dict[Learner, Head | TreeHead] = {}
        for learner in learners:
            if learner.view not in self.rows:
                continue
            task = self.training_set(learner.view, at, codes, n_classes)
            guess = heads.get(Learner(DEFAULT, learner.view))
            heads[learner] = CLASSIFIERS[learner.classifier].fit(
                task, C_DEFAULT, guess if isinstance(guess, Head) else None
            )
        return heads

    def probabilities(
        self, heads: Mapping[Learner, Head | TreeHead], learners: Sequence[Learner], test: Indices
    ) -> Array:
        """Return the probabilities (learners, rows, classes) of some rows by trained learners.

        Those of a learner that was not trained, because its view does not exist, are even.
        """
        answers = {}
        for learner, head in heads.items():
            Z = self.rows[learner.view]
            if isinstance(head, Head) and head.rows is Z and head.shares is not None:
                answers[learner] = head.shares[test]  # these rows were in the graph
            else:
                answers[learner] = softmax(head.scores(Z[test]), axis=1)
        even = np.ones_like(next(iter(answers.values())))
        even /= even.shape[1]
        return np.stack([answers.get(learner, even) for learner in learners])

    def answer(
        self, learners: Sequence[Learner], split: Split, codes: Indices, n_classes: int
    ) -> Array:
        """Return probabilities (learners, tested rows, classes) after training on the labelled rows.

        `codes` are those of all rows.
        """
        at, test = split
        return self.probabilities(self.fit(learners, at, codes[at], n_classes), learners, test)


@dataclass(frozen=True, eq=False)
class Trial:
    """Probabilities (learners, rows, classes) of rows with known classes."""

    learners: tuple[Learner, ...]
    probabilities: Array
    codes: Indices

    def accuracy(self, learner: Learner) -> float:
        """Return the share of rows for which a learner is right."""
        predicted = self.probabilities[self.learners.index(learner)].argmax(axis=1)
        return float(np.mean(predicted == self.codes))

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.probabilities.shape[2])

    @property
    def disagreement(self) -> float:
        """How often two learners of different kinds or views predict different classes."""
        places = [self.learners.index(learner) for learner in DIFFERENT]
        predicted = self.probabilities[places].argmax(axis=2)
        pairs = np.triu_indices(len(places), 1)
        return float(np.mean(predicted[pairs[0]] != predicted[pairs[1]]))


class FittedPlay(NamedTuple):
    """The target of a play, with its rows in the views of the play."""

    target: Domain
    rows: ViewRows


def rehearse_learners(
    known: KnownClasses,
    *,
    n_classes: int,
    rows_per_class: int,
    shots: float,
    learners: Sequence[Learner] = (*LEARNERS, *BASELINES),
    random_state: int = 0,
) -> tuple[Trial, ...]:
    """Return the trials of learners in plays of known classes; they are cached by content.

    Parameters
    ----------
    known : KnownClasses
        The known classes, without rows of the target. There is no play with fewer than three.
    n_classes, rows_per_class : int
        The numbers of classes of the target, and of its rows per class.
    shots : float
        Labels per class.
    learners : sequence of Learner
        The learners.
    random_state : int, default=0
        The seed.

    Returns
    -------
    tuple of Trial
        One per play and draw of labelled rows.
    """
    playing = playing_classes(known, n_classes)
    if not playing:
        return ()
    rows = int(np.clip(rows_per_class, 2, max(MAX_PLAY_ROWS // playing, 2)))
    n_labels = int(np.clip(round(shots), 1, MAX_SHOTS))
    drawn = json.dumps([known.fingerprint, playing, rows, N_TRIAL_PLAYS, random_state])

    def fit_plays() -> list[FittedPlay]:
        plays = draw_plays(known.reduced(), playing, rows, N_TRIAL_PLAYS, random_state)
        fitted = []
        for number, play in enumerate(plays, start=1):
            target = play.pair.target
            views = fit_views(play.known, target.X, random_state=random_state + number)
            fitted.append(FittedPlay(target, ViewRows(views, target.X)))
        return fitted

    def answer() -> tuple[Trial, ...]:
        plays = _plays.get(drawn, fit_plays)
        return tuple(
            trial
            for number, play in enumerate(plays)
            for trial in _try_play(play, tuple(learners), n_labels, random_state + number)
        )

    return _trials.get(json.dumps([drawn, n_labels, list(learners)]), answer)


def _try_play(
    play: FittedPlay, learners: tuple[Learner, ...], n_labels: int, random_state: int
) -> Iterable[Trial]:
    """Yield a trial for each random draw of labelled rows that leaves rows to test."""
    codes = np.unique(play.target.codes, return_inverse=True)[1]
    rng = np.random.default_rng(random_state)
    for _ in range(DRAWS_BY_SHOTS[max(least for least in DRAWS_BY_SHOTS if least <= n_labels)]):
        at = draw_labelled(codes, n_labels, rng)[0]
        test = rows_to_test(len(codes), at, play.target.group_codes)
        if len(test):
            P = play.rows.answer(learners, (at, test), codes, int(codes.max()) + 1)
            yield Trial(learners, P, codes[test])


def cross_validate(
    rows: ViewRows,
    codes: Indices,
    groups: Indices | None = None,
    learners: Sequence[Learner] = (*LEARNERS, *BASELINES),
    *,
    also: Split | None = None,
) -> Trial | None:
    """Return the trial of learners on labelled rows, cross-validated; None if there are too few.

    Parameters
    ----------
    rows : ViewRows
        Rows of a target.
    codes : int array of shape (n,)
        Their classes, -1 for unlabelled rows.
    groups : int array of shape (n,) or None, default=None
        The group of each row; rows of a group are tested together.
    learners : sequence of Learner
        The learners.
    also : (int array, int array) or None, default=None
        Further rows to train on, which are not tested, such as those of a source, and their classes.

    Returns
    -------
    Trial or None
    """
    splits = folds(codes, groups)
    if also is not None:
        others, classes = also
        codes = codes.copy()
        codes[others] = classes
        splits = [(np.concatenate([at, _apart(others, test, groups)]), test) for at, test in splits]
    if not splits:
        return None
    n_classes = int(codes.max()) + 1
    P = [rows.answer(learners, split, codes, n_classes) for split in splits]
    tested = np.concatenate([test for _, test in splits])
    return Trial(tuple(learners), np.concatenate(P, axis=1), codes[tested])


def _apart(rows: Indices, test: Indices, groups: Indices | None) -> Indices:
    """Return the rows that are in no group of test rows."""
    return rows if groups is None else rows[~np.isin(groups[rows], groups[test])]


def draw_labelled(codes: Indices, n_labels: int, rng: np.random.Generator) -> Split:
    """Draw n_labels training rows per class, at most half of the class; the others are test rows."""
    members = [rng.permutation(np.flatnonzero(codes == code)) for code in range(codes.max() + 1)]
    at = np.concatenate([rows[: min(n_labels, max(len(rows) // 2, 1))] for rows in members])
    return at, np.setdiff1d(np.arange(len(codes)), at)


def folds(codes: Indices, groups: Indices | None = None) -> list[Split]:
    """Return cross-validation splits that keep a row of every class; groups are held out together."""
    rng = np.random.default_rng(0)
    labeled = np.flatnonzero(codes >= 0)
    fold = np.full(len(codes), -1)
    for code in np.unique(codes[labeled]):
        members = rng.permutation(np.flatnonzero(codes == code))
        if len(members) > 1:
            fold[members] = np.arange(len(members)) % N_FOLDS
    if groups is not None:
        first = dict(zip(groups[labeled].tolist(), fold[labeled].tolist(), strict=True))
        fold[labeled] = [first[group] for group in groups[labeled].tolist()]
    n_classes = len(np.unique(codes[labeled]))
    held_out = [np.flatnonzero(fold == number) for number in range(N_FOLDS)]
    splits = [(np.setdiff1d(labeled, test), test) for test in held_out if len(test)]
    return [(at, test) for at, test in splits if len(set(codes[at])) == n_classes]
