"""How the paper's method searches W."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from l2t.validation import one_of, whole_number

Constraint = Literal["grassmann", "sphere"]


@dataclass(frozen=True)
class Plan:
    """How W is searched.

    Attributes
    ----------
    constraint : {"grassmann", "sphere"}, default="grassmann"
        "grassmann": orthonormal columns. "sphere": a fixed Frobenius norm, the paper's free search.
    n_components : int, default=20
        Columns of W, at most.
    n_iter : int, default=10
        Steps of conjugate gradient. Few: f is right about what it has seen, and its own optimum is far
        from that.
    """

    constraint: Constraint = "grassmann"
    n_components: int = 20
    n_iter: int = 10

    def __post_init__(self) -> None:
        one_of("constraint", self.constraint, get_args(Constraint))
        whole_number("n_components", self.n_components, least=1)
        whole_number("n_iter", self.n_iter, least=0)
