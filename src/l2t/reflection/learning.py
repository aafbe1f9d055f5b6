"""Learning the reflection function from experiences.

1. Ratios at different label counts are brought to one scale (l_hat, `calibration`).
2. gamma, the Huber threshold and, where a store can recompute tau, the neighbours r are chosen by
   predicting held-out pairs: no pair stands on both sides of a split.
3. The function is learned from all experiences, from several starts.
4. Intervals reach as far as its held-out predictions were off, at each number of labels (`Kind`).
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from l2t._version import __version__
from l2t.exceptions import InvalidInputError, L2TWarning
from l2t.experiences import Experience
from l2t.experiences.experience import TrainedOn
from l2t.reflection.calibration import fit_label_curve
from l2t.reflection.forecast import Forecast, OwnRatios
from l2t.reflection.function import LEAST, ReflectionFunction, count_of
from l2t.reflection.lesson import Lesson, Split, pair_splits
from l2t.reflection.loss import COMPONENTS, Settings, Solution, starts
from l2t.reflection.reliability import Kind
from l2t.reflection.table import QMode, Table, recompute_statistics
from l2t.statistics import KernelBank
from l2t.typing import Array
from l2t.validation import one_of, whole_number

if TYPE_CHECKING:
    from l2t.experiences import ExperienceStore

LEAST_EXPERIENCES = 20
#: Starts agree whose losses differ from the best by less than this share of it.
AGREEMENT = 1e-4


def learn(
    experiences: Iterable[Experience],
    *,
    kernels: KernelBank | None = None,
    n_neighbors: int | Sequence[int] | None = None,
    components: Sequence[str] = COMPONENTS,
    q_mode: QMode = "full",
    gamma: float | Sequence[float] = (1e-2, 1e-3, 1e-4, 1e-5),
    huber: float | Sequence[float] = (0.05, 0.2),
    label_curve: bool = True,
    max_labels: int | None = 30,
    trained_on: TrainedOn = "target",
    n_folds: int = 5,
    n_starts: int = 8,
    store: ExperienceStore | None = None,
    random_state: int = 0,
) -> ReflectionFunction:
    """Learn a reflection function from experiences.

    Parameters
    ----------
    experiences : iterable of Experience
        At least 20 of finished runs, such as ``store.experiences()``; failed ones are ignored, and those
        that were `trained_on` other rows.
    kernels : KernelBank, optional
        A part of the experiences' bank; all of it by default.
    n_neighbors : int or sequence of int, optional
        The neighbours r of tau; of several, the best on held-out pairs. Those of the experiences by
        default; others are recomputed from the domains and W in `store`.
    components : sequence of str, default=("mmd", "variance", "discriminant")
        The terms of 1/f to learn; the others stay off.
    q_mode : {"full", "diag"}, default="full"
        All of Q, or its diagonal alone as the paper prints it.
    gamma, huber : float or sequence of float, default=(1e-2, 1e-3, 1e-4, 1e-5) and (0.05, 0.2)
        The weight of the regulariser and the Huber threshold; of several, the best on held-out pairs.
    label_curve : bool, default=True
        Whether ratios at different label counts are brought to one scale before learning.
    max_labels : int or None, default=30
        Experiences with more labels calibrate the function but do not shape it: there all ratios are
        near 1, and what is left is mostly noise. None for no limit.
    trained_on : {"target", "source", "both"}, default="target"
        What the classifier is trained on whose improvement is learned; the function says so. That of
        "source" knows no numbers of labels.
    n_folds, n_starts : int, default=5 and 8
        Splits for choosing and calibrating, and starts of the search.
    store : ExperienceStore, optional
        The store of the experiences, for what they do not carry themselves.
    random_state : int, default=0
        The seed of starts and splits.

    Returns
    -------
    ReflectionFunction
        `training` holds the settings with their scores on held-out pairs, how many starts agreed, and why the
        search stopped. Its forecast is the one that ships, refined by the experiences; it has none for
        classifiers that are trained on the source or on both.
    """
    grid = _grid(gamma, huber, components)
    whole_number("n_folds", n_folds, least=2)
    whole_number("n_starts", n_starts, least=1)
    count_of(max_labels, "max_labels")
    one_of("trained_on", trained_on, get_args(TrainedOn))
    best: _Trial | None = None
    choices: list[dict[str, Any]] = []
    own, several = OwnRatios(), _neighbors(n_neighbors)
    given: Iterable[Experience] = own.noting(_trained(experiences, trained_on))
    if len(several) > 1:  # otherwise they are read once, and not kept
        given = list(given)
    for r in several:
        table = Table(
            recompute_statistics(given, store, n_neighbors=r), kernels=kernels, q_mode=q_mode
        )
        if len(table) < LEAST_EXPERIENCES:
            raise InvalidInputError(
                f"experiences must be at least {LEAST_EXPERIENCES} of finished runs, got {len(table)}"
            )
        curve = fit_label_curve(table.run, table.n_labels, table.ratio)
        lesson = Lesson.of(table, curve if label_curve else replace(curve, c=0.0), max_labels)
        sample = lesson.sample(random_state)
        rng = np.random.default_rng(random_state)
        splits = pair_splits(sample.table.pair, n_folds, rng)
        for settings, held_out in _held_out(sample, splits, grid):
            trial = _Trial(lesson, sample, settings, held_out)
            choices.append(trial.summary())
            if best is None or trial.score > best.score:
                best = trial
    assert best is not None  # there is at least one candidate, and one setting
    solution, agreement = _from_several_starts(best, n_starts, random_state)
    function = _function(best, solution, q_mode, agreement | {"choices": choices})
    forecast = Forecast.default().refined_by(own) if trained_on == "target" else None
    return replace(function, forecast=forecast, trained_on=trained_on)


def _trained(experiences: Iterable[Experience], trained_on: TrainedOn) -> Iterator[Experience]:
    """Yield the experiences of finished runs that were trained on some rows, of which there must be some."""
    kinds = set()
    for each in (each for each in experiences if each.status == "done"):
        kinds.add(each.trained_on)
        if each.trained_on == trained_on:
            yield each
    if kinds and trained_on not in kinds:
        raise InvalidInputError(
            f"trained_on must be what some experiences were trained on ({', '.join(sorted(kinds))}), "
            f"got {trained_on!r}"
        )


@dataclass(frozen=True, eq=False)
class _Trial:
    """Settings, with the predictions 1/f that they gave for held-out runs (NaN: not held out)."""

    lesson: Lesson
    sample: Lesson
    settings: Settings
    held_out: Array

    @cached_property
    def levels(self) -> tuple[Array, Array]:
        """1/f and the mean l_hat of the runs that have both."""
        levels = self.sample.levels()
        known = np.isfinite(self.held_out) & np.isfinite(levels)
        return self.held_out[known], levels[known]

    @property
    def score(self) -> float:
        """Rank correlation of predicted and actual levels; -inf where it is not defined."""
        from scipy.stats import spearmanr  # which is slow to import

        inverse, level = self.levels
        if len(level) < 3 or np.ptp(inverse) == 0 or np.ptp(level) == 0:
            return -np.inf
        return float(spearmanr(-inverse, level).statistic)

    def summary(self) -> dict[str, Any]:
        """Return the settings and their scores as plain values."""
        inverse, level = self.levels
        score = self.score
        return {
            "n_neighbors": self.lesson.table.n_neighbors,
            "gamma": self.settings.gamma,
            "huber": self.settings.huber,
            "spearman": score if np.isfinite(score) else None,
            "rmse": float(np.sqrt(np.mean((inverse - 1.0 / level) ** 2))) if level.size else None,
        }

    def calibration(self) -> dict[int, Kind] | None:
        """Return how far log ratios were from predictions, by label count; None for less than two pairs."""
        table = self.sample.table
        inverse = np.maximum(self.held_out, LEAST)[table.run]
        errors = np.log(table.ratio * inverse * self.sample.curve.factor(table.n_labels))
        known = np.isfinite(errors)
        found = {}
        for count in (0, *np.unique(table.n_labels[known]).tolist()):
            at = known & ((count == 0) | (table.n_labels == count))
            n_pairs = len(np.unique(table.pair[table.run[at]]))
            if n_pairs < 2 and count == 0:
                return None
            # Of a single pair nothing is known, as of none.
            found[count] = Kind.of(errors[at], n_pairs if n_pairs > 1 else 0)
        return found


def _grid(
    gamma: float | Sequence[float], huber: float | Sequence[float], components: Sequence[str]
) -> list[Settings]:
    """Return all settings, those of one Huber threshold together, strong regularisers first."""
    gammas, hubers = (_positive(*each) for each in (("gamma", gamma), ("huber", huber)))
    chosen = tuple(name for name in COMPONENTS if name in components)
    if not chosen or len(chosen) < len(set(components)):
        raise InvalidInputError(
            f"components must be some of {', '.join(COMPONENTS)}, got {components!r:.80}"
        )
    falling = sorted(gammas, reverse=True)
    return [Settings(g, h, chosen) for h, g in itertools.product(hubers, falling)]


def _positive(name: str, given: float | Sequence[float]) -> list[float]:
    values = np.full(1, np.nan)
    with suppress(TypeError, ValueError):
        values = np.atleast_1d(np.asarray(given, dtype=np.float64))
    if not values.size or not (np.isfinite(values) & (values > 0)).all():
        raise InvalidInputError(f"{name} must be one or more positive numbers, got {given!r:.80}")
    return [float(value) for value in values]


def _neighbors(n_neighbors: int | Sequence[int] | None) -> Sequence[int | None]:
    """Return the numbers of neighbours to choose from; None for those of the experiences."""
    if n_neighbors is None:
        return [None]
    given = n_neighbors if isinstance(n_neighbors, Iterable) else [n_neighbors]
    several = [whole_number("n_neighbors", r, least=1) for r in given]
    if not several:
        raise InvalidInputError("n_neighbors must be one or more whole numbers, got none")
    return several


def _held_out(
    sample: Lesson, splits: Sequence[Split], grid: Sequence[Settings]
) -> list[tuple[Settings, Array]]:
    """Return for all settings what is predicted of each run from others; NaN where it is never held out.

    Within a split, one solution is the start of the next: strong regularisers come first.
    """
    sums = np.zeros((len(grid), sample.table.n_runs))
    times = np.zeros(sample.table.n_runs)
    for learned, held in splits:
        if not learned[sample.run].any():
            continue  # its pairs have many labels only
        theta = _first(sample)
        for i, settings in enumerate(grid):
            if i and settings.huber != grid[i - 1].huber:
                theta = _first(sample)
            problem = sample.problem(settings, learned)
            theta = problem.solve(theta).theta
            sums[i, held] += problem.predictions(theta)[held]
        times[held] += 1
    with np.errstate(invalid="ignore"):
        return list(zip(grid, sums / times, strict=True))


def _first(lesson: Lesson) -> Array:
    return starts(1, len(lesson.table.kernels), lesson.y, 0)[0]


def _from_several_starts(
    trial: _Trial, n_starts: int, random_state: int
) -> tuple[Solution, dict[str, Any]]:
    """Return the best solution, and how many starts agreed on it; they are compared on a sample."""
    lesson, sample, settings = trial.lesson, trial.sample, trial.settings
    problem = sample.problem(settings)
    first = starts(n_starts, len(lesson.table.kernels), lesson.y, random_state)
    found = [problem.solve(theta) for theta in first]
    best = min(found, key=lambda solution: solution.loss)
    agree = sum(each.loss - best.loss <= AGREEMENT * abs(best.loss) for each in found)
    agreement = {
        "starts": n_starts,
        "starts_agreeing": agree,
        "losses": [each.loss for each in found],
    }
    if sample is not lesson:
        best = lesson.problem(settings).solve(best.theta)
    return best, agreement


def _function(
    trial: _Trial, solution: Solution, q_mode: QMode, search: dict[str, Any]
) -> ReflectionFunction:
    lesson, settings = trial.lesson, trial.settings
    table, calibration = lesson.table, trial.calibration()
    if calibration is None:
        warnings.warn(
            "all experiences are of one pair: settings were not cross-validated, and there is no "
            "interval; collect from more pairs",
            L2TWarning,
            stacklevel=3,
        )
    names, counts = np.unique(table.algorithms, return_counts=True)
    return ReflectionFunction(
        *solution.parameters(lesson.units),
        kernels=table.kernels,
        n_neighbors=table.n_neighbors,
        q_mode=q_mode,
        c=lesson.curve.c,
        label_range=(lesson.curve.fewest, lesson.curve.most),
        calibration=calibration,
        training={
            "experiences": len(table),
            "runs": table.n_runs,
            "pairs": int(table.pair.max()) + 1,
            "algorithms": dict(zip(names.tolist(), counts.tolist(), strict=True)),
            "max_labels": lesson.max_labels,
            "components": list(settings.components),
            "gamma": settings.gamma,
            "huber": settings.huber,
            "loss": solution.loss,
            "stopped": solution.stopped,
            **search,
            "version": __version__,
        },
    )
