"""Learning the reflection function from experiences.

1. Ratios at different label counts are made comparable (l_hat, `calibration`).
2. gamma, the Huber threshold and, where a store can recompute tau, the number of neighbours r are chosen by
   cross-validation over targets: no target is on both sides of a split.
3. The function is learned from all experiences, from several starts.
4. Intervals are calibrated with the errors of held-out predictions, by label count (`ErrorQuantiles`). Those
   of a fold are made with the settings that are best on the other folds: they take no part in that choice.
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
from l2t.forecast import ErrorQuantiles, Forecast, OwnRatios
from l2t.paper.calibration import fit_label_curve
from l2t.paper.convex import ConvexReflection
from l2t.paper.function import LEAST, Reflection, ReflectionFunction, checked_count
from l2t.paper.loss import COMPONENTS, Form, LossMinimum, LossSettings
from l2t.paper.table import QMode, RunTable, recompute_statistics
from l2t.paper.training_set import LearningSet, RunSplit, target_splits
from l2t.statistics import KernelBank
from l2t.typing import Array, JsonObject
from l2t.validation import one_of, real_number, whole_number

if TYPE_CHECKING:
    from l2t.experiences import ExperienceStore

LEAST_EXPERIENCES = 20
#: Starts agree if their loss differs from the best by less than this share of it.
AGREEMENT = 1e-4


def learn(  # noqa: PLR0913
    experiences: Iterable[Experience],
    *,
    kernels: KernelBank | None = None,
    n_neighbors: int | Sequence[int] | None = None,
    components: Sequence[str] = COMPONENTS,
    form: Form = "paper",
    q_mode: QMode = "full",
    gamma: float | Sequence[float] = (1e-2, 1e-3, 1e-4, 1e-5),
    huber: float | Sequence[float] = (0.05, 0.2),
    label_curve: bool = True,
    max_labels: int | None = 30,
    best: float = 0.5,
    trained_on: TrainedOn = "target",
    n_folds: int = 5,
    n_starts: int = 8,
    store: ExperienceStore | None = None,
    random_state: int = 0,
) -> Reflection:
    """Learn a reflection function from experiences.

    Parameters
    ----------
    experiences : iterable of Experience
        At least 20 of finished runs, such as ``store.experiences()``; failed ones, and those with another
        `trained_on`, are ignored.
    kernels : KernelBank, optional
        A subset of the kernels of the experiences; by default all.
    n_neighbors : int or sequence of int, optional
        The number of neighbours r of tau; of several, the best on held-out targets. By default that of the
        experiences; other numbers are recomputed from the domains and W in `store`.
    components : sequence of str, default=("mmd", "variance", "discriminant")
        The terms of 1/f to learn; the others are left out.
    form : {"paper", "convex"}, default="paper"
        The form of 1/f: "paper" for equation (2) of the paper, with one beta for all terms, or "convex" for
        weights of each term and kernel, with one optimum (`ConvexReflection`).
    q_mode : {"full", "diag"}, default="full"
        Whether to use all of Q, or only its diagonal as printed in the paper. The convex form has only the
        diagonal.
    gamma : float or sequence of float, default=(1e-2, 1e-3, 1e-4, 1e-5)
        The weight of the regulariser; of several, the best on held-out targets.
    huber : float or sequence of float, default=(0.05, 0.2)
        The Huber threshold; of several, the best on held-out targets.
    label_curve : bool, default=True
        Whether to correct ratios for their label counts before learning.
    max_labels : int or None, default=30
        Experiences with more labels are used for calibration, not for fitting: their ratios are all near 1,
        and differ mostly by noise. None for no limit.
    best : float, default=0.5
        The share of the runs of each pair to fit, those with the highest ratios, in (0, 1]; the others are
        used for calibration only. With the best half the function learns what a search needs, to tell good
        W's apart; with all runs (1.0) it learns to tell bad algorithms from good ones.
    trained_on : {"target", "source", "both"}, default="target"
        The rows that the classifier is trained on, whose improvement is learned. For "source" the function
        ignores the number of labels.
    n_folds : int, default=5
        Number of cross-validation folds, for model selection and calibration.
    n_starts : int, default=8
        Number of starts of the optimisation; the convex form needs only one.
    store : ExperienceStore, optional
        The store of the experiences, needed only for other `n_neighbors`.
    random_state : int, default=0
        The seed of the starts and folds.

    Returns
    -------
    ReflectionFunction, or ConvexReflection for ``form="convex"``
        `training` has the settings with their scores on held-out targets, the number of starts that agreed,
        and the reason for stopping. The forecast is the one that ships, refined by the experiences; there is
        none for classifiers trained on the source or on both.

    Raises
    ------
    InvalidInputError
        There are fewer than 20 experiences, or a parameter is invalid.
    """
    one_of("form", form, get_args(Form))
    grid = _grid(gamma, huber, components, form)
    whole_number("n_folds", n_folds, least=2)
    whole_number("n_starts", n_starts, least=1)
    checked_count(max_labels, "max_labels")
    real_number("best", best, above=0, most=1)
    one_of("trained_on", trained_on, get_args(TrainedOn))
    chosen: _Trial | None = None
    choices: list[JsonObject] = []
    predictions: list[Array] = []
    several = _neighbors(n_neighbors)
    ratios = OwnRatios()
    selected: Iterable[Experience] = ratios.record(_select(experiences, trained_on))
    if len(several) > 1:  # otherwise they are read only once, without keeping them
        selected = list(selected)
    for r in several:
        table = RunTable(
            recompute_statistics(selected, store, n_neighbors=r), kernels=kernels, q_mode=q_mode
        )
        if len(table) < LEAST_EXPERIENCES:
            raise InvalidInputError(
                f"experiences must be at least {LEAST_EXPERIENCES} of finished runs, got {len(table)}"
            )
        curve = fit_label_curve(table.run, table.n_labels, table.ratio)
        training_set = LearningSet.of(
            table, curve if label_curve else replace(curve, c=0.0), max_labels, best
        )
        sample = training_set.sample(random_state)
        rng = np.random.default_rng(random_state)
        splits = target_splits(sample.table.target, n_folds, rng)
        for settings, held_out in _cross_validate(sample, splits, grid):
            trial = _Trial(training_set, sample, settings, held_out)
            choices.append(trial.summary())
            predictions.append(held_out)
            if chosen is None or trial.score > chosen.score:
                chosen = trial
    assert chosen is not None  # there is at least one setting
    solution, agreement = _from_several_starts(chosen, n_starts, random_state)
    calibration = _calibration(
        chosen.sample, _with_other_choice(chosen.sample, splits, predictions)
    )
    function = _function(chosen, solution, q_mode, agreement | {"choices": choices}, calibration)
    # Another predictor, which knows nothing of this function; the same reading of the experiences refines it.
    forecast = ratios.refine(Forecast.default()) if trained_on == "target" else None
    return replace(function, forecast=forecast, trained_on=trained_on)


def _select(experiences: Iterable[Experience], trained_on: TrainedOn) -> Iterator[Experience]:
    """Yield the experiences of finished runs with this `trained_on`; an error if there are only others."""
    if not isinstance(experiences, Iterable):
        raise InvalidInputError(
            "experiences must be an iterable of Experience, such as store.experiences(), got "
            f"{type(experiences).__name__}"
        )
    kinds = set()
    for experience in experiences:
        if experience.status != "done":
            continue
        kinds.add(experience.trained_on)
        if experience.trained_on == trained_on:
            yield experience
    if kinds and trained_on not in kinds:
        raise InvalidInputError(
            f"trained_on must be what some experiences were trained on ({', '.join(sorted(kinds))}), "
            f"got {trained_on!r}"
        )


@dataclass(frozen=True, eq=False)
class _Trial:
    """Settings, and the cross-validated predictions of 1/f with them (NaN for runs never held out)."""

    training_set: LearningSet
    sample: LearningSet
    settings: LossSettings
    held_out: Array

    @cached_property
    def score(self) -> float:
        """Spearman correlation of predicted and actual levels; -inf if it is undefined."""
        return _rank_correlation(self.held_out, self.sample.levels())

    def summary(self) -> JsonObject:
        """Return the settings and their scores as plain values."""
        errors = self.held_out - 1.0 / self.sample.levels()
        errors = errors[np.isfinite(errors)]
        return {
            "n_neighbors": self.training_set.table.n_neighbors,
            "gamma": self.settings.gamma,
            "huber": self.settings.huber,
            "spearman": self.score if np.isfinite(self.score) else None,
            "rmse": float(np.sqrt(np.mean(errors**2))) if errors.size else None,
        }


def _rank_correlation(inverse: Array, level: Array) -> float:
    """Return Spearman's correlation of predicted 1/f and actual levels; -inf if it is undefined."""
    from scipy.stats import spearmanr  # slow to import

    known = np.isfinite(inverse) & np.isfinite(level)
    inverse, level = inverse[known], level[known]
    if len(level) < 3 or np.ptp(inverse) == 0 or np.ptp(level) == 0:
        return -np.inf
    return float(spearmanr(-inverse, level).statistic)


