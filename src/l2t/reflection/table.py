"""Experiences as arrays: one row of statistics per run, and one ratio per experience.

A run has one W and so one d, Q and tau, about 9 kB, which its label counts share. What is more than
`IN_MEMORY` is mapped from temporary files, so that memory stays bounded.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from l2t.exceptions import InvalidInputError
from l2t.experiences import Experience, ExperienceStore
from l2t.statistics import KernelBank, PairStatistics, pair_statistics
from l2t.typing import Array

__all__ = ["Block", "Indices", "QMode", "Table", "restated"]

Indices = npt.NDArray[np.intp]

#: All of Q, or its diagonal alone as the paper prints it (erratum E2).
QMode = Literal["full", "diag"]

IN_MEMORY = 2**28  # bytes of statistics
ROWS = 2048  # runs per block


@dataclass(frozen=True, eq=False)
class Block:
    """The statistics of the runs from number `first` on: d (n, K), Q (n, K, K) and tau (n, K)."""

    first: int
    d: Array
    Q: Array
    tau: Array

    def __len__(self) -> int:
        return len(self.d)

    @property
    def runs(self) -> slice:
        """The runs of the block."""
        return slice(self.first, self.first + len(self))


class Table:
    """The experiences of finished runs as arrays.

    Failed experiences are ignored; `kernels` may be a part of the experiences' bank. Per experience there
    are `run` (its number), `n_labels` and `ratio`; per run there are `pair` (its number), `keys` and
    `algorithms`.
    """

    kernels: KernelBank
    n_neighbors: int

    def __init__(
        self,
        experiences: Iterable[Experience],
        *,
        kernels: KernelBank | None = None,
        q_mode: QMode = "full",
    ) -> None:
        self.keys: list[str] = []
        self.algorithms: list[str] = []
        self._blocks: list[Block] = []
        if kernels is not None:
            self.kernels = kernels
        self._q_mode = q_mode
        numbers: dict[str, int] = {}
        pairs: dict[tuple[str, str], int] = {}
        pair_of_run: list[int] = []
        rows: list[tuple[int, int, float]] = []
        waiting: list[PairStatistics] = []
        for each in experiences:
            if each.status != "done" or each.n_labels is None:
                continue
            number = numbers.get(each.run_key)
            if number is None:
                number = numbers[each.run_key] = len(numbers)
                self.keys.append(each.run_key)
                self.algorithms.append(each.algorithm)
                pair_of_run.append(pairs.setdefault((each.source, each.target), len(pairs)))
                waiting.append(self._accepted(each))
                if len(waiting) == ROWS:
                    self._keep(waiting)
                    waiting = []
            if not (np.isfinite(each.improvement_ratio) and each.improvement_ratio > 0):
                raise InvalidInputError(
                    f"improvement_ratio must be finite and positive, got {each.improvement_ratio} "
                    f"in run {each.run_key:.12}"
                )
            rows.append((number, each.n_labels, each.improvement_ratio))
        self._keep(waiting)
        if not rows:
            raise InvalidInputError("experiences must hold at least one finished run, got none")
        columns = list(zip(*rows, strict=True))
        self.run: Indices = np.array(columns[0], dtype=np.intp)
        self.n_labels: Indices = np.array(columns[1], dtype=np.intp)
        self.ratio: Array = np.array(columns[2], dtype=np.float64)
        self.pair: Indices = np.array(pair_of_run, dtype=np.intp)

    def __len__(self) -> int:
        """Return the number of experiences."""
        return len(self.run)

    @property
    def n_runs(self) -> int:
        """The number of runs."""
        return len(self.keys)

    def take(self, runs: Indices) -> Table:
        """Return the table of some runs, given in rising order; it is held in memory."""
        part = object.__new__(Table)
        part.kernels, part.n_neighbors = self.kernels, self.n_neighbors
        part.keys = [self.keys[i] for i in runs]
        part.algorithms = [self.algorithms[i] for i in runs]
        part.pair = self.pair[runs]
        place = np.full(self.n_runs, -1, dtype=np.intp)
        place[runs] = np.arange(len(runs))
        kept = place[self.run] >= 0
        part.run = place[self.run[kept]]
        part.n_labels, part.ratio = self.n_labels[kept], self.ratio[kept]
        part._blocks = []
        for block in self.blocks():
            rows = runs[np.searchsorted(runs, block.first) : np.searchsorted(runs, block.runs.stop)]
            if rows.size:
                at = rows - block.first
                first = int(place[rows[0]])
                part._blocks.append(Block(first, block.d[at], block.Q[at], block.tau[at]))
        return part

    def blocks(self) -> Iterator[Block]:
        """Iterate over the statistics of all runs in order."""
        return iter(self._blocks)

    def _accepted(self, experience: Experience) -> PairStatistics:
        statistics = experience.statistics
        if statistics is None:
            raise InvalidInputError(
                f"experiences must carry their statistics, got run {experience.run_key:.12} without; "
                "read them with statistics=True"
            )
        if not hasattr(self, "kernels"):
            self.kernels = statistics.kernels
        if statistics.kernels != self.kernels:
            statistics = statistics.restrict(self.kernels)
        if not hasattr(self, "n_neighbors"):
            self.n_neighbors = statistics.n_neighbors
        if statistics.n_neighbors != self.n_neighbors:
            raise InvalidInputError(
                "n_neighbors must be the same in all experiences, got "
                f"{self.n_neighbors} and {statistics.n_neighbors}"
            )
        return statistics

    def _keep(self, waiting: list[PairStatistics]) -> None:
        if not waiting:
            return
        if self._q_mode == "diag":
            waiting = [replace(s, Q=np.diag(np.diag(s.Q))) for s in waiting]
        stacked = {
            name: np.array([getattr(s, name) for s in waiting]) for name in ("d", "Q", "tau")
        }
        if not all(np.isfinite(each).all() for each in stacked.values()):
            raise InvalidInputError("statistics must be finite, got NaN or infinity")
        per_run = sum(each[0].nbytes for each in stacked.values())
        if per_run * ROWS * (len(self._blocks) + 1) > IN_MEMORY:
            stacked = {name: _on_disk(each) for name, each in stacked.items()}
        first = self._blocks[-1].runs.stop if self._blocks else 0
        self._blocks.append(Block(first, **stacked))


def _on_disk(array: Array) -> Array:
    """Return the array in a temporary file, which lasts as long as the array."""
    with tempfile.TemporaryFile() as file:
        array.tofile(file)
        return np.memmap(file, array.dtype, "r", shape=array.shape)


def restated(
    experiences: Iterable[Experience],
    store: ExperienceStore | None,
    *,
    kernels: KernelBank | None = None,
    n_neighbors: int | None = None,
) -> Iterator[Experience]:
    """Yield experiences with their statistics recomputed for other kernels or neighbours."""
    computed: dict[str, PairStatistics] = {}
    for each in experiences:
        old = each.statistics
        if old is None:
            yield each
            continue
        bank, r = kernels or old.kernels, n_neighbors or old.n_neighbors
        if (bank, r) == (old.kernels, old.n_neighbors):
            yield each
            continue
        if store is None:
            raise InvalidInputError(
                f"n_neighbors={r} needs the store of the experiences, which have {old.n_neighbors}: "
                "learn(..., store=store)"
            )
        if each.run_key not in computed:
            run = store.run(each.run_key)
            assert run.W is not None  # it has statistics, so it was done
            options: dict[str, Any] = {"kernels": bank, "n_neighbors": r}
            new = pair_statistics(run.pair, run.W, random_state=run.random_state, **options)
            computed = {each.run_key: new}  # experiences of a run follow each other: one is enough
        yield replace(each, statistics=computed[each.run_key])
