"""Experiences as arrays: one row of statistics per run, and one ratio per experience.

All label counts of a run share one W, and so one d, Q and tau, about 9 kB.
"""

from __future__ import annotations

import copy
import itertools
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from l2t.exceptions import InvalidInputError
from l2t.experiences import Experience
from l2t.statistics import KernelBank, PairStatistics, pair_statistics
from l2t.typing import Array, Indices

if TYPE_CHECKING:
    from l2t.experiences import ExperienceStore

#: All of Q, or only its diagonal as printed in the paper (erratum E2).
QMode = Literal["full", "diag"]


class RunTable:
    """The experiences of finished runs as arrays.

    Failed experiences are ignored; `kernels` may be a subset of the experiences' kernels. Arrays over
    experiences: `run` (its number), `n_labels`, `ratio`. Over runs: `d`, `Q`, `tau`, `pair` and `target`
    (their numbers), `keys`, `algorithms`.
    """

    def __init__(
        self,
        experiences: Iterable[Experience],
        *,
        kernels: KernelBank | None = None,
        q_mode: QMode = "full",
    ) -> None:
        reading = _RunReader(experiences, kernels)
        runs = reading.statistics()
        first = next(runs, None)
        if first is None:
            raise InvalidInputError("experiences must hold at least one finished run, got none")
        self.kernels, self.n_neighbors = first.kernels, first.n_neighbors
        # Q takes nearly all memory: it is filled while experiences are read, and never copied.
        Qs = (statistics.Q for statistics in itertools.chain([first], runs))
        self.Q: Array = np.fromiter(Qs, dtype=np.dtype((np.float64, first.Q.shape)))
        self.keys, self.algorithms = list(reading.numbers), reading.algorithms
        self.d, self.tau = np.array(reading.d_and_tau).swapaxes(0, 1)
        self.pair: Indices = np.array(reading.pair, dtype=np.intp)
        self.target: Indices = np.array(reading.target, dtype=np.intp)
        if not all(np.isfinite(values).all() for values in (self.d, self.Q, self.tau)):
            raise InvalidInputError("statistics must be finite, got NaN or infinity")
        if q_mode == "diag":
            self.Q *= np.eye(len(self.kernels))
        columns = np.array(reading.rows).reshape(-1, 3).T
        self.run: Indices = columns[0].astype(np.intp)
        self.n_labels: Indices = columns[1].astype(np.intp)
        self.ratio: Array = columns[2].copy()

    def __len__(self) -> int:
        """Return the number of experiences."""
        return len(self.run)

    @property
    def n_runs(self) -> int:
        """The number of runs."""
        return len(self.keys)

    def take(self, runs: Indices) -> RunTable:
        """Return the table of some runs, given in increasing order."""
        part = copy.copy(self)
        part.keys = [self.keys[i] for i in runs]
        part.algorithms = [self.algorithms[i] for i in runs]
        for name in ("pair", "target", "d", "Q", "tau"):
            setattr(part, name, getattr(self, name)[runs])
        kept = np.isin(self.run, runs)
        part.run = np.searchsorted(runs, self.run[kept])
        part.n_labels, part.ratio = self.n_labels[kept], self.ratio[kept]
        return part


class _RunReader:
    """Reads the statistics of runs, and collects the other columns of a table meanwhile."""

    def __init__(self, experiences: Iterable[Experience], kernels: KernelBank | None) -> None:
        self._experiences, self._kernels = experiences, kernels
        self.numbers: dict[str, int] = {}
        self.algorithms: list[str] = []
        self.pair: list[int] = []
        self.target: list[int] = []
        self.d_and_tau: list[Array] = []
        self.rows = array("d")  # run, labels and ratio of each experience

    def statistics(self) -> Iterator[PairStatistics]:
        """Yield the statistics of each run."""
        first: PairStatistics | None = None
        pairs: dict[tuple[str, str], int] = {}
        targets: dict[str, int] = {}
        for experience in self._experiences:
            if experience.status != "done" or experience.n_labels is None:
                continue
            if not (np.isfinite(experience.improvement_ratio) and experience.improvement_ratio > 0):
                raise InvalidInputError(
                    f"improvement_ratio must be finite and positive, got {experience.improvement_ratio} "
                    f"in run {experience.run_key:.12}"
                )
            number = self.numbers.setdefault(experience.run_key, len(self.pair))
            self.rows.extend((number, experience.n_labels, experience.improvement_ratio))
            if number == len(self.pair):
                statistics = _checked_statistics(experience, self._kernels, first)
                first = first or statistics
                self.algorithms.append(experience.algorithm)
                self.pair.append(
                    pairs.setdefault((experience.source, experience.target), len(pairs))
                )
                self.target.append(targets.setdefault(experience.target, len(targets)))
                self.d_and_tau.append(np.stack([statistics.d, statistics.tau]))
                yield statistics


def _checked_statistics(
    experience: Experience, kernels: KernelBank | None, first: PairStatistics | None
) -> PairStatistics:
    """Return the statistics of a run, restricted to `kernels` or to those of the first run."""
    statistics = experience.statistics
    if statistics is None:
        raise InvalidInputError(
            f"experiences must have statistics, got run {experience.run_key:.12} without; "
            "read them with statistics=True"
        )
    bank = kernels or (first or statistics).kernels
    if statistics.kernels != bank:
        statistics = statistics.restrict(bank)
    if first is not None and statistics.n_neighbors != first.n_neighbors:
        raise InvalidInputError(
            "n_neighbors must be the same in all experiences, got "
            f"{first.n_neighbors} and {statistics.n_neighbors}"
        )
    return statistics


def recompute_statistics(
    experiences: Iterable[Experience],
    store: ExperienceStore | None,
    *,
    kernels: KernelBank | None = None,
    n_neighbors: int | None = None,
) -> Iterator[Experience]:
    """Yield experiences with statistics recomputed for other kernels or neighbours.

    Parameters
    ----------
    experiences : iterable of Experience
        The experiences; those without statistics are left unchanged.
    store : ExperienceStore or None
        The store of their runs, needed where statistics differ.
    kernels : KernelBank, optional
        The kernels; by default those of each experience.
    n_neighbors : int, optional
        The number of neighbours r of tau; by default that of each experience.

    Yields
    ------
    Experience
    """
    computed: dict[str, PairStatistics] = {}
    for experience in experiences:
        old = experience.statistics
        if old is None:
            yield experience
            continue
        bank, r = kernels or old.kernels, n_neighbors or old.n_neighbors
        if (bank, r) == (old.kernels, old.n_neighbors):
            yield experience
            continue
        if store is None:
            raise InvalidInputError(
                f"n_neighbors={r} needs the store of the experiences, which have {old.n_neighbors}: "
                "learn(..., store=store)"
            )
        if experience.run_key not in computed:
            run = store.run(experience.run_key)
            assert run.W is not None  # a run with statistics has finished
            new = pair_statistics(
                run.pair, run.W, kernels=bank, n_neighbors=r, random_state=run.random_state
            )
            computed = {experience.run_key: new}  # experiences of a run are consecutive
        yield replace(experience, statistics=computed[experience.run_key])
