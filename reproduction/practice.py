"""What practice is worth: a function before and after it has learned from what its own W's did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from l2t.agent import Agent
from l2t.domains import DomainPair
from l2t.experiences import ExperienceStore, collect
from l2t.inference.comparison import TransferStudy, measure_transfer
from l2t.reflection import ReflectionFunction, learn
from l2t.typing import Array

__all__ = ["PRACTICE_COUNTS", "PracticeStudy", "measure_practice"]


PRACTICE_COUNTS = (3, 15, 30, 60, 120)


@dataclass(frozen=True, eq=False)
class PracticeStudy:
    """Both functions on validation pairs.

    Attributes
    ----------
    before, after : TransferStudy
        What the function's W's were worth, and what was predicted, before and after practice.
    """

    before: TransferStudy
    after: TransferStudy

    def optimism(self, study: TransferStudy) -> Array:
        """Return the mean of predicted over actual ratio of W at each label count, less 1."""
        return study.mean(study.predicted / study.always) - 1.0

    def error(self, study: TransferStudy) -> Array:
        """Return the mean absolute error of log ratios predicted for W at each label count."""
        return study.mean(np.abs(np.log(study.predicted / study.always)))


def measure_practice(
    train: Sequence[DomainPair],
    practice: Sequence[DomainPair],
    validation: Sequence[DomainPair],
    collected: ExperienceStore,
    own: ExperienceStore,
    *,
    n_jobs: int = 1,
    progress: bool = True,
) -> PracticeStudy:
    """Learn from base algorithms, practise, learn from both, and compare.

    Parameters
    ----------
    train, practice, validation : sequences of DomainPair
        Pairs for the base algorithms, for practice and for judging.
    collected, own : ExperienceStore
        Where runs of the base algorithms and those of practice are kept.
    n_jobs : int
        Local processes.
    progress : bool
        Whether to show progress bars.
    """
    collect(train, collected, n_jobs=n_jobs, progress=progress)
    runs = list(collected.experiences(status="done"))
    first = learn(runs)
    agent = Agent(own, reflection=first, refine_every=10**9)
    agent.practise(practice, PRACTICE_COUNTS)
    second = learn([*runs, *own.experiences(status="done")])
    before, after = (_measured(each, validation, n_jobs, progress) for each in (first, second))
    return PracticeStudy(before, after)


def _measured(
    function: ReflectionFunction, pairs: Sequence[DomainPair], n_jobs: int, progress: bool
) -> TransferStudy:
    return measure_transfer(
        pairs, function, names=(), label_counts=PRACTICE_COUNTS, n_jobs=n_jobs, progress=progress
    )
