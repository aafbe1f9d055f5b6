"""Pairs as the paper draws them: k random source classes, k random target classes with other names.

Or the same k classes of both domains, where classes are shared.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from l2t.domains.domain import Domain
from l2t.domains.pair import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.validation import instance_of, seed, whole_number


class PairSequence(Sequence[DomainPair]):
    """A sequence whose pairs are made when they are asked for, by `_draw`."""

    @abstractmethod
    def _draw(self, at: int) -> DomainPair:
        """Return the pair at a place from 0."""

    @overload
    def __getitem__(self, index: int) -> DomainPair: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[DomainPair]: ...
    def __getitem__(self, index: int | slice) -> DomainPair | Sequence[DomainPair]:
        """Return pair `index`, or a list of pairs for a slice."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"pair {index} of {len(self)}")
        return self._draw(at)


@dataclass(frozen=True)
class PairSampler(PairSequence):
    """A sequence of random pairs, each made when it is asked for.

    Pair i depends on the two domains, the settings, `random_state` and i alone: not on the pairs
    that were drawn before, nor on how many there are.

    Parameters
    ----------
    source, target : Domain
        Domains with labels and the same features. All rows that carry a label are drawn from, whether
        or not `labeled` marks them: pairs are made for experiments.
    n_pairs : int
        The length of the sequence.
    n_classes : int, default=3
        Classes k drawn from each domain, disjoint by name: "Stop_sign" and "stop signs" are one. Or
        the same in both, if `shared`.
    max_per_class : int or None, default=80
        Keep at most this many random rows of a class.
    random_state : int, default=0
        The seed.
    shared : bool, default=False
        Whether the same classes are drawn from both domains, by equal labels.

    Examples
    --------
    >>> photos = Domain(np.eye(4), ["ant", "bee", "cat", "dog"], name="photos")
    >>> sketches = Domain(np.eye(4), ["ant", "bee", "eel", "fox"], name="sketches")
    >>> PairSampler(photos, sketches, 10, n_classes=2)[7]
    DomainPair('photos[bee, dog]' -> 'sketches[eel, fox]', 2 + 2 rows x 4 features)
    """

    source: Domain
    target: Domain
    n_pairs: int
    n_classes: int = 3
    max_per_class: int | None = 80
    random_state: int = 0
    shared: bool = False

    def __post_init__(self) -> None:
        whole_number("n_pairs", self.n_pairs, least=0)
        whole_number("n_classes", self.n_classes, least=1)
        if self.max_per_class is not None:
            whole_number("max_per_class", self.max_per_class, least=1)
        seed(self.random_state)
        for role, domain in (("source", self.source), ("target", self.target)):
            instance_of(role, domain, Domain)
        # Whatever k source classes are drawn, they may take away at most k names from the target.
        sides = self.source.classes, self.target.classes
        ours, theirs = map(len, sides)
        shared = len(set.intersection(*(set(map(spelling, each)) for each in sides)))
        most = min(ours, max(theirs - shared, theirs // 2))
        rule = "must have no class in common"
        if self.shared:
            most = shared = len(set.intersection(*map(set, sides)))
            rule = "must have the same classes"
        if self.n_classes > most:
            raise InvalidInputError(
                f"n_classes must be at most {most}, as source and target, which have {ours} and {theirs} "
                f"classes and share {shared}, {rule}, got {self.n_classes}"
            )
        DomainPair(self.source, self.target)  # refuses features that do not match

    def __len__(self) -> int:
        return self.n_pairs

    def _draw(self, at: int) -> DomainPair:
        rng = np.random.default_rng(np.random.SeedSequence(self.random_state, spawn_key=(at,)))
        names = [n for n in self.source.classes if not self.shared or n in self.target.classes]
        drawn = _draw_classes(rng, names, self.n_classes)
        # By name, not by type: a csv file makes the number 3 of what a parquet file calls "3".
        taken = {spelling(name) for name in drawn}
        others = [name for name in self.target.classes if spelling(name) not in taken]
        source = some_rows(rng, self.source, drawn, self.max_per_class)
        aimed = drawn if self.shared else _draw_classes(rng, others, self.n_classes)
        return DomainPair(source, some_rows(rng, self.target, aimed, self.max_per_class))


def some_rows(
    rng: np.random.Generator, domain: Domain, names: Sequence[Any], most: int | None
) -> Domain:
    """Return at most `most` random rows of each named class, in their original order."""
    members = (np.flatnonzero(domain.codes == domain.classes.index(name)) for name in names)
    rows = np.sort(np.concatenate([rng.permutation(each)[:most] for each in members]))
    return domain.take(rows, name=f"{domain.name}[{', '.join(map(str, names))}]")


def spelling(name: Any) -> str:
    """Return a class name without capitals, blanks, underscores and a plural s, for comparison.

    >>> spelling("Stop_sign") == spelling("stop signs"), spelling(3)
    (True, '3')
    """
    plain = str(name).casefold().replace("_", "").replace(" ", "")
    return plain[:-1] if plain.endswith("s") and len(plain) > 3 else plain


def _draw_classes(rng: np.random.Generator, classes: Sequence[Any], k: int) -> list[Any]:
    return [classes[i] for i in np.sort(rng.permutation(len(classes))[:k])]
