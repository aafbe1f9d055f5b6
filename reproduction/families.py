"""Families of domain pairs: where pairs for training, validation and testing are drawn from.

The three parts share no class, or, where there are only ten classes (digits), no pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from l2t.domains import Domain, DomainPair, PairSampler, digits, mnist, normalize
from l2t.domains.sampling import PairSequence, spelling
from l2t.exceptions import InvalidInputError
from reproduction.kinds import read_scaled

__all__ = ["FAMILIES", "PARTS", "Pairs", "draw_pairs", "split_classes"]

PARTS = ("train", "validation", "test")
#: How much of the classes each part has.
SHARES = (0.5, 0.2, 0.3)
#: Files of the source and of the target; of one file, other classes are the target ("base to novel").
FILES = {
    "photo-sketch": ("photo-sketch/photo.npz", "photo-sketch/sketch.npz"),
    "sketch-sketch": ("photo-sketch/sketch.npz", "photo-sketch/sketch.npz"),
    "intents": ("intents/clinc150.npz", "intents/hwu64.npz"),
    "characters": ("characters/omniglot.npz", "characters/omniglot.npz"),
    "sounds": ("sounds/esc50.npz", "sounds/esc50.npz"),
    "own": ("source.npz", "target.npz"),
}
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
    n_classes: int = 3,
    max_per_class: int = 80,
) -> Pairs:
    """Return pairs of a family.

    Parameters
    ----------
    family : str
        One of `FAMILIES`; "own" for source.npz and target.npz in `data`.
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
    n_classes, max_per_class : int
        Classes of each domain, and rows of each class at most.

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
        PairSampler(source, target, each, n_classes, max_per_class, seed * len(sides) + i)
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
    names = FILES[family]
    if data is None or not all((data / name).is_file() for name in names):
        raise InvalidInputError(f"data must be a directory with {' and '.join(names)}, got {data}")
    return [read_scaled(data, name) for name in names]
