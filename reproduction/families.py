"""Families of domain pairs: where pairs for training, validation and testing are drawn from.

The three parts share no class, or, where there are only ten classes (digits), no pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from l2t.domains import Domain, DomainPair, PairSampler, digits, mnist, normalize, read_domain
from l2t.domains.sampling import PairSequence, spelling
from l2t.exceptions import InvalidInputError

__all__ = ["FAMILIES", "PARTS", "Pairs", "draw_pairs", "split_classes"]

PARTS = ("train", "validation", "test")
#: How much of the classes each part has.
SHARES = (0.5, 0.2, 0.3)
#: Families of two files: the folder within the data directory, the source and the target.
FILES = {"photo-sketch": ("photo-sketch", "photo", "sketch"), "own": ("", "source", "target")}
FAMILIES = ("digits", *FILES)


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
    family : {"digits", "photo-sketch", "own"}
        "own" for source.npz and target.npz in `data`.
    part : {"train", "validation", "test"}
        Which part.
    n_pairs : int
        How many.
    data : path, optional
        The directory with the data sets; "digits" needs none.
    random_state : int, default=0
        The seed; pairs of another part have another seed as well.
    disjoint : bool, default=True
        Whether the parts share nothing; otherwise each draws from all classes, as in the paper.

    Returns
    -------
    Pairs
        Pair i depends on the family, the part, the seed and i alone.
    """
    if family not in FAMILIES or part not in PARTS:
        raise InvalidInputError(
            f"family must be one of {', '.join(FAMILIES)} and part one of {', '.join(PARTS)}, "
            f"got {family!r} and {part!r}"
        )
    if family == "digits":
        ours, theirs = normalize(digits()), normalize(mnist())
        sides = [(ours, theirs), (theirs, ours)]
    else:
        domains = _read(family, data)
        if disjoint:
            domains = split_classes(domains)[PARTS.index(part)]
        sides = [(domains[0], domains[1])]
    seed = 3 * random_state + PARTS.index(part)
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
    order = np.random.default_rng(random_state).permutation(len(names))
    ends = np.round(np.cumsum(SHARES) * len(names)).astype(int)[:-1]
    return [
        [
            domain.take(np.isin(rows, [names[i] for i in part]))
            for domain, rows in zip(domains, spelled, strict=True)
        ]
        for part in np.split(order, ends)
    ]


def _read(family: str, data: Path | None) -> list[Domain]:
    folder, *names = FILES[family]
    files = [] if data is None else [data / folder / f"{name}.npz" for name in names]
    if not files or not all(file.is_file() for file in files):
        wanted = " and ".join(str(Path(folder) / f"{name}.npz") for name in names)
        raise InvalidInputError(f"data must be a directory with {wanted}, got {data}")
    return [normalize(read_domain(file)) for file in files]
