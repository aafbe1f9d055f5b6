"""Scores of combinations: every kind of features with every classifier, on the same rows and labels.

A combination is rehearsed on known classes, of which some play the target (`l2t.rehearsal.plays`), and
cross-validated on the labelled rows of the target, where they are enough.
"""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from l2t.algorithms import Algorithm
from l2t.domains import KnownClasses
from l2t.exceptions import L2TError, L2TWarning
from l2t.prediction.classifiers import CLASSIFIERS, DEFAULT, Head, Task, fit_head
from l2t.prediction.model import Features
from l2t.rehearsal.plays import draw_plays, playing_classes
from l2t.rehearsal.rehearsal import with_known
from l2t.typing import AnyArray, Array

__all__ = ["PLAIN", "Scores", "cross_validate", "folds", "rehearse_combinations", "score"]

Codes = npt.NDArray[np.intp]
Split = tuple[Codes, Codes]

#: The features as they are.
PLAIN = "plain"
N_PLAYS = 6
#: Sets of labelled rows per play: with few labels per class it counts more which they are.
N_DRAWS = {1: 2, 5: 1}
#: Rows of a playing target, and labels per class in it, at most.
MAX_ROWS = 300
MAX_SHOTS = 40
N_FOLDS = 4
#: How many rehearsals are kept in the process.
KEPT = 64
_kept: OrderedDict[str, Scores] = OrderedDict()


@dataclass(frozen=True, eq=False)
class Scores:
    """Accuracies of combinations.

    Attributes
    ----------
    features, classifiers : tuple of str
        What was combined.
    values : array of shape (trials, features, classifiers)
        The accuracies in each play, or in each fold.
    evenness : array of shape (trials, features, classifiers)
        How even the predicted shares of the classes are: their entropy over its largest value.
    n_classes : int
        The classes that were told apart.
    sizes : int array of shape (trials,)
        The rows that were tested.
    """

    features: tuple[str, ...]
    classifiers: tuple[str, ...]
    values: Array
    evenness: Array
    n_classes: int
    sizes: Codes

    def __len__(self) -> int:
        return len(self.values)

    def of(self, features: str, classifier: str) -> Array:
        """Return the accuracies of one combination; NaN where it was not tried."""
        if features not in self.features or classifier not in self.classifiers:
            return np.full(len(self.values), np.nan)
        at = self.features.index(features), self.classifiers.index(classifier)
        return np.asarray(self.values[:, at[0], at[1]])

    @property
    def n_rows(self) -> int:
        """The rows that were tested, over all trials."""
        return int(self.sizes.sum())


def score(
    X: AnyArray,
    factors: Mapping[str, AnyArray | None],
    codes: Codes,
    splits: Iterable[Split],
    *,
    classifiers: Sequence[str] = tuple(CLASSIFIERS),
) -> Scores:
    """Score all combinations on splits of rows X with known classes into labelled and tested rows.

    `codes` run from 0; rows that are neither labelled nor tested take part without a label.
    """
    n_classes = int(codes.max()) + 1
    views = {}
    for name, W in factors.items():
        plain = Features.of(X, W)
        views[name] = (plain(X), dataclasses.replace(plain, unit=True)(X))
    values, evenness, sizes = [], [], []
    for at, test in splits:
        sizes.append(len(test))
        table = np.empty((2, len(views), len(classifiers)))
        for i, pair in enumerate(views.values()):
            heads: dict[str, Head] = {}
            for j, name in enumerate(classifiers):
                Z = pair[CLASSIFIERS[name].unit]
                task, guess = Task(Z, at, codes[at], n_classes), heads.get(DEFAULT)
                head = heads[name] = fit_head(name, task, cross_validate=False, guess=guess)
                found = head.scores(Z[test]).argmax(axis=1)
                table[:, i, j] = np.mean(found == codes[test]), evenness_of(found, n_classes)
        values.append(table[0])
        evenness.append(table[1])
    shape = len(values), len(views), len(classifiers)
    return Scores(
        tuple(views),
        tuple(classifiers),
        np.reshape(values, shape),
        np.reshape(evenness, shape),
        n_classes,
        np.array(sizes, dtype=np.intp),
    )


def evenness_of(codes: Codes, n_classes: int) -> float:
    """Return how even the classes of some rows are: 1 where all have as many.

    >>> evenness_of(np.array([0, 1, 0, 1]), 2), evenness_of(np.array([0, 0]), 2)
    (1.0, 0.0)
    """
    shares = np.bincount(codes, minlength=n_classes) / len(codes)
    entropy = -np.sum(shares * np.log(np.where(shares > 0, shares, 1.0)))
    return float(abs(entropy) / np.log(n_classes)) if n_classes > 1 else 1.0


