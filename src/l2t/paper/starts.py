"""The starts of the paper's search: PCA, base algorithms, and matrices given by the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from l2t import algorithms as registry
from l2t.algorithms import Algorithm
from l2t.algorithms.base import fit_quietly
from l2t.algorithms.matrices import check_matrices
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError, L2TError
from l2t.numerics import JointSpan
from l2t.paper.objective import ROUNDING
from l2t.paper.plan import Plan
from l2t.typing import AnyArray, Array

Starts = str | Algorithm | Sequence[str | Algorithm] | Mapping[str, npt.ArrayLike]

#: Base algorithms that take less time than the search itself.
CHEAP_STARTS = ("tca", "gfk")


def starting_points(
    pair: DomainPair, plan: Plan, size: int, wanted: Starts | None, random_state: int
) -> tuple[dict[str, Array], dict[str, str]]:
    """Return factors V (r x u) in the pair's span by name, and the error messages of starts that failed.

    They have at most `size` columns, one of the plan's numbers of components. Columns are orthonormal for
    "grassmann"; for "sphere" they keep their relative scales, with norm √u of V.
    """
    span = pair.span
    if span.rank == 0:
        raise InvalidInputError("pair must have rows that differ, got identical rows")
    u = min(size, span.rank)
    factors_in_span: dict[str, Array] = {"pca": np.eye(span.rank, u)}
    failed: dict[str, str] = {}
    if isinstance(wanted, Mapping):
        factors = check_matrices(wanted, pair.n_features)
        factors_in_span |= {name: _in_span(W, span) for name, W in factors.items()}
    else:
        starts_wanted: Starts = CHEAP_STARTS if wanted is None else wanted
        if isinstance(starts_wanted, str) and starts_wanted == "all":
            starts_wanted = registry.PAPER
        for algorithm in registry.make_all(
            "starts", starts_wanted, n_components=u, random_state=random_state
        ):
            try:
                factors_in_span[algorithm.name] = _in_span(fit_quietly(algorithm, pair).W, span)
            except L2TError as error:
                failed[algorithm.name] = str(error)
    starts = {}
    for name, V in factors_in_span.items():
        if (feasible := _constrained(V, plan, size)) is None:
            failed[name] = "it maps all rows to one point"
        else:
            starts[name] = feasible
    return starts, failed


def _in_span(W: AnyArray, span: JointSpan) -> Array:
    """Return the part of W in the span of the rows; zero if that is only rounding."""
    V = span.lower(W)
    return V if np.linalg.norm(V) > ROUNDING * np.linalg.norm(W) else np.zeros_like(V)


def _constrained(V: Array, plan: Plan, size: int) -> Array | None:
    """Return V with at most `size` columns on the manifold of the plan; None if it is zero."""
    U, s, _ = np.linalg.svd(V, full_matrices=False)
    if not s[0] > 0:
        return None
    u = min(int((s > 1e-10 * s[0]).sum()), size)
    if plan.constraint == "grassmann":
        return np.asarray(U[:, :u])
    scaled = U[:, :u] * s[:u]
    return np.asarray(scaled * (np.sqrt(u) / np.linalg.norm(scaled)))
