"""The paper's search for W by conjugate gradient on 1/f, from the best of several starts.

With known classes the search takes place in ``X T``, T their class geometry (`l2t.algorithms.classes`), a
memory of what separated classes before: starts, distances and the neighbours of tau are those of X T, and the
result is ``W = T V`` for the V found there. Orthonormal columns of V are then orthonormal in the gauge of the
known classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from l2t.algorithms.classes import class_geometry
from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.exceptions import InvalidInputError
from l2t.numerics import (
    Grassmann,
    Manifold,
    Optimum,
    Sphere,
    mean_squared_distance,
    minimize_on_manifold,
)
from l2t.paper.explanation import Explanation
from l2t.paper.function import Reflection
from l2t.paper.objective import Objective
from l2t.paper.plan import Plan
from l2t.paper.starts import Starts, starting_points
from l2t.statistics import PairStatistics, pair_statistics
from l2t.typing import AnyArray, Array
from l2t.validation import instance_of

#: Maximum number of rows per domain, drawn at random, in the search; W applies to all rows.
MAX_SEARCH_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Search:
    """The result of the paper's search.

    Attributes
    ----------
    W : array of shape (m, u)
        The latent factor matrix.
    plan : Plan
        The settings of the search.
    reflection : ReflectionFunction or ConvexReflection
        The function that was searched on; for one with a level, that of the pair (`Reflection.for_pair`).
    start : str
        The start with the best f, which the search continued from. If the plan has several numbers of
        components, `start`, `starts`, `history` and `stop_reason` are those of the largest.
    starts : dict
        1/f at each start, or the error message of a start that failed.
    history : tuple of float
        1/f at the start and after every iteration; it never increases.
    stop_reason : str
        The reason for stopping; usually "max_iter", because few steps are better than many.
    statistics : PairStatistics
        d, Q and tau of the pair under W; with known classes, of the pair in their geometry.
    explanation : Explanation
        The prediction split into its terms and kernels.
    interval : (float, float) or None
        The 90 % interval of the improvement ratio; None if the function is not calibrated.
    """

    W: AnyArray
    plan: Plan
    reflection: Reflection
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
    reflection: Reflection,
    plan: Plan | None = None,
    *,
    n_labels: int | None = None,
    starts: Starts | None = None,
    known: KnownClasses | None = None,
    random_state: int = 0,
) -> Search:
    """Search the W with the highest predicted ratio, without target labels.

    Parameters
    ----------
    pair : DomainPair
        The domains.
    reflection : ReflectionFunction or ConvexReflection
        The function f.
    plan : Plan, optional
        The settings of the search; by default ``Plan()``.
    n_labels : int, optional
        The number of labelled target rows that the prediction is for; by default the mean over all numbers.
    starts : names, algorithms or a mapping from names to W, optional
        The starts besides PCA, as for `infer`; by default TCA and GFK. With known classes algorithms are
        fitted in their geometry, and matrices are not accepted.
    known : KnownClasses, optional
        Known classes, such as those of past targets (``KnownClasses.of(store)``), in whose geometry to
        search; rows of the target are left out. By default, or if no class is left, in the features as given.
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
    >>> result = search(pair, load_reflection("default"), Plan(n_components=10), n_labels=15)
    >>> result.W.shape, result.stop_reason
    ((64, 10), 'max_iter')
    """
    plan = plan or Plan()
    part, sides = pair, (pair.source, pair.target)
    if max(map(len, sides)) > MAX_SEARCH_ROWS:
        part = DomainPair(*(side.sample(MAX_SEARCH_ROWS, random_state) for side in sides))
    T = None if known is None else _geometry(known, pair)
    if T is not None:
        if isinstance(starts, Mapping):
            raise InvalidInputError("starts must be names or algorithms if known is given")
        part = _mapped(part, T)
    reflection = reflection.for_pair(part, random_state)
    objective = Objective(part, reflection, random_state).in_span
    n_iter = plan.steps(known=T is not None)
    # Sizes above the rank are the rank.
    sizes = sorted({min(size, part.span.rank) for size in plan.sizes})
    searches = [
        _search_size(objective, part, plan, size, n_iter, starts, random_state) for size in sizes
    ]
    V = _side_by_side(part, [search_of_size.V for search_of_size in searches])
    last = searches[-1]
    W = part.span.lift(V, np.float64)
    statistics = pair_statistics(
        part,
        W,
        kernels=reflection.kernels,
        n_neighbors=reflection.n_neighbors,
        random_state=random_state,
    )
    b = reflection.term_weights.bias
    W = (W if T is None else T @ W).astype(np.result_type(*(side.rows.dtype for side in sides)))
    W.flags.writeable = False
    return Search(
        W,
        plan,
        reflection,
        last.start,
        {name: value + b for name, value in last.values.items()} | last.failed,
        tuple(value + b for value in last.optimum.trace),
        last.optimum.stop_reason,
        statistics,
        reflection.explain(statistics, n_labels),
        reflection.interval(statistics, n_labels) if reflection.calibration else None,
    )


@dataclass(frozen=True, eq=False)
class _SizeSearch:
    """The search for one number of components: J at the starts, the best of them, and its optimum."""

    start: str
    values: dict[str, float]
    failed: dict[str, str]
    optimum: Optimum

    @property
    def V(self) -> Array:
        return self.optimum.W


def _search_size(
    objective: Callable[[Array], tuple[float, Array]],
    pair: DomainPair,
    plan: Plan,
    size: int,
    n_iter: int,
    starts: Starts | None,
    random_state: int,
) -> _SizeSearch:
    """Minimise the objective from the best start with at most `size` columns."""
    factors, failed = starting_points(pair, plan, size, starts, random_state)
    values = {name: objective(V)[0] for name, V in factors.items()}
    best = min(values, key=values.__getitem__)  # of equals the first
    V = factors[best]
    manifold: Manifold = Sphere(float(np.linalg.norm(V)))
    if plan.constraint == "grassmann":
        manifold = Grassmann()
    optimum = minimize_on_manifold(objective, V, manifold, max_iter=n_iter, tol=0.0)
    return _SizeSearch(best, values, failed, optimum)


def _side_by_side(pair: DomainPair, factors: list[Array]) -> Array:
    """Return ``[V_u / s_u ...]``, s_u the root mean squared distance of target rows; one V is unchanged."""
    if len(factors) == 1:
        return factors[0]
    scaled = []
    for V in factors:
        Z = pair.span.target @ V
        size = np.sqrt(mean_squared_distance(Z, Z))
        scaled.append(V / size if size > 0 else V)
    return np.hstack(scaled)


def _geometry(known: KnownClasses, pair: DomainPair) -> Array | None:
    """Return T of the known classes without rows of the target; None if no class is left."""
    instance_of("known", known, KnownClasses)
    left = known.without(pair.target)
    return class_geometry(left, pair.target.X) if left.n_classes else None


def _mapped(pair: DomainPair, T: Array) -> DomainPair:
    """Return the pair with rows ``X T``, without target labels."""
    source, target = pair.source, pair.target
    return DomainPair(
        Domain(source.X @ T, source.y, name=source.name, labeled=source.labeled),
        Domain(target.X @ T, name=target.name),
    )
