"""Practice: W's on the way of searches on random functions, as experiences for learning a function.

W's of base algorithms tell a reflection function which algorithms are good. A search asks something else of
it: which of the W's near its own optimum are better. Practice runs the search itself, on a random f per pair
and draw: one kernel of tau, often with one of d and one of Q, relative to their sizes under PCA. Its W's,
after few and many steps, are experiences like any others: ``collect(pairs, store, algorithms=practice())``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from l2t.algorithms.base import BaseAlgorithm, Diagnostics, LatentFactors, parameter
from l2t.domains import DomainPair
from l2t.numerics import Grassmann, LRUCache, fingerprint, minimize_on_manifold
from l2t.paper.convex import ConvexReflection
from l2t.paper.objective import Objective
from l2t.paper.plan import Plan
from l2t.paper.starts import CHEAP_STARTS, starting_points
from l2t.statistics import KernelBank, pair_statistics
from l2t.typing import Array
from l2t.validation import whole_number

#: The exponents of the kernel of tau: narrow ones, on which a search does best, and some wide ones.
TAU_EXPONENTS = (-6.0, 3.0)
#: How often d and Q count, and the range of their weights relative to that of tau, as exponents of 10.
MMD, VARIANCE = (0.55, -1.3, 0.5), (0.4, -1.5, 0.2)
#: The steps after which a W is kept.
STEPS = (1, 3, 8, 20)


@dataclass(frozen=True)
class Practice(BaseAlgorithm):
    """The W after some steps of the search on a random f.

    The f depends on the seed, the draw and the rows of the pair. W's of one draw after different numbers of
    steps are of one search, which is done once.

    Parameters
    ----------
    n_components : int, default=20
        Number of components u; at most the rank of the data is used.
    random_state : int or None, default=0
        The seed.
    draw : int, default=0
        The number of the search on the pair.
    steps : int, default=8
        The number of conjugate gradient steps; fewer if the search converges before.
    n_neighbors : int, default=5
        The number of neighbours r of tau, as in the statistics that are collected.
    """

    name: ClassVar[str] = "practice"
    relies_on_neighbours: ClassVar[bool] = True

    draw: int = parameter(0, whole_number, least=0)
    steps: int = parameter(8, whole_number, least=0)
    n_neighbors: int = parameter(5, whole_number, least=1)

    def _fit(self, pair: DomainPair) -> LatentFactors:
        size = self._clip(pair.span.rank)
        # Searches are made with the most steps that `practice` asks for; more are a search of their own.
        longest = max(self.steps, max(STEPS))
        rows = (fingerprint(np.ascontiguousarray(side.X)) for side in (pair.source, pair.target))
        key = "|".join([*rows, *map(str, (size, self.random_state, self.draw))])
        r = self.n_neighbors
        path = _paths.get(f"{key}|{r}|{longest}", lambda: _search(pair, size, key, longest, r))
        at = min(self.steps, len(path.factors) - 1)
        reason = "max_iter" if at == self.steps else path.stop_reason
        diagnostics = Diagnostics(path.values[: at + 1], at, reason)
        return self._linear(pair.span, path.factors[at], diagnostics)


def practice(
    n_draws: int = 5,
    steps: Sequence[int] = STEPS,
    *,
    n_components: int = 20,
    n_neighbors: int = 5,
    random_state: int = 0,
) -> tuple[Practice, ...]:
    """Return algorithms to practise with, for `collect`.

    Parameters
    ----------
    n_draws : int, default=5
        The number of searches per pair. With base algorithms beside them, at least half of the runs of a pair
        should be practice.
    steps : sequence of int, default=(1, 3, 8, 20)
        The numbers of steps after which a W is kept; each is a run.
    n_components : int, default=20
        Number of components of each W.
    n_neighbors : int, default=5
        The number of neighbours r of tau, as in the statistics that are collected.
    random_state : int, default=0
        The seed.

    Returns
    -------
    tuple of Practice

    Examples
    --------
    >>> [(algorithm.draw, algorithm.steps) for algorithm in practice(2, (1, 8))]
    [(0, 1), (0, 8), (1, 1), (1, 8)]
    """
    whole_number("n_draws", n_draws, least=1)
    return tuple(
        Practice(n_components, random_state, draw, n, n_neighbors)
        for draw in range(n_draws)
        for n in steps
    )


@dataclass(frozen=True, eq=False)
class _Path:
    """A search: its factors V (r x u) and 1/f - b at the start and after each step."""

    factors: tuple[Array, ...]
    values: tuple[float, ...]
    stop_reason: str


#: The latest searches; the runs of one pair and draw follow each other in `collect`.
_paths: LRUCache[_Path] = LRUCache(2)


def _search(pair: DomainPair, size: int, key: str, steps: int, n_neighbors: int) -> _Path:
    """Search on the random f of a key, from a random start."""
    digest = hashlib.sha256(key.encode()).digest()
    rng = np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))
    start = ("pca", *CHEAP_STARTS)[int(rng.integers(1 + len(CHEAP_STARTS)))]
    wanted = () if start == "pca" else (start,)
    starts, _ = starting_points(pair, Plan(n_components=size), size, wanted, 0)
    factors = [starts.get(start, starts["pca"])]  # PCA in place of one that failed
    optimum = minimize_on_manifold(
        Objective(pair, random_function(pair, size, n_neighbors, rng)).in_span,
        factors[0],
        Grassmann(),
        max_iter=steps,
        tol=0.0,
        callback=factors.append,
    )
    return _Path(tuple(factors), optimum.trace, optimum.stop_reason)


def random_function(
    pair: DomainPair, size: int, n_neighbors: int, rng: np.random.Generator
) -> ConvexReflection:
    """Return a random f; the sizes of its statistics are those under PCA with `size` components."""
    bank = KernelBank()
    pca = pair.span.lift(np.eye(pair.span.rank, size), np.float64)
    statistics = pair_statistics(pair, pca, kernels=bank, n_neighbors=n_neighbors)
    sizes = np.stack([statistics.d, np.diag(statistics.Q), statistics.tau])
    weights = np.zeros_like(sizes)
    low, high = TAU_EXPONENTS
    narrow = np.flatnonzero((bank.exponents >= low) & (bank.exponents <= high))
    weights[2, rng.choice(narrow)] = 1.0
    for row, (share, least, most) in enumerate((MMD, VARIANCE)):
        chosen, k, weight = rng.random() < share, rng.integers(len(bank)), rng.uniform(least, most)
        weights[row, k] = 10.0**weight if chosen else 0.0
    sizes = np.where(sizes > 0, sizes, 1.0)
    return ConvexReflection(weights, sizes=sizes, kernels=bank, n_neighbors=n_neighbors)
