"""Families of domain pairs: where pairs for training, validation and testing are drawn from.

The three parts share no class (photo-sketch), no underlying picture (photo-style), or, where there are only
ten classes, no pair (digits, office-caltech).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from l2t.domains import Domain, DomainPair, PairSampler, digits, mnist, normalize, read_domain
from l2t.domains.sampling import PairSequence, spelling
from l2t.exceptions import InvalidInputError
from reproduction.office_caltech import load_office_caltech

__all__ = ["FAMILIES", "PARTS", "Pairs", "draw_pairs", "split_classes"]

PARTS = ("train", "validation", "test")
#: How much of the classes, or of the pictures, each part has.
SHARES = (0.5, 0.2, 0.3)
FAMILIES = ("photo-sketch", "digits", "office-caltech", "photo-style")
#: Office-Caltech pairs: Amazon and Caltech are the domains with enough rows to be targets.
TASKS = ("C->A", "A->C", "W->A", "W->C", "D->A", "D->C")


@dataclass(frozen=True)
class Pairs(PairSequence):
    """Pairs of several samplers by turns."""

    samplers: tuple[PairSampler, ...]
    n_pairs: int

    def __len__(self) -> int:
        return self.n_pairs

    def _draw(self, at: int) -> DomainPair:
        return self.samplers[at % len(self.samplers)][at // len(self.samplers)]


def draw_pairs(
    family: str,
    part: str,
    n_pairs: int,
    data: Path | None = None,
    random_state: int = 0,
    *,
    disjoint: bool = True,
) -> Pairs:
    """Return pairs of a family.

    Parameters
    ----------
    family : str
        One of `FAMILIES`, or "own" for source.npz and target.npz in `data`.
    part : str
        One of `PARTS`.
    n_pairs : int
        How many.
    data : path
        The directory with the data sets; "digits" needs none.
    random_state : int
        The seed; pairs of another part have another seed as well.
    disjoint : bool
        Whether the parts share nothing; otherwise each draws from all classes, as in the paper.
    """
    if family not in _SIDES or part not in PARTS:
        raise InvalidInputError(
            f"family must be one of {', '.join(FAMILIES)} and part one of {', '.join(PARTS)}, "
            f"got {family!r} and {part!r}"
        )
    seed = 3 * random_state + PARTS.index(part)
    sides = _SIDES[family](data, part if disjoint else None)
    each = -(-n_pairs // len(sides))
    samplers = [
        PairSampler(source, target, each, random_state=seed * len(sides) + i)
        for i, (source, target) in enumerate(sides)
    ]
    return Pairs(tuple(samplers), n_pairs)


def split_classes(domains: Sequence[Domain], random_state: int = 0) -> list[list[Domain]]:
    """Split domains into the three parts by class names; a name that several have is in one part."""
    names = sorted({spelling(name) for domain in domains for name in domain.classes})
    spelled = [np.array([spelling(d.classes[c]) for c in d.codes]) for d in domains]
    return [
        [
            domain.take(np.isin(rows, list(part)))
            for domain, rows in zip(domains, spelled, strict=True)
        ]
        for part in _parts(names, random_state)
    ]


def _parts(names: Sequence[str], random_state: int) -> list[set[str]]:
    order = np.random.default_rng(random_state).permutation(len(names))
    ends = np.round(np.cumsum(SHARES) * len(names)).astype(int)[:-1]
    return [{names[i] for i in part} for part in np.split(order, ends)]


def _directory(data: Path | None, name: str) -> Path:
    if data is None or not (data / name).is_dir():
        raise InvalidInputError(f"data must be a directory that holds {name}/, got {data}")
    return data / name


def _photo_sketch(data: Path | None, part: str | None) -> list[tuple[Domain, Domain]]:
    return [_two_files(_directory(data, "photo-sketch"), "photo", "sketch", part)]


def _own(data: Path | None, part: str | None) -> list[tuple[Domain, Domain]]:
    if data is None:
        raise InvalidInputError("data must be a directory with source.npz and target.npz, got None")
    return [_two_files(data, "source", "target", part)]


def _two_files(folder: Path, source: str, target: str, part: str | None) -> tuple[Domain, Domain]:
    domains = [normalize(read_domain(folder / f"{name}.npz")) for name in (source, target)]
    first, second = domains if part is None else split_classes(domains)[PARTS.index(part)]
    return first, second


def _photo_style(data: Path | None, part: str | None) -> list[tuple[Domain, Domain]]:
    ((photo, _),) = _photo_sketch(data, part)
    folder = _directory(data, "photo-style")
    style = normalize(read_domain(folder / "style.npz", groups="shape"))
    assert style.groups is not None
    shapes = np.array([str(shape) for shape in style.groups])
    if part is None:
        return [(photo, style)]
    kept = _parts(sorted(set(shapes.tolist())), 0)[PARTS.index(part)]
    return [(photo, style.take(np.isin(shapes, list(kept))))]


def _digits(data: Path | None, part: str | None) -> list[tuple[Domain, Domain]]:
    ours, theirs = normalize(digits()), normalize(mnist())
    return [(ours, theirs), (theirs, ours)]


def _office_caltech(data: Path | None, part: str | None) -> list[tuple[Domain, Domain]]:
    domains = load_office_caltech(_directory(data, "office-caltech-surf"))
    return [(domains[task[0]], domains[task[-1]]) for task in TASKS]


_SIDES = {
    "photo-sketch": _photo_sketch,
    "photo-style": _photo_style,
    "digits": _digits,
    "office-caltech": _office_caltech,
    "own": _own,
}
