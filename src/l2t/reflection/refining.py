"""Going on learning: new experiences refine a function without the old ones.

What was learned from is kept as its loss to second order (`Memory`): 40 numbers squared, however many
experiences there were. The cost of a new experience therefore does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from l2t.exceptions import InvalidInputError
from l2t.experiences import Experience
from l2t.reflection.function import Lessons, ReflectionFunction
from l2t.reflection.lesson import Lesson
from l2t.reflection.loss import Problem
from l2t.reflection.table import Table

__all__ = ["refine"]


def refine(function: ReflectionFunction, experiences: Iterable[Experience]) -> ReflectionFunction:
    """Return the function that has learned from more experiences.

    gamma, the Huber threshold, the neighbours and the label curve stay as they were chosen. What the old
    function predicted for the new experiences goes into the calibration: it had not learned from them.
    """
    if function.lessons is None:
        raise InvalidInputError(
            "partial_fit needs a function that l2t.learn gave, got one written by hand"
        )
    table = Table(experiences, kernels=function.kernels, q_mode=function.q_mode)
    if table.n_neighbors != function.n_neighbors:
        raise InvalidInputError(
            f"experiences must have the function's n_neighbors, {function.n_neighbors}, "
            f"got {table.n_neighbors}"
        )
    lessons = function.lessons
    max_labels = function.training.get("max_labels")
    lesson = Lesson.of(table, function.label_curve, max_labels, lessons.units)
    problem = Problem(
        table, lesson.run, lesson.y, lessons.units, lessons.settings, memory=lessons.memory
    )
    solution = problem.solve(lessons.memory.theta)
    beta, lambda_, mu, b = solution.parameters(lessons.units)
    n_pairs = int(table.pair.max()) + 1
    calibration = function.calibration
    if calibration is not None:
        inverse, known = problem.predictions(lessons.memory.theta), np.isfinite(lesson.levels())
        calibration = calibration.updated(*lesson.outcomes(inverse, known), n_pairs)
    grown = {"experiences": len(table), "runs": table.n_runs, "pairs": n_pairs}
    training = dict(function.training) | {
        name: int(function.training.get(name, 0)) + more for name, more in grown.items()
    }
    return replace(
        function,
        beta=beta,
        lambda_=lambda_,
        mu=mu,
        b=b,
        calibration=calibration,
        lessons=Lessons(problem.remember(solution.theta), lessons.units, lessons.settings),
        training=training | {"loss": solution.loss},
    )
