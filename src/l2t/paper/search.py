"""The paper's search for W by conjugate gradient on 1/f, from the best of several starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from l2t.domains import DomainPair
from l2t.numerics import Grassmann, Manifold, Sphere, minimize_on_manifold
from l2t.paper.explanation import Explanation
from l2t.paper.function import ReflectionFunction
from l2t.paper.objective import Objective
from l2t.paper.plan import Plan
from l2t.paper.starts import Starts, starting_points
from l2t.statistics import PairStatistics, pair_statistics
from l2t.typing import AnyArray

#: Maximum number of rows per domain, drawn at random, in the search; W applies to all rows.
MAX_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Search:
    """The result of the paper's search.

    Attributes
    ----------
    W : array of shape (m, u)
        The latent factor matrix.
    plan : Plan
        The settings of the search.
    start : str
        The start with the best f, which the search continued from.
    starts : dict
        1/f at each start, or the error message of a start that failed.
    history : tuple of float
        1/f at the start and after every iteration; it never increases.
    stop_reason : str
        The reason for stopping; usually "max_iter", because few steps are better than many.
    statistics : PairStatistics
        d, Q and tau of the pair under W.
    explanation : Explanation
        The prediction split into its terms and kernels.
    interval : (float, float) or None
        The 90 % interval of the improvement ratio; None if the function is not calibrated.
    """

    W: AnyArray
    plan: Plan
    start: str
    starts: dict[str, float | str]
    history: tuple[float, ...]
    stop_reason: str
    statistics: PairStatistics
    explanation: Explanation
    interval: tuple[float, float] | None

    @property
    def predicted(self) -> float:
        """The predicted improvement ratio of W."""
        return self.explanation.predicted


def search(
    pair: DomainPair,
    reflection: ReflectionFunction,
    plan: Plan | None = None,
    *,
    n_labels: int | None = None,
    starts: Starts | None = None,
    random_state: int = 0,
) -> Search:
    """Search the W with the highest predicted ratio, without target labels.

    Parameters
    ----------
    pair : DomainPair
        The domains.
    reflection : ReflectionFunction
        The function f.
    plan : Plan, optional
        The settings of the search; by default ``Plan()``.
    n_labels : int, optional
        The number of labelled target rows that the prediction is for; by default the mean over all numbers.
    starts : names, algorithms or a mapping from names to W, optional
        The starts besides PCA, as for `infer`; by default TCA and GFK.
    random_state : int, default=0
        The seed of the pairing in Q, of base algorithms, and for sampling domains of more than 1,000 rows.

    Returns
    -------
    Search

    Examples
    --------
    >>> from l2t.domains import PairSampler, digits, mnist, normalize
    >>> from l2t.paper import load_reflection
    >>> pair = PairSampler(normalize(digits()), normalize(mnist()), 1)[0]
    >>> found = search(pair, load_reflection("default"), Plan(n_components=10), n_labels=15)
    >>> found.W.shape, found.stop_reason
    ((64, 10), 'max_iter')
    """
    plan = plan or Plan()
    part, sides = pair, (pair.source, pair.target)
    if max(map(len, sides)) > MAX_ROWS:
        part = DomainPair(*(side.sample(MAX_ROWS, random_state) for side in sides))
    objective = Objective(part, reflection, random_state).in_span
    factors, failed = starting_points(part, plan, starts, random_state)
    values = {name: objective(V)[0] for name, V in factors.items()}
    best = min(values, key=values.__getitem__)  # of equals the first
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
        reflection.interval(statistics, n_labels) if reflection.calibration else None,
    )
