"""Which classes two domains share, as their labels say: equal labels mean equal classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from l2t.domains import Domain

__all__ = ["SharedClasses", "labelled", "shared_classes"]

Kind = Literal["unknown", "none", "all", "partial", "open"]


@dataclass(frozen=True)
class SharedClasses:
    """The classes of the sources and of the labelled target rows.

    Attributes
    ----------
    common, source_only, target_only : tuple
        Classes of both, and of one side alone. In `source_only` are classes that no *labelled* target row
        has.
    kind : {"unknown", "none", "all", "partial", "open"}
        No target label is known; no class is shared; both have the same classes; the source has more
        (a partial set); the target has others, too (an open set).
    """

    common: tuple[Any, ...]
    source_only: tuple[Any, ...]
    target_only: tuple[Any, ...]

    @property
    def classes(self) -> tuple[Any, ...]:
        """All classes: those of both, of the source alone, of the target alone."""
        return self.common + self.source_only + self.target_only

    @property
    def kind(self) -> Kind:
        """What the labels say."""
        if not self.common:
            return "none" if self.target_only else "unknown"
        if self.target_only:
            return "open"
        return "partial" if self.source_only else "all"


def shared_classes(source: Domain | Sequence[Domain], target: Domain) -> SharedClasses:
    """Return which classes source and target share.

    Parameters
    ----------
    source : Domain or sequence of Domain
        The source, or several.
    target : Domain
        Its labels are read where `labeled` marks them, and nowhere else.

    Returns
    -------
    SharedClasses
        The classes by where they occur.

    Examples
    --------
    >>> photos = Domain([[0.0], [1.0], [2.0]], ["ant", "bee", "cat"])
    >>> sketches = Domain([[0.0], [1.0]], ["bee", None])
    >>> shared_classes(photos, sketches)
    SharedClasses(common=('bee',), source_only=('ant', 'cat'), target_only=())
    """
    sources = [source] if isinstance(source, Domain) else source
    ours: dict[Any, None] = {}
    for each in sources:
        ours |= dict.fromkeys(_names(each, each.y is not None))
    theirs = _names(target, False)
    return SharedClasses(
        tuple(name for name in ours if name in theirs),
        tuple(name for name in ours if name not in theirs),
        tuple(name for name in theirs if name not in ours),
    )


def labelled(domain: Domain, default: bool) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return the rows whose label is known: those marked, or else all or none."""
    return np.full(len(domain), default) if domain.labeled is None else domain.labeled


def _names(domain: Domain, default: bool) -> tuple[Any, ...]:
    codes = np.unique(domain.codes[labelled(domain, default)])
    return tuple(domain.classes[code] for code in codes if code >= 0)
