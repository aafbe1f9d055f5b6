"""Ranking of sources before training."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from l2t.domains import Domain
from l2t.exceptions import InvalidInputError
from l2t.inference.inference import infer
from l2t.inference.result import Inference
from l2t.paper import Reflection


@dataclass(frozen=True, eq=False)
class RankedSource:
    """A source with the improvement that is expected of it.

    Attributes
    ----------
    source : Domain
        The source.
    index : int
        Its position among those given.
    inference : Inference
        The inference with this source.
    adds : float
        The predicted improvement ratio, divided by the best ratio of candidates that need no source: above 1
        if the source is worth having.
    """

    source: Domain
    index: int
    inference: Inference
    adds: float

    @property
    def predicted(self) -> float:
        """The predicted improvement ratio."""
        return self.inference.predicted

    def __repr__(self) -> str:
        return f"RankedSource({self.source.name!r}, {self.inference.choice}, adds {self.adds:.3f})"


def rank_sources(
    target: Domain,
    sources: Iterable[Domain],
    reflection: Reflection | str | os.PathLike[str] | None = None,
    **options: Any,
) -> list[RankedSource]:
    """Rank sources by what each adds to having none, best first.

    Parameters
    ----------
    target : Domain
        The target.
    sources : iterable of Domain
        One or more sources with the features of the target.
    reflection : ReflectionFunction, str or path, optional
        The reflection function, as for `infer`.
    **options
        Other arguments of `infer`, such as `n_labels` and `known`.

    Returns
    -------
    list of RankedSource
        A source that adds nothing has `adds` = 1.

    Raises
    ------
    InvalidInputError
        There are no sources.
    """
    several = [] if isinstance(sources, Domain) else list(sources)
    if not several:
        got = "a single domain" if isinstance(sources, Domain) else "none"
        raise InvalidInputError(f"sources must be a list of one or more domains, got {got}")
    ranked = []
    for index, source in enumerate(several):
        inference = infer(target, reflection, sources=[source], **{"shared": False} | options)
        without = [
            candidate.predicted
            for candidate in inference.candidates.values()
            if candidate.predicted is not None and not candidate.traits.uses_source
        ]
        adds = inference.predicted / max(without)
        ranked.append(RankedSource(source, index, inference, adds))
    return sorted(ranked, key=lambda source: (-source.adds, -source.predicted))
