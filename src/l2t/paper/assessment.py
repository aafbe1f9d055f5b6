"""The quality of a reflection function: its predictions for runs against the measured ratios.

On the pairs that a function was learned from, the result is optimistic. `learning_curve` therefore holds out
target domains, chosen by their content alone, so that all functions are assessed on the same ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from l2t.exceptions import InvalidInputError, L2TWarning
from l2t.experiences import Experience
from l2t.paper.explanation import MOST_LABELS, PredictedRun, by_run
from l2t.paper.function import Reflection
from l2t.paper.learning import LEAST_EXPERIENCES, learn
from l2t.paper.training_set import held_out
from l2t.typing import Array, Indices

COVERAGE_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
#: Fewer pairs, or a lower coverage of 90 % intervals, give a warning.
FEW_PAIRS, POOR_COVERAGE = 20, 0.8
#: Number of points of a learning curve, in geometric progression.
N_POINTS = 6


@dataclass(frozen=True)
class Assessment:
    """Predictions of a reflection function against measured ratios.

    Attributes
    ----------
    runs : tuple of PredictedRun
        All runs; `actual` is the mean over at most 30 labels.
    n_pairs : int
        Number of pairs.
    rank_correlation : float
        Spearman's correlation of predicted and actual ratios; NaN if either is constant.
    rmse : float
        Root mean squared difference of predicted and actual ratios.
    terms : dict of str to float
        The mean of each term of 1/f.
    coverage : dict of int to (float, int)
        Coverage of the 90 % interval and number of ratios, by label count; empty without calibration.
    reliability : dict of float to float
        Coverage of intervals over all measured ratios, by level.
    """

    runs: tuple[PredictedRun, ...]
    n_pairs: int
    rank_correlation: float
    rmse: float
    terms: dict[str, float]
    coverage: dict[int, tuple[float, int]]
    reliability: dict[float, float]

    @property
    def warnings(self) -> list[str]:
        """Reasons to doubt the function, one sentence each."""
        sentences = []
        covered = self.reliability.get(0.9)
        if self.n_pairs < FEW_PAIRS:
            sentences.append(f"These figures are from only {self.n_pairs} pairs.")
        if np.ptp([run.predicted for run in self.runs]) < 1e-3:
            sentences.append("It predicts the same ratio for every run, so it cannot rank them.")
        if covered is not None and covered < POOR_COVERAGE:
            sentences.append(
                f"Its 90 % intervals contain only {100 * covered:.0f} % of the ratios."
            )
        if covered is None:
            sentences.append("It has no intervals.")
        return sentences


@dataclass(frozen=True)
class CurvePoint:
    """The quality of a function on held-out pairs, by the number of experiences it was learned from."""

    n_experiences: int
    n_pairs: int
    rank_correlation: float
    rmse: float
    coverage: float


def assess(function: Reflection, experiences: Iterable[Experience]) -> Assessment:
    """Compare the predictions of a function with measured ratios.

    Parameters
    ----------
    function : Reflection
        The function.
    experiences : iterable of Experience
        Experiences with statistics. Failed ones are ignored, and those with another `trained_on` than the
        function's.

    Returns
    -------
    Assessment
    """
    runs_of_experiences = by_run(experiences, function.trained_on)
    if not runs_of_experiences:
        raise InvalidInputError(
            f"experiences must hold at least one finished run trained on {function.trained_on!r}, got none"
        )
    runs, terms, errors, counts = [], [], [], []
    for rows in runs_of_experiences:
        assert rows[0].statistics is not None  # ensured by `by_run`
        terms.append(function.terms(rows[0].statistics.restrict(function.kernels)))
        inverse = sum(terms[-1].values())
        few_labels = [
            row for row in rows if row.n_labels is not None and row.n_labels <= MOST_LABELS
        ]
        runs.append(PredictedRun.of(few_labels or rows, function.ratio(inverse)))
        for row in rows:
            predicted = function.ratio(inverse, row.n_labels)
            errors.append(abs(np.log(row.improvement_ratio / predicted)))
            counts.append(row.n_labels)
    coverage, reliability = _covered(function, np.array(errors), np.array(counts))
    from scipy.stats import spearmanr  # slow to import

    expected, actual = np.array([(run.predicted, run.actual) for run in runs]).T
    varies = min(np.ptp(expected), np.ptp(actual)) > 1e-12
    return Assessment(
        runs=tuple(runs),
        n_pairs=len({(rows[0].source, rows[0].target) for rows in runs_of_experiences}),
        rank_correlation=float(spearmanr(expected, actual).statistic) if varies else np.nan,
        rmse=float(np.sqrt(np.mean((expected - actual) ** 2))),
        terms={name: float(np.mean([values[name] for values in terms])) for name in terms[0]},
        coverage=coverage,
        reliability=reliability,
    )


def _covered(
    function: Reflection, errors: Array, counts: Indices
) -> tuple[dict[int, tuple[float, int]], dict[float, float]]:
    """Return the coverage of intervals, by label count and by level."""
    if function.calibration is None:
        return {}, {}
    within = {
        level: errors <= [function.reach(count, level) for count in counts.tolist()]
        for level in COVERAGE_LEVELS
    }
    coverage = {
        int(count): (float(within[0.9][counts == count].mean()), int((counts == count).sum()))
        for count in np.unique(counts)
    }
    return coverage, {level: float(inside.mean()) for level, inside in within.items()}


def learning_curve(
    experiences: Iterable[Experience],
    *,
    callback: Callable[[CurvePoint], None] | None = None,
) -> tuple[list[CurvePoint], Reflection]:
    """Learn from increasing numbers of pairs, and assess on held-out targets, a quarter of all (`held_out`).

    Parameters
    ----------
    experiences : iterable of Experience
        Experiences with statistics.
    callback : callable, optional
        Called with each point as soon as it is computed.

    Returns
    -------
    points : list of CurvePoint
        The points of the curve.
    function : Reflection
        The function learned from all pairs that are not held out.
    """
    test: list[Experience] = []
    pairs: dict[tuple[str, str], list[Experience]] = {}
    for experience in experiences:
        if experience.statistics is None or experience.trained_on != "target":
            continue
        if held_out(experience.target):
            test.append(experience)
        else:
            pairs.setdefault((experience.source, experience.target), []).append(experience)
    training = [pairs[key] for key in sorted(pairs)]
    reached = np.cumsum([len(rows) for rows in training])
    enough = np.flatnonzero(reached >= LEAST_EXPERIENCES)
    if not test or not enough.size or len(training) < 2:
        raise InvalidInputError(
            f"a learning curve needs at least {LEAST_EXPERIENCES} experiences of two pairs to learn from "
            f"and one pair to predict, got {int(reached[-1]) if len(reached) else 0} experiences of "
            f"{len(training)} pairs and {len(test)} experiences held out"
        )
    least = max(int(enough[0]) + 1, 2)
    sizes = np.unique(np.geomspace(least, len(training), N_POINTS).round().astype(int))
    points = []
    for size in sizes.tolist():
        rows = [experience for pair in training[:size] for experience in pair]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", L2TWarning)
            function = learn(rows, gamma=(1e-3, 1e-5), huber=0.2, n_starts=2)
        assessment = assess(function, test)
        coverage = assessment.reliability.get(0.9, np.nan)
        point = CurvePoint(len(rows), size, assessment.rank_correlation, assessment.rmse, coverage)
        points.append(point)
        if callback is not None:
            callback(point)
    return points, function
