"""Accuracies of all features with all classifiers, rehearsed on known classes or cross-validated."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from l2t.algorithms import Algorithm
from l2t.algorithms.base import fit_quietly, plain_params
from l2t.domains import Domain, KnownClasses
from l2t.exceptions import L2TError
from l2t.experiences.evaluation import rows_to_test
from l2t.numerics import LRUCache
from l2t.prediction.classifiers import CLASSIFIERS, DEFAULT, Head, TrainingSet, fit_head
from l2t.prediction.model import Features
from l2t.prediction.report import PLAIN
from l2t.prediction.trees import TreeHead
from l2t.rehearsal.plays import Play, draw_plays, playing_classes
from l2t.typing import AnyArray, Array, Indices

Split = tuple[Indices, Indices]
Factors = Mapping[str, AnyArray | None]

N_PLAYS = 6
#: Random draws of labelled rows per play, by the least number of labels per class: few labels vary more.
N_DRAWS = {1: 2, 5: 1}
#: Maximum number of rows of a play's target, and of labels per class in it.
MAX_ROWS = 300
MAX_SHOTS = 40
N_FOLDS = 4
#: Repetitions of cross-validation with at most so many labelled rows, where a single draw of folds decides on
#: the choice of classifiers, and so on many predictions.
REPEATS, FEW_ROWS = 3, 60
#: Number of rehearsals cached in the process.
CACHED = 64
_cache: LRUCache[Scores | None] = LRUCache(CACHED)
#: Cached lists of plays with the W's of candidates, each of which is scored with several label counts.
FITTED_CACHED = 2
_fitted: LRUCache[list[tuple[Domain, Factors]]] = LRUCache(FITTED_CACHED)


@dataclass(frozen=True, eq=False)
class Scores:
    """Accuracies (trials, features, classifiers) in plays or folds.

    `sizes` are the numbers of test rows of each trial, and `n_rows` is the number of different ones.
    """

    features: tuple[str, ...]
    classifiers: tuple[str, ...]
    values: Array
    n_classes: int
    sizes: Indices
    n_rows: int

    def of(self, features: str, classifier: str) -> Array:
        """Return the accuracies of one combination; NaN if it was not tried."""
        if features not in self.features or classifier not in self.classifiers:
            return np.full(len(self.values), np.nan)
        i, j = self.features.index(features), self.classifiers.index(classifier)
        return np.asarray(self.values[:, i, j])

    def mean(self, features: str, classifier: str) -> float:
        """Return the accuracy over all test rows."""
        return float(np.average(self.of(features, classifier), weights=self.sizes))


def score(
    X: AnyArray, factors: Factors, codes: Indices, splits: Iterable[Split], names: Sequence[str]
) -> Scores:
    """Score combinations on splits of rows X into training and test rows; all other rows are unlabelled."""
    n_classes = int(codes.max()) + 1
    splits = list(splits)
    values = np.empty((len(splits), len(factors), len(names)))
    for i, W in enumerate(factors.values()):
        versions = [Features.of(X, W, unit=unit)(X) for unit in (False, True)]
        for trial, (at, test) in enumerate(splits):
            heads: dict[str, Head | TreeHead] = {}
            for j, name in enumerate(names):
                Z = versions[CLASSIFIERS[name].unit]
                task, linear = TrainingSet(Z, at, codes[at], n_classes), heads.get(DEFAULT)
                guess = linear if isinstance(linear, Head) else None
                heads[name] = fit_head(name, task, cross_validate=False, guess=guess)
                right = heads[name].scores(Z[test]).argmax(axis=1) == codes[test]
                values[trial, i, j] = right.mean()
    sizes = np.array([len(test) for _, test in splits])
    n_rows = len(np.unique(np.concatenate([test for _, test in splits])))
    return Scores(tuple(factors), tuple(names), values, n_classes, sizes, n_rows)


def rehearse_combinations(  # noqa: PLR0913
    known: KnownClasses,
    algorithms: Mapping[str, Algorithm],
    names: Sequence[str] = tuple(CLASSIFIERS),
    *,
    n_classes: int,
    rows_per_class: int,
    shots: float,
    features: str | None = None,
    n_plays: int = N_PLAYS,
    random_state: int = 0,
) -> Scores | None:
    """Score combinations in plays of known classes; None if there are fewer than three, or too few rows.

    If `features` is given, only these are scored.
    """
    playing = playing_classes(known, n_classes)
    if not (playing and n_plays):
        return None
    wanted = max(min(MAX_ROWS // playing, rows_per_class), 1)
    rows = min((20, 40, 80), key=lambda each: abs(np.log(each / wanted)))
    n_labels = int(np.clip(round(shots), 1, MAX_SHOTS))
    most = max(n_plays, N_PLAYS)  # fewer are the first of them
    params = {name: plain_params(each) for name, each in algorithms.items()}
    drawn = json.dumps([known.fingerprint, params, playing, rows, most, random_state])

    def fit_plays() -> list[tuple[Domain, Factors]]:
        plays = draw_plays(known.reduced(), playing, rows, most, random_state)
        return [_fit(play, algorithms) for play in plays]

    def score_plays() -> Scores | None:
        trials: list[Scores] = []
        for target, factors in _fitted.get(drawn, fit_plays)[:n_plays]:
            some = {name: W for name, W in factors.items() if features in (None, name)}
            trials += filter(None, [_score_play(target, some, n_labels, names)])
        return _stacked(trials) if trials else None

    return _cache.get(json.dumps([drawn, n_plays, n_labels, features, list(names)]), score_plays)


def _fit(play: Play, algorithms: Mapping[str, Algorithm]) -> tuple[Domain, Factors]:
    """Return the target of a play, and the W's of the candidates fitted to it."""
    factors: dict[str, AnyArray | None] = {PLAIN: None}
    for name, algorithm in algorithms.items():
        try:
            factors[name] = fit_quietly(algorithm, play.pair, play.known).W
        except L2TError:  # it cannot be fitted to these classes
            continue
    return play.pair.target, factors


