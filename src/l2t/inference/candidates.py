"""Candidates: the algorithms compared for a pair, and the W of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy.typing as npt

from l2t import algorithms as registry
from l2t.algorithms import NO_TRANSFER, Algorithm
from l2t.algorithms.base import fit_quietly
from l2t.domains import DomainPair, KnownClasses
from l2t.exceptions import L2TError
from l2t.rehearsal.plays import MAX_SOURCE_ROWS
from l2t.typing import AnyArray

#: The default candidates.
DEFAULT_CANDIDATES = (NO_TRANSFER, "spectrum", "classes", "classes+spectrum")
#: Maximum number of target rows, drawn at random, for base algorithms; source rows are as many as in a play.
MAX_TARGET_ROWS = 5000

Wanted = Sequence[str | Algorithm] | Mapping[str, npt.ArrayLike]


def candidate_algorithms(
    wanted: Sequence[str | Algorithm] | None, random_state: int
) -> dict[str, Algorithm]:
    """Return the algorithms by name, always including "identity"."""
    algorithms: dict[str, Algorithm] = {NO_TRANSFER: registry.make(NO_TRANSFER)}
    named = DEFAULT_CANDIDATES if wanted is None else wanted
    for algorithm in registry.make_all("candidates", named, random_state=random_state):
        if algorithm.name != NO_TRANSFER:
            algorithms[_unique_name(algorithm.name, algorithms)] = algorithm
    return algorithms


def fit_candidates(
    algorithms: Mapping[str, Algorithm], pair: DomainPair, known: KnownClasses, random_state: int
) -> tuple[dict[str, AnyArray], dict[str, str]]:
    """Return the W of each algorithm by name, and the error messages of those that failed.

    Base algorithms are fitted to at most 300 rows of the source, as in rehearsal, and 5,000 of the target.
    """
    source = pair.source.sample(MAX_SOURCE_ROWS, random_state)
    small = DomainPair(source, pair.target.sample(MAX_TARGET_ROWS, random_state))
    factors: dict[str, AnyArray] = {}
    failed: dict[str, str] = {}
    for name, algorithm in algorithms.items():
        try:
            factors[name] = fit_quietly(algorithm, small, known).W
        except L2TError as error:
            failed[name] = str(error)
    return factors, failed


def _unique_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number if another candidate has it already."""
    numbered = (f"{name} {number}" for number in range(2, len(taken) + 2))
    return next(unused for unused in (name, *numbered) if unused not in taken)
