"""Chains: one algorithm after another, as one W.

``W = W_1 W_2 ...``, where W_2 was found for the rows ``X W_1``. The paper's "hierarchical latent factors" in
linear form: ``classes > gfk`` is the geodesic flow kernel in the geometry of the known classes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from l2t.algorithms.base import Algorithm, LatentFactors, with_known
from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.exceptions import InvalidInputError

SEPARATOR = ">"
#: The most algorithms in a chain.
DEPTH = 3


@dataclass(frozen=True)
class Chain:
    """Algorithms one after the other.

    Parameters
    ----------
    steps : sequence of Algorithm
        Two or three algorithms, first to last.
    known : KnownClasses, optional
        The known classes, for a first step that uses them; later steps use those of the transformed source.

    Examples
    --------
    >>> from l2t.algorithms import make
    >>> make("classes > gfk", n_components=10).name
    'classes > gfk'
    """

    steps: Sequence[Algorithm]
    known: KnownClasses | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 2 <= len(self.steps) <= DEPTH:
            raise InvalidInputError(
                f"a chain must have 2 to {DEPTH} algorithms, got {len(self.steps)}"
            )

    @property
    def name(self) -> str:
        """The names of the steps, as `make` takes them."""
        return f" {SEPARATOR} ".join(step.name for step in self.steps)

    @property
    def params(self) -> dict[str, Any]:
        """The hyper-parameters of each step, by its place and name."""
        return {
            f"{place} {step.name}": dict(getattr(step, "params", {}))
            for place, step in enumerate(self.steps, 1)
        }

    @property
    def needs_features(self) -> bool:
        """Whether the first step needs the features themselves; later ones see none."""
        return bool(getattr(self.steps[0], "needs_features", False))

    def fit(self, pair: DomainPair) -> LatentFactors:
        """Find the latent factors of a pair, without reading a target label."""
        found = with_known(self.steps[0], self.known).fit(pair)
        W, source_W, inner = found.W, found.source_W, pair
        for step in self.steps[1:]:
            inner = DomainPair(
                pair.source.with_features(pair.source.X @ source_W),
                Domain(pair.target.X @ W, name=pair.target.name),
            )
            found = step.fit(inner)
            W, source_W = W @ found.W, source_W @ found.source_W
        diagnostics = dataclasses.replace(found.diagnostics, residual=None)
        return LatentFactors(W, "linear", self.name, diagnostics, {"source_W": source_W})