def _score_play(
    target: Domain, factors: Factors, n_labels: int, names: Sequence[str]
) -> Scores | None:
    """Return the mean scores over random draws of labelled rows; None if no rows are left to test."""
    codes = np.unique(target.codes, return_inverse=True)[1]
    rng = np.random.default_rng(len(codes))
    n_draws = N_DRAWS[max(few for few in N_DRAWS if few <= n_labels)]
    drawn = [draw_labelled(codes, n_labels, rng)[0] for _ in range(n_draws)]
    splits = [(at, rows_to_test(len(codes), at, target.group_codes)) for at in drawn]
    if not factors or not all(len(test) for _, test in splits):
        return None
    found = score(target.X, factors, codes, splits, names)
    mean = found.values.mean(axis=0, keepdims=True)
    return dataclasses.replace(found, values=mean, sizes=found.sizes.sum(keepdims=True))


def _stacked(trials: list[Scores]) -> Scores:
    """Return the scores of several plays, for the features that all of them have."""
    shared = [name for name in trials[0].features if all(name in each.features for each in trials)]
    values = np.concatenate(
        [each.values[:, [each.features.index(name) for name in shared]] for each in trials]
    )
    sizes = np.concatenate([each.sizes for each in trials])
    n_rows = sum(trial.n_rows for trial in trials)
    return dataclasses.replace(
        trials[0], features=tuple(shared), values=values, sizes=sizes, n_rows=n_rows
    )


def draw_labelled(codes: Indices, n_labels: int, rng: np.random.Generator) -> Split:
    """Draw n_labels training rows per class, at most half of the class; the others are test rows."""
    members = [rng.permutation(np.flatnonzero(codes == code)) for code in range(codes.max() + 1)]
    at = np.concatenate([each[: min(n_labels, max(len(each) // 2, 1))] for each in members])
    return at, np.setdiff1d(np.arange(len(codes)), at)


def folds(codes: Indices, groups: Indices | None = None) -> list[Split]:
    """Return cross-validation splits that keep a row of every class; groups are held out together.

    With few labelled rows, folds are drawn several times.
    """
    repeats = REPEATS if (codes >= 0).sum() <= FEW_ROWS else 1
    rng = np.random.default_rng(0)
    return [split for _ in range(repeats) for split in _draw_folds(codes, groups, rng)]


def _draw_folds(codes: Indices, groups: Indices | None, rng: np.random.Generator) -> list[Split]:
    labelled = np.flatnonzero(codes >= 0)
    fold = np.full(len(codes), -1)
    for code in np.unique(codes[labelled]):
        members = rng.permutation(np.flatnonzero(codes == code))
        if len(members) > 1:
            fold[members] = np.arange(len(members)) % N_FOLDS
    if groups is not None:
        first = dict(zip(groups[labelled].tolist(), fold[labelled].tolist(), strict=True))
        fold[labelled] = [first[group] for group in groups[labelled].tolist()]
    n_classes = len(np.unique(codes[labelled]))
    held_out = [np.flatnonzero(fold == number) for number in range(N_FOLDS)]
    splits = [(np.setdiff1d(labelled, test), test) for test in held_out if len(test)]
    return [(at, test) for at, test in splits if len(set(codes[at])) == n_classes]
