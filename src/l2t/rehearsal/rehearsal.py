"""Improvement ratios of candidates in rehearsal.

A rehearsed improvement ratio is measured with labels in the feature space of the user. It depends only on the
known classes and is cached by their content, in memory (a bounded number) and in the store if there is one:
further targets of the same source reuse it.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from l2t._version import __version__
from l2t.algorithms import NO_TRANSFER, Algorithm, Traits
from l2t.algorithms.base import fit_quietly, plain_params
from l2t.domains import Domain, KnownClasses
from l2t.exceptions import InvalidInputError, L2TError, L2TWarning, StoreError
from l2t.experiences import evaluate, improvement_ratio
from l2t.experiences.evaluation import MIN_TEST_ROWS
from l2t.numerics import LRUCache
from l2t.rehearsal.plays import Play, draw_plays, playing_classes
from l2t.statistics import mutual_share
from l2t.typing import AnyArray, Array, JsonObject, JsonValue

if TYPE_CHECKING:
    from l2t.experiences import ExperienceStore

#: Labels per class at which candidates are evaluated, and the plays and draws at each (docs/adr/0014).
SHOTS = (1, 2, 5, 15, 40)
N_PLAYS = 8
N_DRAWS = 6
#: Possible numbers of rows per class in the target of a play; the one nearest to the real target is used.
ROWS_PER_CLASS = (15, 20, 40, 80)
#: Maximum number of candidates whose rehearsals are cached in memory.
CACHE_SIZE = 256
_cache: LRUCache[Array | str] = LRUCache(CACHE_SIZE)
_shares: LRUCache[MutualShare] = LRUCache(CACHE_SIZE)


class MutualShare(NamedTuple):
    """The mean share of mutual neighbours among known rows, and the number of target rows to compare it with.

    The known rows are of as many classes as the real target has, or of all.
    """

    share: float
    n_rows: int


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """Accuracies of candidates in plays.

    Attributes
    ----------
    n_classes : int
        Number of target classes in a play; 0 without a rehearsal.
    shots : tuple of int
        Labels per class.
    before : array of shape (plays, shots)
        The accuracies of 1-NN on the original features; NaN where a play has too few rows.
    neighbours : MutualShare
        The share of mutual neighbours among known rows.
    after : mapping of str to array of shape (plays, shots)
        The accuracies with the W of each candidate.
    failed : mapping of str to str
        The error messages of candidates that could not be rehearsed.
    """

    n_classes: int
    shots: tuple[int, ...]
    before: Array
    neighbours: MutualShare
    after: Mapping[str, Array]
    failed: Mapping[str, str]

    @property
    def n_plays(self) -> int:
        """The number of plays."""
        return len(self.before)

    @property
    def skill(self) -> float:
        """How well 1-NN separates the known classes: 0 at chance level, 1 without errors."""
        if not self.n_plays:
            return 0.0
        chance = 1.0 / self.n_classes
        known = np.isfinite(self.before).all(axis=0)
        best = self.before[:, known].mean(axis=0).max(initial=chance)
        return float(max(best - chance, 0.0) / (1.0 - chance))

    def log_ratio(self, name: str, shots: float) -> tuple[float, float]:
        """Return the mean log improvement ratio of a candidate over the plays, and its standard error.

        `shots` is the number of labels per class, interpolated on a log scale between those rehearsed.
        """
        ratios = np.log(improvement_ratio(self.before, self.after[name], self.neighbours.n_rows))
        at = self._at(ratios, shots)
        error = np.std(at, ddof=1) / np.sqrt(len(at)) if len(at) > 1 else np.inf
        return float(np.mean(at)), float(error)

    def accuracy(self, shots: float) -> float:
        """Return the mean accuracy on the original features."""
        return float(np.mean(self._at(self.before, shots)))

    def _at(self, values: Array, shots: float) -> list[float]:
        """Interpolate values (plays, shots) of each play at a number of labels per class."""
        known = np.isfinite(self.before).all(axis=0)
        grid = np.log(np.array(self.shots)[known])
        return [float(np.interp(np.log(shots), grid, row[known])) for row in values]


NO_REHEARSAL = Rehearsal(0, SHOTS, np.empty((0, len(SHOTS))), MutualShare(0.0, 0), {}, {})


def rehearse(
    known: KnownClasses,
    candidates: Mapping[str, Algorithm],
    *,
    n_classes: int = 3,
    rows_per_class: int = 80,
    n_plays: int = N_PLAYS,
    random_state: int = 0,
    store: ExperienceStore | None = None,
) -> Rehearsal:
    """Evaluate candidates on plays of known classes.

    Parameters
    ----------
    known : KnownClasses
        The known classes, without rows of the target.
    candidates : mapping of str to Algorithm
        The candidates by name.
    n_classes : int, default=3
        Number of classes of the real target.
    rows_per_class : int, default=80
        Approximate number of rows per class of the real target.
    n_plays : int, default=8
        Number of plays, each with other classes.
    random_state : int, default=0
        The seed of the plays.
    store : ExperienceStore, optional
        A store that caches rehearsals, in addition to the cache in memory.

    Returns
    -------
    Rehearsal
        Without plays if fewer than three classes are known, or they have too few rows for a test set.
    """
    playing = playing_classes(known, n_classes)
    if not (playing and n_plays):
        return NO_REHEARSAL
    rows = _rows_of_plays(playing, rows_per_class)
    plays = _Plays(known, playing, n_classes, rows, n_plays, random_state, store)
    before = plays.accuracies(None)
    if isinstance(before, str) or not np.isfinite(before).all(axis=0).any():
        return NO_REHEARSAL
    tried = {name: plays.accuracies(algorithm) for name, algorithm in candidates.items()}
    return Rehearsal(
        playing,
        SHOTS,
        before,
        plays.neighbours(),
        {name: result for name, result in tried.items() if not isinstance(result, str)},
        {name: message for name, message in tried.items() if isinstance(message, str)},
    )


def known_neighbours(
    known: KnownClasses, *, n_classes: int, rows_per_class: int, random_state: int = 0
) -> MutualShare | None:
    """Return the share of mutual neighbours in plays of known classes; None if there is no play.

    Parameters
    ----------
    known : KnownClasses
        The known classes, without rows of the target.
    n_classes, rows_per_class : int
        The number of classes of the real target, and of its rows per class.
    random_state : int, default=0
        The seed of the plays.

    Returns
    -------
    MutualShare or None
    """
    playing = playing_classes(known, n_classes)
    if not playing:
        return None
    rows = _rows_of_plays(playing, rows_per_class)
    return _Plays(known, playing, n_classes, rows, N_PLAYS, random_state, None).neighbours()


def _rows_of_plays(playing: int, rows_per_class: int) -> int:
    """Return the number of rows per class in a play, near that of the target and enough for a test set."""
    enough = [rows for rows in ROWS_PER_CLASS if playing * (rows - 2) >= MIN_TEST_ROWS]
    return min(enough, key=lambda rows: abs(np.log(rows / rows_per_class)))


@dataclass(frozen=True, eq=False)
class _Plays:
    """Plays with fixed settings, on which candidates are evaluated; results are cached."""

    known: KnownClasses
    #: Numbers of target classes in a play, and of the real target.
    playing: int
    n_classes: int
    rows_per_class: int
    n_plays: int
    random_state: int
    store: ExperienceStore | None
    plays: dict[bool, list[Play]] = field(default_factory=dict)

    def accuracies(self, algorithm: Algorithm | None) -> Array | str:
        """Return the accuracies (plays, shots) of a candidate, or its error message.

        None stands for the original features. Those of an algorithm without `params` are not cached, as
        others may have its name.
        """
        try:
            work = self._settings(algorithm)
        except InvalidInputError:
            return self._compute(algorithm)
        key = json.dumps(work, sort_keys=True)
        stored = None if self.store is None else self.store.rehearsal(work)

        def compute() -> Array | str:
            if stored is not None:  # null stands for NaN in JSON
                return stored if isinstance(stored, str) else np.array(stored, dtype=np.float64)
            return self._compute(algorithm)

        result = _cache.get(key, compute)
        if self.store is not None and stored is None:
            outcome: JsonValue = result
            if not isinstance(result, str):
                outcome = np.where(np.isnan(result), np.array(None), result).tolist()
            try:
                self.store.add_rehearsal(work, outcome)
            except StoreError as error:  # the store may be read-only
                warnings.warn(f"the rehearsal was not stored: {error}", L2TWarning, stacklevel=4)
        return result

    def _compute(self, algorithm: Algorithm | None) -> Array | str:
        try:
            return np.stack([_score(play, algorithm) for play in self._draw(algorithm)])
        except L2TError as error:
            return str(error)

    def _settings(self, algorithm: Algorithm | None) -> JsonObject:
        """Return everything that the accuracies depend on, as plain values."""
        return {
            "known": self.known.fingerprint,
            "algorithm": NO_TRANSFER if algorithm is None else algorithm.name,
            "params": {} if algorithm is None else plain_params(algorithm),
            "n_classes": self.playing,
            "rows_per_class": self.rows_per_class,
            "n_plays": self.n_plays,
            "random_state": self.random_state,
            "shots": list(SHOTS),
            "n_draws": N_DRAWS,
            "version": __version__,
        }

    def neighbours(self) -> MutualShare:
        """Return the share of mutual neighbours among rows like those of the target; cached in memory."""
        work = self._settings(None) | {"share_classes": self.n_classes}

        def compute() -> MutualShare:
            target_rows = self.rows_per_class * self.n_classes
            rows = [play.like_target for play in self._draw(None)]
            share = np.mean([mutual_share(X, like=target_rows) for X in rows])
            drawn = min(self.n_classes, self.known.n_classes)
            n_rows = np.mean([len(X) for X in rows]) * self.n_classes / drawn
            return MutualShare(float(share), round(n_rows))

        return _shares.get(json.dumps(work, sort_keys=True), compute)

    def _draw(self, algorithm: Algorithm | None) -> list[Play]:
        """Return the plays, in principal coordinates unless the algorithm needs the original features."""
        original = Traits.of(algorithm).needs_features
        if original not in self.plays:
            known = self.known if original else self.known.reduced()
            settings = (self.rows_per_class, self.n_plays, self.random_state)
            drawn = min(self.n_classes, known.n_classes)
            self.plays[original] = list(draw_plays(known, drawn, *settings))
        return self.plays[original]


def _score(play: Play, algorithm: Algorithm | None) -> Array:
    """Return the accuracies (shots,) of 1-NN on the target of a play, NaN where it has too few rows."""
    target = play.pair.target
    W = None if algorithm is None else fit_quietly(algorithm, play.pair, play.known).W
    counts = [shots * len(target.classes) for shots in SHOTS]
    return _accuracies(target.X if W is None else target.X @ W, target, counts)


def _accuracies(Z: AnyArray, target: Domain, counts: list[int]) -> Array:
    codes, groups = target.codes, target.group_codes
    try:
        evaluation = evaluate(Z, codes, label_counts=counts, n_draws=N_DRAWS, groups=groups)
    except InvalidInputError:  # too few rows for any count
        return np.full(len(counts), np.nan)
    scores = dict(zip(evaluation.label_counts, evaluation.mean, strict=True))
    return np.array([scores.get(count, np.nan) for count in counts])
