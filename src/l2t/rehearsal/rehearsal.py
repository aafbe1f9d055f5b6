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
from typing import TYPE_CHECKING, Any

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
from l2t.typing import AnyArray, Array

if TYPE_CHECKING:
    from l2t.experiences import ExperienceStore

#: Labels per class at which candidates are evaluated.
SHOTS = (1, 2, 5, 15, 40)
N_PLAYS = 8
N_DRAWS = 6
#: Possible numbers of rows per class in the target of a play; the one nearest to the real target is used.
ROWS_PER_CLASS = (15, 20, 40, 80)
#: Maximum number of candidates whose rehearsals are cached in memory.
CACHE_SIZE = 256
_cache: LRUCache[Array | str] = LRUCache(CACHE_SIZE)


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
    share : float
        The mean share of mutual neighbours among known rows (`mutual_share`), of as many classes as the real
        target has, or of all.
    n_rows : int
        The number of rows of the real target at which its share is comparable: as many per class.
    after : mapping of str to array of shape (plays, shots)
        The accuracies with the W of each candidate.
    failed : mapping of str to str
        The error messages of candidates that could not be rehearsed.
    """

    n_classes: int
    shots: tuple[int, ...]
    before: Array
    share: float
    n_rows: int
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
        ratios = np.log(improvement_ratio(self.before, self.after[name], self.n_rows))
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


NO_REHEARSAL = Rehearsal(0, SHOTS, np.empty((0, len(SHOTS))), 0.0, 0, {}, {})


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
    enough = [each for each in ROWS_PER_CLASS if playing * (each - 2) >= MIN_TEST_ROWS]
    rows = min(enough, key=lambda each: abs(np.log(each / rows_per_class)))
    drawn = min(n_classes, known.n_classes)
    plays = _Plays(known, playing, drawn, rows * n_classes, rows, n_plays, random_state, store)
    plain = plays.accuracies(None)
    if isinstance(plain, str) or not np.isfinite(plain[:, : len(SHOTS)]).all(axis=0).any():
        return NO_REHEARSAL
    tried = {name: plays.accuracies(each) for name, each in candidates.items()}
    before, (share, n_rows) = plain[:, : len(SHOTS)], plain[:, len(SHOTS) :].mean(axis=0)
    return Rehearsal(
        playing,
        SHOTS,
        before,
        float(share),
        round(n_rows * n_classes / drawn),
        {name: found for name, found in tried.items() if not isinstance(found, str)},
        {name: found for name, found in tried.items() if isinstance(found, str)},
    )


@dataclass(frozen=True, eq=False)
class _Plays:
    """Plays with fixed settings, on which candidates are evaluated; results are cached."""

    known: KnownClasses
    #: Number of target classes in a play, and of the classes of `Play.like_target`.
    playing: int
    drawn: int
    target_rows: int
    rows_per_class: int
    n_plays: int
    random_state: int
    store: ExperienceStore | None
    plays: dict[bool, list[Play]] = field(default_factory=dict)

    def accuracies(self, algorithm: Algorithm | None) -> Array | str:
        """Return the accuracies (plays, shots) of a candidate, or its error message.

        None stands for the original features; then there are two more columns: the share of mutual
        neighbours among rows like those of the target, and the number of these rows. Those of an algorithm
        without `params` are not cached, as others may have its name.
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

        found = _cache.get(key, compute)
        if self.store is not None and stored is None:
            outcome: Any = found
            if not isinstance(found, str):
                outcome = np.where(np.isnan(found), np.array(None), found).tolist()
            try:
                self.store.add_rehearsal(work, outcome)
            except StoreError as error:  # the store may be read-only
                warnings.warn(f"the rehearsal was not stored: {error}", L2TWarning, stacklevel=4)
        return found

    def _compute(self, algorithm: Algorithm | None) -> Array | str:
        try:
            plays = self._draw(algorithm)
            return np.stack([_score(play, algorithm, self.target_rows) for play in plays])
        except L2TError as error:
            return str(error)

    def _settings(self, algorithm: Algorithm | None) -> dict[str, Any]:
        """Return everything that the accuracies depend on, as plain values."""
        settings: dict[str, Any] = {
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
        shared = {"share_classes": self.drawn, "share_rows": self.target_rows}
        return settings | (shared if algorithm is None else {})

    def _draw(self, algorithm: Algorithm | None) -> list[Play]:
        """Return the plays, in principal coordinates unless the algorithm needs the original features."""
        original = Traits.of(algorithm).needs_features
        if original not in self.plays:
            known = self.known if original else self.known.reduced()
            settings = (self.rows_per_class, self.n_plays, self.random_state)
            self.plays[original] = list(draw_plays(known, self.drawn, *settings))
        return self.plays[original]


def _score(play: Play, algorithm: Algorithm | None, target_rows: int) -> Array:
    """Return the accuracies (shots,) of 1-NN on the target of a play, NaN where it has too few rows."""
    target = play.pair.target
    counts = [each * len(target.classes) for each in SHOTS]
    if algorithm is None:
        share = mutual_share(play.like_target, like=target_rows)
        seen = share, float(len(play.like_target))
        return np.append(_accuracies(target.X, target, counts), seen)
    W = fit_quietly(algorithm, play.pair, play.known).W
    return _accuracies(target.X @ W, target, counts)


def _accuracies(Z: AnyArray, target: Domain, counts: list[int]) -> Array:
    codes, groups = target.codes, target.group_codes
    try:
        found = evaluate(Z, codes, label_counts=counts, n_draws=N_DRAWS, groups=groups)
    except InvalidInputError:  # too few rows for any count
        return np.full(len(counts), np.nan)
    scores = dict(zip(found.label_counts, found.mean, strict=True))
    return np.array([scores.get(each, np.nan) for each in counts])
