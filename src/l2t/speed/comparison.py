"""What `l2t bench` measures: five comparisons on made data of the paper's size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from l2t import algorithms
from l2t.domains import DomainPair
from l2t.exceptions import L2TError
from l2t.inference import Objective, infer
from l2t.numerics import lasso_objective, sparse_codes
from l2t.speed.data import feature_pair
from l2t.speed.objective import PlainObjective, Weights, objective_floor
from l2t.speed.sparse_codes import codes_row_by_row, sparse_problem
from l2t.speed.statistics import plain_statistics, statistics_floor
from l2t.speed.timing import best_of, side_by_side
from l2t.statistics import pair_statistics

__all__ = ["Comparison", "compare_speed"]

ROWS, FEATURES, COMPONENTS, ALPHA = 240, 1280, 20, 0.05
AGREEMENT = 1e-9


@dataclass(frozen=True)
class Comparison:
    """A part of L2T beside another way to the same end.

    Attributes
    ----------
    what : str
        The part.
    against : str
        The other way; the floor is what nobody can leave out.
    seconds, other_seconds : float
        The shortest time of each.
    """

    what: str
    against: str
    seconds: float
    other_seconds: float

    @property
    def ratio(self) -> float:
        """The time of the other way over that of L2T: above 1 where L2T is faster."""
        return self.other_seconds / self.seconds


def compare_speed(rows: int = ROWS, features: int = FEATURES) -> Iterator[Comparison]:
    """Measure one comparison after the other, on one thread.

    Parameters
    ----------
    rows : int
        Rows of each domain.
    features : int
        Their features.

    Raises
    ------
    L2TError
        Two ways to the same end do not agree, so that their times mean nothing.
    """
    pair = feature_pair(rows, rows, features)
    for compare in (_statistics, _objective, _sparse_codes, _inference):
        with threadpool_limits(limits=1):
            found = list(compare(pair))
        yield from found


def _statistics(pair: DomainPair) -> Iterator[Comparison]:
    W = np.random.default_rng(0).normal(size=(pair.n_features, COMPONENTS))
    ours, found = best_of(lambda: pair_statistics(pair, W), 20)
    plain, expected = best_of(lambda: plain_statistics(pair, W, found.kernels), 7)
    floor, _ = best_of(lambda: statistics_floor(pair, W), 20)
    for name, values in zip(("d", "Q", "tau"), expected, strict=True):
        _agree(getattr(found, name), values, name)
    yield Comparison("pair statistics", "plain numpy", ours, plain)
    yield Comparison("pair statistics", "the floor", ours, floor)


def _objective(pair: DomainPair) -> Iterator[Comparison]:
    weights, V = Weights(), np.eye(pair.span.rank, COMPONENTS)
    objective, plain = Objective(pair, weights), PlainObjective(pair, weights)
    for ours, theirs in zip(objective.in_span(V), plain(V), strict=True):
        _agree(ours, theirs, "the objective")
    floor = objective_floor(pair, V)
    ours, fastest = side_by_side([lambda: objective.in_span(V), floor], turns=5)
    slow, _ = best_of(lambda: plain(V), 3)
    yield Comparison("objective, gradient", "plain numpy", ours, slow)
    yield Comparison("objective, gradient", "the floor", ours, fastest)


def _sparse_codes(pair: DomainPair) -> Iterator[Comparison]:
    n = len(pair.target)
    D, T, own = sparse_problem(n, 2 * n)
    ours, found = best_of(lambda: sparse_codes(D, T, ALPHA, forbidden=own, max_iter=5000), 3)
    theirs, codes = best_of(lambda: codes_row_by_row(D, T, own, ALPHA), 1)
    reached, expected = (lasso_objective(D, T, each, ALPHA) for each in (found.codes, codes))
    _agree(reached, expected, "sparse codes", rtol=1e-4)
    yield Comparison("sparse codes", "a Lasso for each row", ours, theirs)


def _inference(pair: DomainPair) -> Iterator[Comparison]:
    def fresh() -> DomainPair:
        return DomainPair(pair.source, pair.target)  # so that the span is computed again

    def all_eight() -> None:
        again = fresh()
        for name in algorithms.names():
            algorithms.make(name).fit(again)

    ours, _ = best_of(lambda: infer(fresh(), n_labels=15), 3)
    eight, _ = best_of(all_eight, 1)
    yield Comparison("whole inference", "all base algorithms", ours, eight)


def _agree(ours: Any, theirs: Any, what: str, rtol: float = AGREEMENT) -> None:
    scale = np.max(np.abs(theirs))
    if not np.allclose(ours, theirs, rtol=rtol, atol=rtol * scale):
        raise L2TError(f"{what}: the fast and the plain form do not agree to {rtol:g}")
