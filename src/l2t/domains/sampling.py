"""Random pairs as in the paper: k random source classes and k random target classes with other names.

With shared classes, the same k classes of both domains.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from l2t.domains.domain import Domain
from l2t.domains.labels import unify_labels
from l2t.domains.pair import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.typing import Label
from l2t.validation import instance_of, seed, whole_number


class PairSequence(Sequence[DomainPair]):
    """A sequence of pairs that are computed on access, by `_draw`."""

    @abstractmethod
    def _draw(self, at: int) -> DomainPair:
        """Return the pair at an index, counted from 0."""

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
            raise IndexError(f"index {index} is out of range for {len(self)} pairs")
        return self._draw(at)


@dataclass(frozen=True)
class PairSampler(PairSequence):
    """A sequence of random pairs, each computed on access.

    Pair i depends only on the two domains, the parameters and i, not on `n_pairs` or on the pairs that were
    drawn before.

    Parameters
    ----------
    source, target : Domain
        Labelled domains with the same features. Rows are drawn from all that have a label, including those
        that `labeled` does not mark, because pairs are for experiments.
    n_pairs : int
        The length of the sequence.
    n_classes : int, default=3
        The number of classes drawn from each domain. The classes of source and target differ by name
        ("Stop_sign" and "stop signs" are the same name), or are the same if `shared`.
    max_per_class : int or None, default=80
        The maximum number of random rows per class; None for all.
    random_state : int, default=0
        The seed.
    shared : bool, default=False
        Whether the same classes, by equal labels, are drawn from both domains.

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
        source, target = unify_labels([self.source, self.target])
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "target", target)
        sides = self.source.classes, self.target.classes
        ours, theirs = map(len, sides)
        names = set(map(spelling, self.source.classes))
        # The k source classes that are drawn exclude at most the k most frequent names in the target.
        excluded = Counter(name for name in map(spelling, self.target.classes) if name in names)
        sizes = [size for _, size in excluded.most_common()]
        most = max(k for k in range(ours + 1) if theirs - sum(sizes[:k]) >= k)
        shared, rule = len(sizes), "must differ"
        if self.shared:
            most = shared = len(set.intersection(*map(set, sides)))
            rule = "must be the same"
        if self.n_classes > most:
            raise InvalidInputError(
                f"n_classes must be at most {most}, because source and target have {ours} and {theirs} "
                f"classes, {shared} in common, and those of a pair {rule}, got {self.n_classes}"
            )
        DomainPair(self.source, self.target)  # rejects different features

    def __len__(self) -> int:
        return self.n_pairs

    def _draw(self, at: int) -> DomainPair:
        rng = np.random.default_rng(np.random.SeedSequence(self.random_state, spawn_key=(at,)))
        names = [n for n in self.source.classes if not self.shared or n in self.target.classes]
        drawn = _draw_classes(rng, names, self.n_classes)
        taken = {spelling(name) for name in drawn}
        others = [name for name in self.target.classes if spelling(name) not in taken]
        source = some_rows(rng, self.source, drawn, self.max_per_class)
        aimed = drawn if self.shared else _draw_classes(rng, others, self.n_classes)
        return DomainPair(source, some_rows(rng, self.target, aimed, self.max_per_class))


def some_rows(
    rng: np.random.Generator, domain: Domain, names: Sequence[Label], most: int | None
) -> Domain:
    """Return at most `most` random rows of each named class, in their original order."""
    members = (np.flatnonzero(domain.codes == domain.classes.index(name)) for name in names)
    rows = np.sort(np.concatenate([rng.permutation(rows)[:most] for rows in members]))
    return domain.take(rows, name=f"{domain.name}[{', '.join(map(str, names))}]")


def spelling(name: Label) -> str:
    """Return a class name for comparison: lower case, without blanks, underscores and a plural s.

    >>> spelling("Stop_sign") == spelling("stop signs"), spelling(3)
    (True, '3')
    """
    plain = str(name).casefold().replace("_", "").replace(" ", "")
    return plain[:-1] if plain.endswith("s") and len(plain) > 3 else plain


def _draw_classes(rng: np.random.Generator, classes: Sequence[Label], k: int) -> list[Label]:
    return [classes[i] for i in np.sort(rng.permutation(len(classes))[:k])]
