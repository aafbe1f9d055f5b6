"""The weights of the ensemble, learned from tasks of several kinds of data, and what it is worth on others.

Each task is tried once: probabilities of all learners in plays, on the labelled rows and on the test rows are
kept in a working folder, so that an interrupted run resumes where it stopped, and that weights can be learned
and judged without trying again.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import log_softmax

from l2t.domains import Domain, KnownClasses
from l2t.inference import infer
from l2t.numerics import few_threads
from l2t.prediction.ensemble import FLOOR, Situation, Weights
from l2t.prediction.trials import (
    BASELINES,
    LEARNERS,
    Learner,
    Trial,
    ViewRows,
    cross_validate,
    rehearse_learners,
)
from l2t.prediction.views import N_NETWORKS, fit_views
from l2t.progress import progress_bar
from reproduction.kinds import SHIPPABLE
from reproduction.labelled_tasks import FAMILIES, SETTINGS, draw_task

__all__ = ["TriedTask", "learn_weights", "try_tasks"]

Probabilities = npt.NDArray[np.float64]
#: Settings that have the same target, with more and more labels.
SAME_TARGET = (("1", "5", "20"), ("8:1",), ("1, adverse", "5, adverse"))
NAMES: tuple[Learner, ...] = (*LEARNERS, *BASELINES)
#: Labels per class at which weights are learned, and the penalty of their distance from equal ones.
SHOTS = (1, 5, 20)
PENALTY = 0.02


@dataclass(frozen=True, eq=False)
class TriedTask:
    """What all learners answered in one task.

    `real` is the trial on the test rows of the target, `plays` and `own` are those that a user has.
    """

    family: str
    number: int
    setting: str
    situation: Situation
    n_known: int
    plays: tuple[Trial, ...]
    own: Trial | None
    real: Trial


def try_tasks(
    families: Iterable[str], numbers: Sequence[int], data: Path, work: Path
) -> list[TriedTask]:
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
    list of TriedTask
    """
    work.mkdir(parents=True, exist_ok=True)
    wanted = [
        (family, number, names)
        for number in numbers
        for family in families
        for names in SAME_TARGET
        if family in SHIPPABLE or not SETTINGS[names[0]].adverse
    ]
    tried = []
    with progress_bar(len(wanted), "trying learners") as advance:
        for family, number, names in wanted:
            title = names[0].replace(":", "to").replace(", ", "-")
            path = work / f"{family}-{number}-{title}.npz"
            if not path.exists():
                part = path.with_suffix(".part")
                part.write_bytes(_packed(_try(family, number, names, data)))
                part.replace(path)
            tried += _unpacked(path)
            advance(family)
    return tried


def _try(family: str, number: int, names: Sequence[str], data: Path) -> list[TriedTask]:
    """Try the learners on a target at increasing numbers of labels."""
    kinds = FAMILIES[family]
    source, target, *_ = draw_task(kinds[number % len(kinds)], number, SETTINGS[names[0]], data)
    known = KnownClasses([source]).without(target)
    n_classes = int(target.codes.max()) + 1
    tried = []
    with few_threads(0):
        rows = ViewRows(fit_views(known, target.X, n_networks=N_NETWORKS), target.X)
        for name in names:
            *_, at, test = draw_task(kinds[number % len(kinds)], number, SETTINGS[name], data)
            labeled = np.isin(np.arange(len(target)), at)
            inference = infer(
                Domain(target.X, target.codes, labeled=labeled), sources=[source], shared=False
            )
            shots = len(at) / n_classes
            plays = rehearse_learners(
                known,
                n_classes=n_classes,
                rows_per_class=max(len(target) // n_classes, 1),
                shots=shots,
            )
            own = cross_validate(rows, np.where(labeled, target.codes, -1))
            P = rows.answer(NAMES, (at, test), target.codes, n_classes)
            real = Trial(NAMES, P, target.codes[test])
            situation = Situation(shots, inference.misleading, known.distance_to(target.X))
            tried.append(
                TriedTask(family, number, name, situation, known.n_classes, plays, own, real)
            )
    return tried


def _packed(tasks: Sequence[TriedTask]) -> bytes:
    """Return tasks that were tried as the content of an npz file."""
    arrays: dict[str, Any] = {}
    described = []
    for task in tasks:
        trials = [task.real, *task.plays, *([] if task.own is None else [task.own])]
        for trial in trials:
            arrays[f"P-{len(arrays)}"] = trial.probabilities.astype(np.float16)
            arrays[f"codes-{len(arrays)}"] = trial.codes.astype(np.int16)
        described.append(
            {
                "family": task.family,
                "number": task.number,
                "setting": task.setting,
                "shots": task.situation.shots,
                "misleading": task.situation.misleading,
                "distance": task.situation.distance,
                "n_known": task.n_known,
                "n_plays": len(task.plays),
                "own": task.own is not None,
            }
        )
    arrays["json"] = np.array(json.dumps(described))
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _unpacked(path: Path) -> list[TriedTask]:
    """Return the tasks in a file."""
    tasks = []
    with np.load(path, allow_pickle=False) as file:
        arrays = iter([file[name] for name in file.files if name != "json"])
        for each in json.loads(str(file["json"])):

            def trial() -> Trial:
                return Trial(NAMES, next(arrays).astype(float), next(arrays).astype(np.intp))

            situation = Situation(each["shots"], each["misleading"], each["distance"])
            real = trial()
            plays = tuple(trial() for _ in range(each["n_plays"]))
            own = trial() if each["own"] else None
            tasks.append(
                TriedTask(
                    each["family"],
                    each["number"],
                    each["setting"],
                    situation,
                    each["n_known"],
                    plays,
                    own,
                    real,
                )
            )
    return tasks


def learn_weights(tasks: Sequence[TriedTask]) -> Weights:
    """Return the weights of least log-loss on the test rows of tasks, each task counting the same.

    Parameters
    ----------
    tasks : sequence of TriedTask
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


def _least_loss(tasks: Sequence[TriedTask]) -> Probabilities:
    logs = [np.log(task.real.probabilities[: len(LEARNERS)] + FLOOR) for task in tasks]
    even = np.full(len(LEARNERS), 1.0 / len(LEARNERS))

    def value_and_gradient(w: Probabilities) -> tuple[float, Probabilities]:
        value = PENALTY * float(np.sum((w - even) ** 2))
        gradient = 2.0 * PENALTY * (w - even)
        for F, task in zip(logs, tasks, strict=True):
            codes = task.real.codes
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
