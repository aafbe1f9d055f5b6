"""Chains: several algorithms in sequence, as one W.

``W = W_1 W_2 ...``, where W_2 is fitted to the rows ``X W_1``: the linear form of the paper's "hierarchical
latent factors". ``classes > gfk`` is the geodesic flow kernel in the geometry of the known classes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from l2t.algorithms.base import Algorithm, LatentFactors, plain_params, with_known
from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.exceptions import InvalidInputError
from l2t.validation import instance_of

SEPARATOR = ">"
#: Maximum number of algorithms in a chain.
MAX_STEPS = 3


@dataclass(frozen=True)
class Chain:
    """Algorithms in sequence.

    Parameters
    ----------
    steps : sequence of Algorithm
        Two or three algorithms, in order.
    known : KnownClasses, optional
        The known classes, without rows of the target, for the steps that use them; by default those of the
        pair's source. Later steps get their transformed rows.

    Examples
    --------
    >>> from l2t.algorithms import make
    >>> make("classes > gfk", n_components=10).name
    'classes > gfk'
    """

    steps: Sequence[Algorithm]
    known: KnownClasses | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 2 <= len(self.steps) <= MAX_STEPS:
            raise InvalidInputError(
                f"a chain must have 2 to {MAX_STEPS} algorithms, got {len(self.steps)}"
            )

    @property
    def name(self) -> str:
        """The names of the steps, in the form that `make` accepts."""
        return f" {SEPARATOR} ".join(step.name for step in self.steps)

    @property
    def params(self) -> dict[str, Any]:
        """The hyper-parameters of each step, by its position and name."""
        return {
            f"{position} {step.name}": plain_params(step)
            for position, step in enumerate(self.steps, 1)
        }

    @property
    def needs_features(self) -> bool:
        """Whether the first step needs the original features; later steps never get them."""
        return bool(getattr(self.steps[0], "needs_features", False))

    def fit(self, pair: DomainPair) -> LatentFactors:
        """Find the latent factors of a pair, without reading a target label."""
        instance_of("pair", pair, DomainPair)
        known = self.known
        if known is None and any(hasattr(step, "known") for step in self.steps):
            known = KnownClasses([pair.source]).without(pair.target)
        found = with_known(self.steps[0], known).fit(pair)
        W, source_W, inner = found.W, found.source_W, pair
        for step in self.steps[1:]:
            inner = DomainPair(
                pair.source.with_features(pair.source.X @ source_W),
                Domain(pair.target.X @ W, name=pair.target.name),
            )
            mapped = None if known is None else known.mapped(source_W)
            found = with_known(step, mapped).fit(inner)
            W, source_W = W @ found.W, source_W @ found.source_W
        diagnostics = dataclasses.replace(found.diagnostics, residual=None)
        return LatentFactors(W, "linear", self.name, diagnostics, {"source_W": source_W})
