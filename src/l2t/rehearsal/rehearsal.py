"""What candidates were worth in rehearsal.

A rehearsed improvement ratio is a real one, measured with labels, in the feature space of the user. It
depends on the known classes alone, and is kept by content, so that the next target of the same source finds
it ready: in the process (a bounded number) and, where one is given, in a store.
"""

from __future__ import annotations

import json
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from l2t._version import __version__
from l2t.algorithms import Algorithm
from l2t.algorithms.base import fit_quietly
from l2t.domains import KnownClasses
from l2t.exceptions import InvalidInputError, L2TError, L2TWarning, StoreError
from l2t.experiences import evaluate, improvement_ratio
from l2t.experiences.evaluation import MIN_TEST_ROWS
from l2t.rehearsal.plays import Play, draw_plays, playing_classes
from l2t.statistics import mutual_share
from l2t.typing import AnyArray, Array

if TYPE_CHECKING:
    from l2t.experiences import ExperienceStore

#: Labels per class that candidates are tried with.
SHOTS = (1, 2, 5, 15, 40)
N_PLAYS = 8
N_DRAWS = 6
#: Numbers of rows per class of a playing target; the one nearest to the real target is used.
ROWS_PER_CLASS = (15, 20, 40, 80)
#: How many candidates' rehearsals are kept in the process.
KEPT = 256
_kept: OrderedDict[str, Array | str] = OrderedDict()


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """Accuracies of candidates in plays.

    Attributes
    ----------
    n_classes : int
        How many classes played the target; 0 where there was no rehearsal.
    shots : tuple of int
        Labels per class.
    before : array of shape (plays, shots)
        The accuracies of 1-NN on the features as they are; NaN where a play has too few rows.
    share : float
        How mutual the neighbourhoods of known rows are (`mutual_share`), in the mean: among as many classes
        as the real target has, or all that are known.
    n_rows : int
        The number of rows of the real target among which its share is comparable: as many per class.
    after : mapping of str to array of shape (plays, shots)
        The accuracies with the W of each candidate.
    failed : mapping of str to str
        Why a candidate could not be rehearsed.
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
        """How far the features tell the known classes apart: 0 for chance, 1 for without an error."""
        if not self.n_plays:
            return 0.0
        chance = 1.0 / self.n_classes
        known = np.isfinite(self.before).all(axis=0)
        best = self.before[:, known].mean(axis=0).max(initial=chance)
        return float(max(best - chance, 0.0) / (1.0 - chance))

    def log_ratio(self, name: str, shots: float) -> tuple[float, float]:
        """Return the mean log improvement ratio of a candidate over the plays, and its standard error.

        Label counts between those rehearsed are interpolated on a log scale.
        """
        ratios = np.log(improvement_ratio(self.before, self.after[name], self.n_rows))
        at = self._at(ratios, shots)
        error = np.std(at, ddof=1) / np.sqrt(len(at)) if len(at) > 1 else np.inf
        return float(np.mean(at)), float(error)

    def accuracy(self, shots: float) -> float:
        """Return the mean accuracy on the features as they are."""
        return float(np.mean(self._at(self.before, shots)))

    def _at(self, values: Array, shots: float) -> list[float]:
        """Return the values (plays, shots) of each play at a number of labels per class."""
        known = np.isfinite(self.before).all(axis=0)
        grid = np.log(np.array(self.shots)[known])
        return [float(np.interp(np.log(shots), grid, row[known])) for row in values]


#: Where nothing could be rehearsed.
NONE = Rehearsal(0, SHOTS, np.empty((0, len(SHOTS))), 0.0, 0, {}, {})


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
    """Try candidates on known classes.

    Parameters
    ----------
    known : KnownClasses
        The classes, without rows of the target.
    candidates : mapping of str to Algorithm
        What to try, by name.
    n_classes, rows_per_class : int, default=3 and 80
        How many classes the real target has, and about how many rows of each.
    n_plays : int, default=8
        How many times, each with other classes.
    random_state : int, default=0
        The seed of the plays.
    store : ExperienceStore, optional
        Where rehearsals are kept beside the process: what is there is not done again.

    Returns
    -------
    Rehearsal
        Without plays where fewer than three classes are known, or their rows are too few to measure.
    """
    playing = playing_classes(known, n_classes)
    if not (playing and n_plays):
        return NONE
    enough = [each for each in ROWS_PER_CLASS if playing * (each - 2) >= MIN_TEST_ROWS]
    rows = min(enough, key=lambda each: abs(np.log(each / rows_per_class)))
    alike = min(n_classes, known.n_classes)
    stage = _Stage(known, playing, alike, rows * n_classes, rows, n_plays, random_state, store)
    plain = stage.accuracies(None)
    if isinstance(plain, str) or not np.isfinite(plain[:, : len(SHOTS)]).all(axis=0).any():
        return NONE
    tried = {name: stage.accuracies(each) for name, each in candidates.items()}
    before, (share, n_rows) = plain[:, : len(SHOTS)], plain[:, len(SHOTS) :].mean(axis=0)
    return Rehearsal(
        playing,
        SHOTS,
        before,
        float(share),
        round(n_rows * n_classes / alike),
        {name: found for name, found in tried.items() if not isinstance(found, str)},
        {name: found for name, found in tried.items() if isinstance(found, str)},
    )


@dataclass(frozen=True, eq=False)
class _Stage:
    """Plays with fixed settings; each candidate is tried once."""

    known: KnownClasses
    playing: int
    alike: int
    target_rows: int
    rows_per_class: int
    n_plays: int
    random_state: int
    store: ExperienceStore | None
    plays: dict[bool, list[Play]] = field(default_factory=dict)

    def accuracies(self, algorithm: Algorithm | None) -> Array | str:
        """Return the accuracies (plays, shots) of a candidate; why not, where it fails.

        For no candidate, with two columns more: how mutual the neighbourhoods are among rows like those of
        the target, and the number of these rows.
        """
        work = self._work(algorithm)
        key = json.dumps(work, sort_keys=True)
        stored = None if self.store is None else self.store.rehearsal(work)
        found: Array | str | None = _kept.get(key)
        if stored is not None:  # JSON has null for NaN
            found = stored if isinstance(stored, str) else np.array(stored, dtype=np.float64)
        elif found is None:
            try:
                plays = self._drawn(algorithm)
                found = np.stack([_score(play, algorithm, self.target_rows) for play in plays])
            except L2TError as error:
                found = str(error)
        if self.store is not None and stored is None:
            outcome: Any = found
            if not isinstance(found, str):
                outcome = np.where(np.isnan(found), np.array(None), found).tolist()
            try:
                self.store.add_rehearsal(work, outcome)
            except StoreError as error:  # the store may be read-only
                warnings.warn(f"the rehearsal was not stored: {error}", L2TWarning, stacklevel=4)
        _kept[key] = found
        _kept.move_to_end(key)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
        return found

    def _work(self, algorithm: Algorithm | None) -> dict[str, Any]:
        """Return all that determines the accuracies, as plain values."""
        work: dict[str, Any] = {
            "known": self.known.fingerprint,
            "algorithm": "identity" if algorithm is None else algorithm.name,
            "params": dict(getattr(algorithm, "params", {})),
            "n_classes": self.playing,
            "rows_per_class": self.rows_per_class,
            "n_plays": self.n_plays,
            "random_state": self.random_state,
            "shots": list(SHOTS),
            "n_draws": N_DRAWS,
            "version": __version__,
        }
        shared = {"share_classes": self.alike, "share_rows": self.target_rows}
        return work | (shared if algorithm is None else {})

    def _drawn(self, algorithm: Algorithm | None) -> Iterable[Play]:
        """Return the plays, in principal coordinates unless the algorithm needs the features themselves."""
        whole = bool(getattr(algorithm, "needs_features", False))
        if whole not in self.plays:
            known = self.known if whole else self.known.reduced()
            settings = (self.rows_per_class, self.n_plays, self.random_state)
            self.plays[whole] = list(draw_plays(known, self.alike, *settings))
        return self.plays[whole]


def _score(play: Play, algorithm: Algorithm | None, target_rows: int) -> Array:
    """Return the accuracies (shots,) of 1-NN on the playing target, NaN where it has too few rows."""
    target = play.pair.target
    counts = [each * len(target.classes) for each in SHOTS]
    if algorithm is None:
        share = mutual_share(play.like_target, like=target_rows)
        seen = share, float(len(play.like_target))
        return np.append(_accuracies(target.X, target.codes, counts), seen)
    W = fit_quietly(algorithm, play.pair, play.known).W
    return _accuracies(target.X @ W, target.codes, counts)


def _accuracies(Z: AnyArray, codes: AnyArray, counts: list[int]) -> Array:
    try:
        found = evaluate(Z, codes, label_counts=counts, n_draws=N_DRAWS)
    except InvalidInputError:  # too few rows for any count
        return np.full(len(counts), np.nan)
    scores = dict(zip(found.label_counts, found.mean, strict=True))
    return np.array([scores.get(each, np.nan) for each in counts])
