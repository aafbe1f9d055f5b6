"""Settings of the paper's search for W."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from l2t.exceptions import InvalidInputError
from l2t.validation import one_of, whole_number

Constraint = Literal["grassmann", "sphere"]


@dataclass(frozen=True)
class Plan:
    """Settings of the search for W.

    Parameters
    ----------
    constraint : {"grassmann", "sphere"}, default="grassmann"
        "grassmann": orthonormal columns. "sphere": a fixed Frobenius norm, as in the paper's free search.
    n_components : int or tuple of int, default=(5, 10, 20, 80)
        Maximum number of columns of W. For several numbers u, one W_u is searched for each, and W has all of
        them side by side, ``[W_u / s_u ...]``, s_u the root mean squared distance of target rows under W_u:
        distances are averaged over several degrees of detail.
    n_iter : int, optional
        Number of conjugate gradient steps; by default 10, or 5 in the geometry of known classes. Few are
        better: f is accurate near the experiences, and its optimum is far from them.
    """

    constraint: Constraint = "grassmann"
    n_components: int | tuple[int, ...] = (5, 10, 20, 80)
    n_iter: int | None = None

    def __post_init__(self) -> None:
        one_of("constraint", self.constraint, get_args(Constraint))
        if not self.sizes:
            raise InvalidInputError("n_components must be one or more whole numbers, got none")
        for size in self.sizes:
            whole_number("n_components", size, least=1)
        if self.n_iter is not None:
            whole_number("n_iter", self.n_iter, least=0)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of components, in increasing order."""
        if isinstance(self.n_components, tuple):
            return tuple(sorted(set(self.n_components)))
        return (self.n_components,)

    def steps(self, *, known: bool) -> int:
        """Return the number of steps, `known` in the geometry of known classes."""
        if self.n_iter is not None:
            return self.n_iter
        return 5 if known else 10
