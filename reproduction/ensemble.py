"""The weights of the ensemble, learned from tasks of several kinds of data.

Each task is answered once: the probabilities of all learners for its test rows are kept in a working folder.
An interrupted run resumes where it stopped, and weights can be learned without each kind in turn.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import log_softmax

from l2t.domains import KnownClasses
from l2t.numerics import few_threads
from l2t.prediction.ensemble import FLOOR, Weights
from l2t.prediction.trials import LEARNERS, Trial, ViewRows
from l2t.prediction.views import N_NETWORKS, fit_views
from l2t.progress import progress_bar
from reproduction.labelled_tasks import FAMILIES, SETTINGS, draw_task

__all__ = ["AnsweredTask", "answer_tasks", "learn_weights", "write_weights"]

Probabilities = npt.NDArray[np.float64]
#: Labels per class at which weights are learned, and the penalty of their distance from equal ones.
SHOTS = (1, 5, 20)
PENALTY = 0.02
#: Settings that have the same target, with more and more labels.
SAME_TARGET = (("1", "5", "20"), ("1, adverse", "5, adverse"))


@dataclass(frozen=True, eq=False)
class AnsweredTask:
    """What all learners answered for the test rows of a task."""

    family: str
    setting: str
    trial: Trial


def answer_tasks(
    families: Iterable[str], numbers: Sequence[int], data: Path, work: Path
) -> list[AnsweredTask]:
    """Return tasks of families with what all learners answer; those in the working folder are read.

    Parameters
    ----------
    families : iterable of str
        Names in `FAMILIES`.
    numbers : sequence of int
        The numbers of the draws of each.
    data, work : Path
        The folder of the data sets, and the working folder.

    Returns
    -------
    list of AnsweredTask
    """
    work.mkdir(parents=True, exist_ok=True)
    families = list(families)
    wanted = [
        (family, number, names)
        for number in numbers
        for family in families
        for names in SAME_TARGET
    ]
    tasks = []
    with progress_bar(len(wanted), "answering tasks") as advance:
        for family, number, names in wanted:
            path = work / f"learners-{family}-{number}-{names[0].replace(', ', '-')}.npz"
            if not path.exists():
                part = path.with_suffix(".part")
                part.write_bytes(_packed(_answer(family, number, names, data)))
                part.replace(path)
            with np.load(path, allow_pickle=False) as file:
                tasks += [
                    AnsweredTask(
                        family,
                        name,
                        Trial(LEARNERS, file[f"{name} P"].astype(float), file[f"{name} codes"]),
                    )
                    for name in names
                ]
            advance(family)
    return tasks


def _answer(family: str, number: int, names: Sequence[str], data: Path) -> dict[str, Trial]:
    """Return the answers of all learners for a target at increasing numbers of labels."""
    kinds = FAMILIES[family]
    kind = kinds[number % len(kinds)]
    source, target, *_ = draw_task(kind, number, SETTINGS[names[0]], data)
    known = KnownClasses([source]).without(target)
    trials = {}
    with few_threads(0):
        rows = ViewRows(fit_views(known, target.X, n_networks=N_NETWORKS), target.X)
        for name in names:
            *_, at, test = draw_task(kind, number, SETTINGS[name], data)
            P = rows.answer(LEARNERS, (at, test), target.codes, int(target.codes.max()) + 1)
            trials[name] = Trial(LEARNERS, P, target.codes[test])
    return trials


def _packed(trials: dict[str, Trial]) -> bytes:
    """Return trials as the content of an npz file, in half precision."""
    arrays = {}
    for name, trial in trials.items():
        arrays[f"{name} P"] = trial.probabilities.astype(np.float16)
        arrays[f"{name} codes"] = trial.codes.astype(np.int16)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def learn_weights(tasks: Sequence[AnsweredTask]) -> Weights:
    """Return the weights of least log-loss on the test rows of tasks, each task counting the same.

    Parameters
    ----------
    tasks : sequence of AnsweredTask
        The tasks, of the families that may be learned from.

    Returns
    -------
    Weights
    """

    def learned(adverse: bool) -> dict[str, tuple[float, ...]]:
        columns: list[Probabilities] = []
        for shots in SHOTS:
            name = f"{shots}, adverse" if adverse else str(shots)
            some = [task for task in tasks if task.setting == name]
            # Adverse targets are made with one and five labels per class.
            columns.append(_least_loss(some) if some else columns[-1])
        return {
            learner.name: tuple(round(float(column[k]), 3) for column in columns)
            for k, learner in enumerate(LEARNERS)
        }

    return Weights(tuple(map(float, SHOTS)), learned(False), learned(True))


def _least_loss(tasks: Sequence[AnsweredTask]) -> Probabilities:
    logs = [np.log(task.trial.probabilities + FLOOR) for task in tasks]
    even = np.full(len(LEARNERS), 1.0 / len(LEARNERS))

    def value_and_gradient(w: Probabilities) -> tuple[float, Probabilities]:
        value = PENALTY * float(np.sum((w - even) ** 2))
        gradient = 2.0 * PENALTY * (w - even)
        for F, task in zip(logs, tasks, strict=True):
            codes = task.trial.codes
            log_p = log_softmax(np.tensordot(w, F, 1), axis=1)
            rows = np.arange(len(codes))
            value -= float(log_p[rows, codes].mean()) / len(tasks)
            residual = np.exp(log_p)
            residual[rows, codes] -= 1.0
            gradient += np.tensordot(F, residual, ((1, 2), (0, 1))) / (len(codes) * len(tasks))
        return value, gradient

    bounds = [(0.0, None)] * len(even)
    solved = minimize(value_and_gradient, even, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(solved.x)


def write_weights(weights: Weights, path: Path) -> None:
    """Write weights as the JSON file that ships with the package."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(weights), indent=1) + b"\n")