def rehearse_combinations(
    known: KnownClasses,
    algorithms: Mapping[str, Algorithm],
    *,
    n_classes: int,
    rows_per_class: int,
    shots: float,
    n_plays: int = N_PLAYS,
    random_state: int = 0,
    classifiers: Sequence[str] = tuple(CLASSIFIERS),
) -> Scores | None:
    """Score combinations on known classes; None where fewer than three are known.

    Parameters
    ----------
    known : KnownClasses
        The classes, without rows of the target.
    algorithms : mapping of str to Algorithm
        What makes features, by name, beside the plain ones.
    n_classes, rows_per_class : int
        How many classes the real target has, and about how many rows of each.
    shots : float
        Its labelled rows per class.
    n_plays : int
        How many times, each with other classes; every play labels one or two sets of rows.
    random_state : int
        The seed of the plays.
    classifiers : sequence of str
        The classifiers.

    Returns
    -------
    Scores or None
        One trial per play.
    """
    playing = playing_classes(known, n_classes)
    if not (playing and n_plays):
        return None
    rows = int(np.clip(MAX_ROWS // playing, 20, 80))
    rows = min((20, 40, 80), key=lambda each: abs(np.log(each / min(rows, rows_per_class))))
    n_labels = int(np.clip(round(shots), 1, MAX_SHOTS))
    settings = (playing, rows, n_plays, random_state)
    params = {name: dict(getattr(each, "params", {})) for name, each in algorithms.items()}
    key = json.dumps([known.fingerprint, params, settings, n_labels, list(classifiers)])
    if key not in _kept:
        found = _rehearse(known.reduced(), algorithms, settings, n_labels, classifiers)
        if found is None:
            return None
        _kept[key] = found
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    _kept.move_to_end(key)
    return _kept[key]


def _rehearse(
    known: KnownClasses,
    algorithms: Mapping[str, Algorithm],
    settings: tuple[int, int, int, int],
    n_labels: int,
    classifiers: Sequence[str],
) -> Scores | None:
    trials: list[Scores] = []
    n_draws = N_DRAWS[max(few for few in N_DRAWS if few <= n_labels)]
    for number, play in enumerate(draw_plays(known, *settings)):
        target = play.pair.target
        codes = np.unique(target.codes, return_inverse=True)[1]
        factors: dict[str, AnyArray | None] = {PLAIN: None}
        for name, algorithm in algorithms.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", L2TWarning)  # fewer components are fine here
                    factors[name] = with_known(algorithm, play.known).fit(play.pair).W
            except L2TError:  # it cannot play with these classes
                continue
        rng = np.random.default_rng([settings[-1], number])
        splits = [_labelled(codes, n_labels, rng) for _ in range(n_draws)]
        if all(len(test) for _, test in splits):
            trials.append(score(target.X, factors, codes, splits, classifiers=classifiers))
    shared = [name for name in (PLAIN, *algorithms) if all(name in t.features for t in trials)]
    if not trials:
        return None
    values, evenness = (
        np.stack(
            [
                np.mean(getattr(t, which)[:, [t.features.index(name) for name in shared]], axis=0)
                for t in trials
            ]
        )
        for which in ("values", "evenness")
    )
    sizes = np.array([t.n_rows for t in trials], dtype=np.intp)
    return Scores(tuple(shared), tuple(classifiers), values, evenness, trials[0].n_classes, sizes)


def _labelled(codes: Codes, n_labels: int, rng: np.random.Generator) -> Split:
    """Draw so many labelled rows of each class, at most half of it; the others are tested."""
    at = np.concatenate(
        [
            rng.permutation(members)[: min(n_labels, max(len(members) // 2, 1))]
            for members in (np.flatnonzero(codes == code) for code in range(codes.max() + 1))
        ]
    )
    return at, np.setdiff1d(np.arange(len(codes)), at)


def cross_validate(
    X: AnyArray,
    factors: Mapping[str, AnyArray | None],
    codes: Codes,
    tested: npt.NDArray[np.bool_],
    groups: Codes | None = None,
    *,
    classifiers: Sequence[str] = tuple(CLASSIFIERS),
) -> Scores | None:
    """Cross-validate combinations on labelled rows; None where no class has two.

    `codes` are -1 for rows without a label; of the labelled ones those that are `tested` are held out by
    turns, all of a group together.
    """
    splits = folds(codes, tested, groups)
    if not splits:
        return None
    return score(X, factors, codes, splits, classifiers=classifiers)


def folds(
    codes: Codes, tested: npt.NDArray[np.bool_], groups: Codes | None, random_state: int = 0
) -> list[Split]:
    """Return splits of the labelled rows in which every class keeps a labelled row."""
    labelled = np.flatnonzero(codes >= 0)
    fold = np.full(len(codes), -1)
    rng = np.random.default_rng(random_state)
    for code in np.unique(codes[labelled]):
        members = rng.permutation(np.flatnonzero((codes == code) & tested))
        if (codes == code).sum() > 1:
            fold[members] = np.arange(len(members)) % N_FOLDS
    if groups is not None:
        first = dict(zip(groups[labelled].tolist(), fold[labelled].tolist(), strict=True))
        fold[labelled] = [first[each] for each in groups[labelled].tolist()]
    found = []
    for number in range(N_FOLDS):
        test, train = np.flatnonzero(fold == number), labelled[fold[labelled] != number]
        test = test[np.isin(codes[test], codes[train])]
        whole = len(np.unique(codes[train])) == len(np.unique(codes[labelled]))
        if len(test) and whole:
            found.append((train, test))
    return found