def _with_other_choice(
    sample: LearningSet, splits: Sequence[RunSplit], predictions: Sequence[Array]
) -> Array:
    """Return the prediction of each run with the settings that are best on the other folds."""
    predicted, levels = np.full(sample.table.n_runs, np.nan), sample.levels()
    for others, held in splits:
        scores = [
            _rank_correlation(prediction[others], levels[others]) for prediction in predictions
        ]
        predicted[held] = predictions[int(np.argmax(scores))][held]
    return predicted


def _calibration(sample: LearningSet, held_out: Array) -> dict[int, ErrorQuantiles] | None:
    """Return the quantiles of errors of log ratios, by label count; None for fewer than two pairs."""
    table = sample.table
    inverse = np.maximum(held_out, LEAST)[table.run]
    errors = np.log(table.ratio * inverse * sample.curve.factor(table.n_labels))
    known = np.isfinite(errors)
    quantiles = {}
    for count in (0, *np.unique(table.n_labels[known]).tolist()):
        at = known & ((count == 0) | (table.n_labels == count))
        n_pairs = len(np.unique(table.pair[table.run[at]]))
        if n_pairs < 2 and count == 0:
            return None
        # A single pair is no better than none: its interval is infinite.
        quantiles[count] = ErrorQuantiles.of(errors[at], n_pairs if n_pairs > 1 else 0)
    return quantiles


