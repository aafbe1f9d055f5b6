"""Settings of the paper's search for W."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from l2t.validation import one_of, whole_number

Constraint = Literal["grassmann", "sphere"]


@dataclass(frozen=True)
class Plan:
    """Settings of the search for W.

    Parameters
    ----------
    constraint : {"grassmann", "sphere"}, default="grassmann"
        "grassmann": orthonormal columns. "sphere": a fixed Frobenius norm, as in the paper's free search.
    n_components : int, default=20
        Maximum number of columns of W.
    n_iter : int, default=10
        Number of conjugate gradient steps. Few are better: f is accurate near the experiences, and its
        optimum is far from them.
    """

    constraint: Constraint = "grassmann"
    n_components: int = 20
    n_iter: int = 10

    def __post_init__(self) -> None:
        one_of("constraint", self.constraint, get_args(Constraint))
        whole_number("n_components", self.n_components, least=1)
        whole_number("n_iter", self.n_iter, least=0)
