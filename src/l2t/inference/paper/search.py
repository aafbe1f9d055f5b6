"""The paper's search: W by conjugate gradient on 1/f, from the best of several starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from l2t.domains import DomainPair
from l2t.inference.paper.objective import Objective
from l2t.inference.paper.starts import Starts, starting_points
from l2t.numerics import Grassmann, Manifold, Sphere, minimize_on_manifold
from l2t.reflection import Explanation, ReflectionFunction
from l2t.reflection.plan import Plan
from l2t.statistics import PairStatistics, pair_statistics
from l2t.typing import AnyArray

#: Larger domains are searched on so many random rows; W itself fits all rows.
MAX_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Search:
    """How the paper's search went.

    Attributes
    ----------
    W : array of shape (m, u)
        The W that was found.
    plan : Plan
        How it was searched.
    start : str
        The start that the search continued from: the one with the best f.
    starts : mapping
        1/f at each start; why, where there is none.
    history : tuple of float
        1/f at the start and after every iteration; never rising.
    stop_reason : str
        Why the search ended; "max_iter" is the usual one, for few steps are better than many.
    statistics : PairStatistics
        d, Q and tau of the pair under W.
    explanation : Explanation
        The prediction in its terms and kernels.
    """

    W: AnyArray
    plan: Plan
    start: str
    starts: dict[str, float | str]
    history: tuple[float, ...]
    stop_reason: str
    statistics: PairStatistics
    explanation: Explanation


def search(
    pair: DomainPair,
    reflection: ReflectionFunction,
    plan: Plan,
    *,
    n_labels: int | None = None,
    starts: Starts | None = None,
    random_state: int = 0,
) -> Search:
    """Search the W of which f expects most, without reading a target label.

    The search starts from PCA, and from `starts` (as in `infer`): TCA and GFK by default. The seed is that of
    the pairing in Q, of base algorithms, and of the rows that represent domains of more than 1,000.
    """
    part, sides = pair, (pair.source, pair.target)
    if max(map(len, sides)) > MAX_ROWS:
        part = DomainPair(*(side.sample(MAX_ROWS, random_state) for side in sides))
    objective = Objective(part, reflection, random_state).in_span
    factors, failed = starting_points(part, plan, starts, random_state)
    values = {name: objective(V)[0] for name, V in factors.items()}
    best = min(values, key=values.__getitem__)  # the first of equals
    V = factors[best]
    manifold: Manifold = Sphere(float(np.linalg.norm(V)))
    if plan.constraint == "grassmann":
        manifold = Grassmann()
    found = minimize_on_manifold(objective, V, manifold, max_iter=plan.n_iter, tol=0.0)
    statistics = pair_statistics(
        part,
        part.span.lift(found.W, np.float64),
        kernels=reflection.kernels,
        n_neighbors=reflection.n_neighbors,
        random_state=random_state,
    )
    W = part.span.lift(found.W)
    W.flags.writeable = False
    return Search(
        W,
        plan,
        best,
        {name: value + reflection.b for name, value in values.items()} | failed,
        tuple(value + reflection.b for value in found.trace),
        found.stop_reason,
        statistics,
        reflection.explain(statistics, n_labels),
    )