def _grid(
    gamma: float | Sequence[float],
    huber: float | Sequence[float],
    components: Sequence[str],
    form: Form,
) -> list[LossSettings]:
    """Return all settings, grouped by Huber threshold, with decreasing gamma."""
    gammas, hubers = (_positive(*named) for named in (("gamma", gamma), ("huber", huber)))
    chosen = tuple(name for name in COMPONENTS if name in components)
    if not chosen or len(chosen) < len(set(components)):
        raise InvalidInputError(
            f"components must be some of {', '.join(COMPONENTS)}, got {components!r:.80}"
        )
    decreasing = sorted(gammas, reverse=True)
    return [LossSettings(g, h, chosen, form) for h, g in itertools.product(hubers, decreasing)]


def _positive(name: str, value: float | Sequence[float]) -> list[float]:
    values = np.full(1, np.nan)
    with suppress(TypeError, ValueError):
        values = np.atleast_1d(np.asarray(value, dtype=np.float64))
    if not values.size or not (np.isfinite(values) & (values > 0)).all():
        raise InvalidInputError(f"{name} must be one or more positive numbers, got {value!r:.80}")
    return [float(value) for value in values]


def _neighbors(n_neighbors: int | Sequence[int] | None) -> Sequence[int | None]:
    """Return the numbers of neighbours to choose from; None for that of the experiences."""
    if n_neighbors is None:
        return [None]
    numbers = n_neighbors if isinstance(n_neighbors, Iterable) else [n_neighbors]
    several = [whole_number("n_neighbors", r, least=1) for r in numbers]
    if not several:
        raise InvalidInputError("n_neighbors must be one or more whole numbers, got none")
    return several


