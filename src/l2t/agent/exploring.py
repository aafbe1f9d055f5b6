"""Exploring: now and then another candidate than the best, to learn what would not be chosen otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from l2t import algorithms
from l2t.domains import DomainPair
from l2t.inference import Candidate, Inference, infer
from l2t.numerics import fingerprint

__all__ = ["explore"]


def explore(
    pair: DomainPair, found: Inference, probability: float, random_state: int, **options: Any
) -> Candidate:
    """Return the choice, or with some probability a random other candidate or base algorithm.

    What is drawn depends on the seed and the rows of the pair alone. "identity" is not tried, for its ratio
    is known. `options` are the other arguments of `infer` that gave `found`.
    """
    sides = (int(fingerprint(side.X)[:16], 16) for side in (pair.source, pair.target))
    rng = np.random.default_rng([random_state, *sides])
    if rng.random() < probability:
        names = [name for name in algorithms.names() if name not in (found.choice, "identity")]
        for name in rng.permutation(names).tolist():
            candidate = found.candidates.get(name)
            if candidate is None:
                tried = infer(pair, candidates=(name,), random_state=random_state, **options)
                *_, candidate = tried.candidates.values()
            if candidate.W is not None:
                return candidate
    return found.candidates[found.choice]
