"""Which classes two domains share, as their labels say: equal labels mean equal classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from l2t.domains import Domain
from l2t.typing import AnyArray

__all__ = ["SharedClasses", "labelled", "shared_classes"]


@dataclass(frozen=True)
class SharedClasses:
    """The classes of the sources and of the labelled target rows.

    Attributes
    ----------
    common, source_only, target_only : tuple
        Classes of both, and of one side alone. In `source_only` are classes that no *labelled* target row
        has.
    """

    common: tuple[Any, ...]
    source_only: tuple[Any, ...]
    target_only: tuple[Any, ...]

    @property
    def classes(self) -> tuple[Any, ...]:
        """All classes: those of both, of the source alone, of the target alone."""
        return self.common + self.source_only + self.target_only

    @property
    def kind(self) -> Literal["unknown", "none", "all", "partial", "open"]:
        """Whether target labels are known, and which classes are shared: none, all, some, or others too."""
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
    ours = dict.fromkeys(name for each in sources for name in _names(each, default=True))
    theirs = _names(target, default=False)
    return SharedClasses(
        tuple(name for name in ours if name in theirs),
        tuple(name for name in ours if name not in theirs),
        tuple(name for name in theirs if name not in ours),
    )


def labelled(domain: Domain, *, default: bool) -> AnyArray:
    """Return the rows whose label is known: of those marked, or else of all or none."""
    known = np.full(len(domain), default) if domain.labeled is None else domain.labeled
    return np.asarray(known & (domain.codes >= 0))


def _names(domain: Domain, *, default: bool) -> tuple[Any, ...]:
    codes = np.unique(domain.codes[labelled(domain, default=default)])
    return tuple(domain.classes[code] for code in codes)
