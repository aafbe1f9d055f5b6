"""Chains: several algorithms in sequence, as one W.

``W = W_1 W_2 ...``, where W_2 is fitted to the rows ``X W_1``: the linear form of the paper's "hierarchical
latent factors". ``classes > gfk`` is the geodesic flow kernel in the geometry of the known classes. They were
candidates in l2t 0.2, and left the package because they did not improve predictions.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, ClassVar

from l2t import algorithms
from l2t.algorithms import Algorithm, LatentFactors
from l2t.algorithms.base import plain_params, with_known
from l2t.domains import Domain, DomainPair, KnownClasses

__all__ = ["SEPARATOR", "Chain"]

SEPARATOR = " > "


@dataclass(frozen=True)
class Chain:
    """Algorithms in sequence.

    Parameters
    ----------
    steps : tuple of Algorithm
        Two or more algorithms, in order.
    known : KnownClasses, optional
        The known classes, without rows of the target, for the first step if it uses them; by default those of
        the pair's source. Later steps use the transformed source.
    """

    uses_known_classes: ClassVar[bool] = True

    steps: tuple[Algorithm, ...]
    known: KnownClasses | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, name: str) -> Chain:
        """Return the chain of a name such as "classes > gfk", with default parameters."""
        return cls(tuple(algorithms.make(step) for step in name.split(SEPARATOR)))

    @property
    def name(self) -> str:
        """The names of the steps."""
        return SEPARATOR.join(step.name for step in self.steps)

    @property
    def params(self) -> dict[str, Any]:
        """The hyper-parameters of each step, by its position and name."""
        return {
            f"{position} {step.name}": plain_params(step)
            for position, step in enumerate(self.steps, 1)
        }

    def fit(self, pair: DomainPair) -> LatentFactors:
        """Find the latent factors of a pair, without reading a target label."""
        first, *later_steps = self.steps
        factors = with_known(first, self.known).fit(pair)
        W, source_W = factors.W, factors.source_W
        for step in later_steps:
            source = pair.source.with_features(pair.source.X @ source_W)
            target = Domain(pair.target.X @ W, name=pair.target.name)
            factors = step.fit(DomainPair(source, target))
            W, source_W = W @ factors.W, source_W @ factors.source_W
        diagnostics = dataclasses.replace(factors.diagnostics, residual=None)
        return LatentFactors(W, "linear", self.name, diagnostics, {"source_W": source_W})
