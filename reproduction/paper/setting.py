"""What a reproduction works on: the data, how many pairs, and where results are kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from l2t.algorithms import PAPER
from l2t.domains import KnownClasses
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
        Pairs that experiences come from, that choices are made on, and that results are measured on.
    varied : int
        Testing pairs on which the reflection function is varied; the paper takes 50.
    any_class : int
        Training pairs where classes are drawn at random for all parts.
    """

    train: int
    validation: int
    test: int
    varied: int
    any_class: int


SCALES = {
    "smoke": Scale(6, 2, 6, 2, 2),
    "quick": Scale(200, 60, 100, 50, 60),
    "paper": Scale(1000, 500, 500, 50, 200),
}


@dataclass(frozen=True)
class Setting:
    """One reproduction.

    Attributes
    ----------
    family : str
        "photo-sketch", "digits", or "own" for source.npz and target.npz of the user.
    data : path or None
        The directory with the data sets.
    scale : str
        One of `SCALES`.
    work : path
        Where experiences, functions and measurements are kept; what is there is not done again.
    n_jobs, cluster
        Local processes, or a Dask cluster, as for `collect`.
    seed : int
        The seed of all pairs.
    progress : bool
        Whether progress bars are shown.
    """

    family: str
    data: Path | None
    scale: str
    work: Path
    n_jobs: int = 1
    cluster: Any = None
    seed: int = 0
    progress: bool = True

    @classmethod
    def of(cls, data: Path | None, scale: str, work: Path, **options: Any) -> Setting:
        """Find out what the data directory holds; without one, digits stand in."""
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

    def pairs(
        self,
        part: str,
        n_pairs: int | None = None,
        *,
        disjoint: bool = True,
    ) -> Pairs:
        """Return the pairs of a part ("train", "validation" or "test"); see `draw_pairs`."""
        wanted = getattr(self.sizes, part) if n_pairs is None else n_pairs
        return draw_pairs(self.family, part, wanted, self.data, self.seed, disjoint=disjoint)

    def collected(self, n_pairs: int | None = None, *, disjoint: bool = True) -> ExperienceStore:
        """Return a store with all eight algorithms on training pairs; what it has is not done again."""
        name = self.family + ("" if disjoint else "-any-class")
        self.work.mkdir(parents=True, exist_ok=True)
        store = open_store(self.work / f"{name}.db")
        collect(
            self.pairs("train", n_pairs, disjoint=disjoint),
            store,
            algorithms=PAPER,
            n_jobs=self.n_jobs,
            cluster=self.cluster,
            progress=self.progress,
        )
        return store

    def past(self, n_pairs: int | None = None) -> KnownClasses | None:
        """Return the classes of the targets of training pairs, where testing pairs have other classes."""
        if self.family == "digits":
            return None  # its ten classes, and so its rows, are in every part
        return KnownClasses(pair.target for pair in self.pairs("train", n_pairs))
