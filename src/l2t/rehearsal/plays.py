"""Plays: tasks made of known classes alone, with labels to measure by.

In each play, classes drawn at random are the target, with about as many rows as the real one, and all other
known classes are the source. With three known classes two of them play the target; with fewer there is no
play.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.typing import AnyArray

#: Maximum number of rows of the playing source for base algorithms.
MAX_SOURCE_ROWS = 300
#: Classes with fewer rows than this play the target only where there are no others.
LEAST_ROWS = 12


@dataclass(frozen=True, eq=False)
class Play:
    """One rehearsal task."""

    #: The classes that play the source.
    known: KnownClasses
    #: At most 300 rows of them, and the rows that play the target, with their labels.
    pair: DomainPair
    #: Rows of as many classes as the real target has, or of all that are known: those that play the target,
    #: and others where too few classes are known to play it (n, m).
    like_target: AnyArray


def playing_classes(known: KnownClasses, n_classes: int) -> int:
    """Return how many classes can play a target of `n_classes`: at most half of those known; 0 for none.

    >>> from l2t.domains import digits
    >>> playing_classes(KnownClasses([digits()]), 3), playing_classes(KnownClasses([digits()]), 8)
    (3, 5)
    """
    if known.n_classes < 3:
        return 0
    return min(n_classes, max(known.n_classes // 2, 2))


def draw_plays(
    known: KnownClasses, n_classes: int, rows_per_class: int, n_plays: int, random_state: int
) -> Iterator[Play]:
    """Yield plays; play i depends on the classes, the settings, the seed and i alone."""
    playing = playing_classes(known, n_classes)
    sizes = np.bincount(known.codes, minlength=known.n_classes)
    for i in range(n_plays if playing else 0):
        rng = np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=(i,)))
        order = rng.permutation(known.n_classes)
        # Classes with too few rows to measure on play the source, as far as there are others.
        order = order[np.argsort(sizes[order] < LEAST_ROWS, kind="stable")]
        rows = _some_rows(known, order[:playing], rows_per_class, rng)
        source = known.only(order[playing:])
        some = np.sort(rng.permutation(len(source))[:MAX_SOURCE_ROWS])
        others = _some_rows(known, order[playing:n_classes], rows_per_class, rng)
        yield Play(
            source,
            DomainPair(
                Domain(source.X[some], source.codes[some], name="playing source"),
                Domain(known.X[rows], known.codes[rows], name="playing target"),
            ),
            known.X[np.concatenate([rows, others])],
        )


def _some_rows(
    known: KnownClasses, classes: AnyArray, rows_per_class: int, rng: np.random.Generator
) -> AnyArray:
    """Return the places of random rows of each class."""
    found = [np.empty(0, dtype=np.intp)]
    for code in classes:
        found.append(rng.permutation(np.flatnonzero(known.codes == code))[:rows_per_class])
    return np.concatenate(found)
