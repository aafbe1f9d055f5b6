"""How to search W, chosen on validation pairs for each number of labels; travels with the function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from l2t.validation import one_of, real_number, whole_number

__all__ = ["Constraint", "Plan", "Rule", "nearest_plan"]

Constraint = Literal["soft", "grassmann", "sphere"]

#: The number of labels that is assumed where none is told.
ASSUMED_LABELS = 15


@dataclass(frozen=True)
class Plan:
    """How W is searched.

    Attributes
    ----------
    constraint : {"soft", "grassmann", "sphere"}
        "grassmann": orthonormal columns. "sphere": a fixed Frobenius norm, the paper's free search.
        "soft": the same, from directions scaled by how well they discriminate (`spectrum`).
    n_components : int or None
        Columns of W at most; None for all that the start has ("soft").
    n_iter : int
        Steps of conjugate gradient. Few: f is right about what it has seen, and its own optimum is far
        from that.
    power : float
        Of the discriminant eigenvalues that scale the directions of "soft".
    """

    constraint: Constraint = "grassmann"
    n_components: int | None = 20
    n_iter: int = 10
    power: float = 1.0

    @classmethod
    def of(cls, constraint: Constraint) -> Plan:
        """Return what is usual for a constraint: a soft W keeps all its columns, and moves little."""
        return cls("soft", None, 1) if constraint == "soft" else cls(constraint)

    def __post_init__(self) -> None:
        one_of("constraint", self.constraint, get_args(Constraint))
        if self.n_components is not None:
            whole_number("n_components", self.n_components, least=1)
        whole_number("n_iter", self.n_iter, least=0)
        real_number("power", self.power, least=0)


@dataclass(frozen=True)
class Rule:
    """When to transfer.

    Where labelled target rows can vote, W must raise the share of their triples in order by more than
    `margin`, and by more than `doubtful_margin` where the predicted ratio is below 1. Where they cannot, the
    predicted ratio must be at least `least_predicted`.
    """

    margin: float = 0.0
    doubtful_margin: float = 0.02
    least_predicted: float = 1.0


def nearest_plan(plans: tuple[tuple[int, Plan], ...], n_labels: int | None) -> Plan:
    """Return the plan for the number of labels that is nearest in proportion."""
    wanted = np.log(ASSUMED_LABELS if n_labels is None else n_labels)
    return min(plans, key=lambda each: abs(np.log(each[0]) - wanted))[1]
