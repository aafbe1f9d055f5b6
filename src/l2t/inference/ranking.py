"""Which source to take, before anything is trained."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from l2t.domains import Domain, DomainPair
from l2t.exceptions import InvalidInputError
from l2t.inference.result import Inference
from l2t.inference.search import infer
from l2t.reflection import ReflectionFunction

__all__ = ["RankedSource", "rank_sources"]


@dataclass(frozen=True, eq=False)
class RankedSource:
    """A source with what it should bring.

    Attributes
    ----------
    source : Domain
        The source.
    index : int
        Its place among those given.
    inference : Inference
        What was found for the pair of source and target.
    """

    source: Domain
    index: int
    inference: Inference

    @property
    def predicted(self) -> float:
        """The predicted improvement ratio."""
        return self.inference.predicted

    def __repr__(self) -> str:
        name, told = self.source.name, self.inference
        return f"RankedSource({name!r}, predicted {told.predicted:.3f}, {told.verdict})"


def rank_sources(
    target: Domain,
    sources: Iterable[Domain],
    reflection: ReflectionFunction | str | None = None,
    **options: Any,
) -> list[RankedSource]:
    """Rank sources by the improvement that is predicted for a target, best first.

    Parameters
    ----------
    target : Domain
        The target.
    sources : iterable of Domain
        One source or more, with the features of the target.
    reflection : ReflectionFunction or str, optional
        As for `infer`.
    **options
        Other arguments of `infer`.
    """
    several = [] if isinstance(sources, Domain) else list(sources)
    if not several:
        raise InvalidInputError("sources must be a list of one or more domains")
    ranked = [
        RankedSource(source, index, infer(DomainPair(source, target), reflection, **options))
        for index, source in enumerate(several)
    ]
    return sorted(ranked, key=lambda each: -each.predicted)
