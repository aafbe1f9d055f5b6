"""The setting of a reproduction: the data, the number of pairs, and where results are kept."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from l2t.algorithms import PAPER
from l2t.domains import Domain, KnownClasses
from l2t.exceptions import InvalidInputError
from l2t.experiences import ExperienceStore, collect, open_store
from reproduction.families import Pairs, draw_pairs

__all__ = ["SCALES", "Scale", "Setting"]


@dataclass(frozen=True)
class Scale:
    """How many pairs.

    Attributes
    ----------
    train, validation, test : int
        Numbers of pairs for experiences, for choices, and for results.
    varied : int
        Number of testing pairs on which the reflection function is varied; 50 in the paper.
    any_class : int
        Training pairs where classes are drawn at random for all parts.
    orders : int
        Orders of the training pairs over which the curve of their number is averaged.
    """

    train: int
    validation: int
    test: int
    varied: int
    any_class: int
    orders: int = 1


SCALES = {
    "smoke": Scale(7, 2, 6, 2, 2),
    "quick": Scale(160, 12, 16, 16, 40),
    "recipe": Scale(60, 20, 24, 24, 0),
    "medium": Scale(60, 12, 50, 16, 40),
    "paper": Scale(1000, 500, 500, 50, 100, orders=5),
}
#: Where the times of the stages are kept, in the work directory.
TIMES = "minutes.jsonl"
#: Labels per class: with three classes, the label counts of the paper.
SHOTS = (1, 5, 10, 15, 20, 25, 30, 35, 40)
#: Experiences with more labels per class do not shape the function (`max_labels` of `learn`).
MOST_SHOTS = 10
#: The neighbours of tau in experiences (`docs/paper-system.md`).
N_NEIGHBORS = 20


@dataclass(frozen=True)
class Setting:
    """One reproduction.

    Attributes
    ----------
    family : str
        One of `FAMILIES`.
    data : path or None
        The directory with the data sets.
    scale : str
        One of `SCALES`.
    work : path
        Folder of experiences, functions and measurements, which are reused.
    n_jobs, cluster
        Local processes, or a Dask cluster, as for `collect`.
    seed : int
        The seed of all pairs.
    progress : bool
        Whether progress bars are shown.
    n_classes, max_per_class : int
        Classes of each domain, and rows of each class at most.
    """

    family: str
    data: Path | None
    scale: str
    work: Path
    n_jobs: int = 1
    cluster: Any = None
    seed: int = 0
    progress: bool = True
    n_classes: int = 3
    max_per_class: int = 80

    @classmethod
    def of(cls, data: Path | None, scale: str, work: Path, **options: Any) -> Setting:
        """Return the setting for a data directory; without one, digits are used."""
        if scale not in SCALES:
            raise InvalidInputError(f"scale must be one of {', '.join(SCALES)}, got {scale!r}")
        if data is None:
            family = "digits"
        elif (data / "photo-sketch").is_dir():
            family = "photo-sketch"
        elif all((data / f"{side}.npz").is_file() for side in ("source", "target")):
            family = "own"
        else:
            raise InvalidInputError(
                "data must be a directory with photo-sketch/{photo,sketch}.npz, or with a source.npz and "
                f"a target.npz of your own, got {str(data)!r}"
            )
        return cls(family, data, scale, work / f"{family}-{scale}", **options)

    @property
    def sizes(self) -> Scale:
        """How many pairs."""
        return SCALES[self.scale]

    @property
    def label_counts(self) -> tuple[int, ...]:
        """How many target rows are labelled."""
        return tuple(self.n_classes * shots for shots in SHOTS)

    @property
    def max_labels(self) -> int:
        """Experiences with more labels do not shape a function."""
        return self.n_classes * MOST_SHOTS

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Keep how long a stage takes, with what earlier runs spent on it.

        In one process that is processor time, which a busy machine does not change; otherwise elapsed time,
        multiplied by the number of processes.
        """
        alone = self.n_jobs == 1 and self.cluster is None
        clock = time.process_time if alone else time.perf_counter
        start = clock()
        try:
            yield
        finally:
            spent = (clock() - start) * max(1, self.n_jobs)
            row = {"stage": stage, "seconds": spent}
            self.work.mkdir(parents=True, exist_ok=True)
            with (self.work / TIMES).open("a") as file:
                file.write(json.dumps(row) + "\n")

    def minutes(self) -> dict[str, float]:
        """Return the minutes that each stage took with `n_jobs` processes, in all runs so far."""
        found: dict[str, float] = {}
        unit = 60 * max(1, self.n_jobs)
        path = self.work / TIMES
        for line in path.read_text().splitlines() if path.exists() else ():
            row = json.loads(line)
            found[row["stage"]] = found.get(row["stage"], 0.0) + row["seconds"] / unit
        return found

    def pairs(
        self,
        part: str,
        n_pairs: int | None = None,
        *,
        disjoint: bool = True,
    ) -> Pairs:
        """Return the pairs of a part ("train", "validation" or "test"); see `draw_pairs`."""
        wanted = getattr(self.sizes, part) if n_pairs is None else n_pairs
        return draw_pairs(
            self.family,
            part,
            wanted,
            self.data,
            self.seed,
            disjoint=disjoint,
            n_classes=self.n_classes,
            max_per_class=self.max_per_class,
        )

    def collected(
        self,
        n_pairs: int | None = None,
        *,
        disjoint: bool = True,
        n_neighbors: int = N_NEIGHBORS,
    ) -> ExperienceStore:
        """Return a store with all eight algorithms on training pairs; stored runs are reused."""
        name = self.family + ("" if disjoint else "-any-class")
        self.work.mkdir(parents=True, exist_ok=True)
        store = open_store(self.work / f"{name}.db")
        with self.timed("experiences: the eight on training pairs"):
            collect(
                self.pairs("train", n_pairs, disjoint=disjoint),
                store,
                algorithms=PAPER,
                label_counts=self.label_counts,
                n_neighbors=n_neighbors,
                n_jobs=self.n_jobs,
                cluster=self.cluster,
                progress=self.progress,
            )
        return store

    def past(self, places: Sequence[int] | None = None) -> KnownClasses | None:
        """Return the classes of the targets of training pairs, where testing pairs have other classes.

        Of all training pairs, or of those in some places.
        """
        if self.family == "digits":
            return None  # its ten classes, and so its rows, are in every part
        pairs = self.pairs("train")
        wanted = range(len(pairs)) if places is None else places
        known = KnownClasses(pairs[at].target for at in wanted)
        return KnownClasses([Domain(known.X, known.codes, name="past")])  # each row once
