"""Plays: labelled tasks made of known classes alone.

In each play, random known classes are the target, with about as many rows as the real one, and all others
are the source. With three known classes two of them are the target; with fewer there is no play.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.typing import AnyArray

#: Maximum number of source rows of a play for base algorithms.
MAX_SOURCE_ROWS = 300
#: Classes with fewer rows are used in the target of a play only if there are no others.
MIN_PLAYED_ROWS = 12


@dataclass(frozen=True, eq=False)
class Play:
    """One rehearsal task."""

    #: The classes of the play's source.
    known: KnownClasses
    #: At most 300 rows of them, and the rows of the play's target, with their labels and groups.
    pair: DomainPair
    #: Rows (n, m) of as many known classes as the real target has, or of all: those of the play's target, and
    #: of others if too few classes can be its target.
    like_target: AnyArray


def playing_classes(known: KnownClasses, n_classes: int) -> int:
    """Return the number of target classes in a play: at most half of the known ones; 0 for no play.

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
    """Yield plays; play i depends only on the classes, the settings, the seed and i."""
    playing = playing_classes(known, n_classes)
    sizes = np.bincount(known.codes, minlength=known.n_classes)
    for i in range(n_plays if playing else 0):
        rng = np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=(i,)))
        order = rng.permutation(known.n_classes)
        # Classes with too few rows for a test set come last, and so into the source.
        order = order[np.argsort(sizes[order] < MIN_PLAYED_ROWS, kind="stable")]
        rows = _some_rows(known, order[:playing], rows_per_class, rng)
        source = known.only(order[playing:])
        some = np.sort(rng.permutation(len(source))[:MAX_SOURCE_ROWS])
        others = _some_rows(known, order[playing:n_classes], rows_per_class, rng)
        groups = None if known.groups is None else known.groups[rows]
        yield Play(
            source,
            DomainPair(
                Domain(source.X[some], source.codes[some], name="playing source"),
                Domain(known.X[rows], known.codes[rows], groups=groups, name="playing target"),
            ),
            known.X[np.concatenate([rows, others])],
        )


def _some_rows(
    known: KnownClasses, classes: AnyArray, rows_per_class: int, rng: np.random.Generator
) -> AnyArray:
    """Return the indices of random rows of each class."""
    rows = [np.empty(0, dtype=np.intp)]
    for code in classes:
        rows.append(rng.permutation(np.flatnonzero(known.codes == code))[:rows_per_class])
    return np.concatenate(rows)