def _cross_validate(
    sample: LearningSet, splits: Sequence[RunSplit], grid: Sequence[LossSettings]
) -> list[tuple[LossSettings, Array]]:
    """Return the cross-validated prediction of each run for all settings; NaN if it is never held out.

    Within a fold each solution is the start of the next one, with a smaller gamma.
    """
    sums = np.zeros((len(grid), sample.table.n_runs))
    times = np.zeros(sample.table.n_runs)
    for learned, held in splits:
        if not learned[sample.run].any():
            continue  # all experiences of these pairs have many labels
        first = theta = sample.problem(grid[0]).starts(1, 0)[0]
        for i, settings in enumerate(grid):
            if i and settings.huber != grid[i - 1].huber:
                theta = first
            problem = sample.problem(settings, learned)
            theta = problem.solve(theta).theta
            sums[i, held] += problem.predictions(theta)[held]
        times[held] += 1
    with np.errstate(invalid="ignore"):
        return list(zip(grid, sums / times, strict=True))


def _from_several_starts(
    trial: _Trial, n_starts: int, random_state: int
) -> tuple[LossMinimum, JsonObject]:
    """Return the best solution, and the agreement of the starts, which are compared on a sample."""
    training_set, sample, settings = trial.training_set, trial.sample, trial.settings
    problem = sample.problem(settings)
    first = problem.starts(n_starts, random_state)
    solutions = [problem.solve(theta) for theta in first]
    best = min(solutions, key=lambda solution: solution.loss)
    agree = sum(solution.loss - best.loss <= AGREEMENT * abs(best.loss) for solution in solutions)
    agreement = {
        "starts": len(first),
        "starts_agreeing": agree,
        "losses": [solution.loss for solution in solutions],
    }
    if sample is not training_set:
        best = training_set.problem(settings).solve(best.theta)
    return best, agreement


def _function(
    trial: _Trial,
    solution: LossMinimum,
    q_mode: QMode,
    search: JsonObject,
    calibration: dict[int, ErrorQuantiles] | None,
) -> Reflection:
    training_set, settings = trial.training_set, trial.settings
    table = training_set.table
    if calibration is None:
        warnings.warn(
            "all experiences are of one target: settings were not cross-validated, and there are no "
            "intervals; collect experiences of more targets",
            L2TWarning,
            stacklevel=3,
        )
    names, counts = np.unique(table.algorithms, return_counts=True)
    common: dict[str, Any] = {
        "kernels": table.kernels,
        "n_neighbors": table.n_neighbors,
        "c": training_set.curve.c,
        "label_range": (training_set.curve.fewest, training_set.curve.most),
        "calibration": calibration,
        "training": {
            "experiences": len(table),
            "runs": table.n_runs,
            "pairs": int(table.pair.max()) + 1,
            "algorithms": dict(zip(names.tolist(), counts.tolist(), strict=True)),
            "max_labels": training_set.max_labels,
            "best": training_set.best,
            "components": list(settings.components),
            "gamma": settings.gamma,
            "huber": settings.huber,
            "loss": solution.loss,
            "stopped": solution.stopped,
            **search,
            "version": __version__,
        },
    }
    units = training_set.units
    if settings.form == "convex":
        weights, b = solution.theta[:-1].reshape(3, -1), float(solution.theta[-1])
        return ConvexReflection(weights, b, units.by_kernel, **common)
    return ReflectionFunction(*solution.parameters(units), q_mode=q_mode, **common)
