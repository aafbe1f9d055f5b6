"""Inference for few rows of very many features, in the coordinates of the rows from their Gram matrix.

Distances between rows are the same in these coordinates (`GramSpan`), so the choice is made there, and each
W is lifted to the features when it is accessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from l2t.domains import Domain
from l2t.domains.domain import DENSE_FEATURES
from l2t.inference.candidates import Wanted, candidate_algorithms
from l2t.inference.result import Candidate, Candidates, Inference
from l2t.numerics import GramSpan, few_threads

#: Maximum number of rows for which very many features are replaced by coordinates from the Gram matrix.
MAX_GRAM_ROWS = 2000


def is_wide(target: Domain, origins: list[Domain], candidates: Wanted | None) -> bool:
    """Return whether there are few rows of very many features, and no candidate needs the features."""
    domains = [target, *origins]
    if target.n_features <= DENSE_FEATURES or sum(map(len, domains)) > MAX_GRAM_ROWS:
        return False
    if isinstance(candidates, Mapping) or any(each.prepared is not None for each in domains):
        return False
    algorithms = candidate_algorithms(candidates, 0).values()
    return not any(getattr(each, "needs_features", False) for each in algorithms)


class Coordinates:
    """Few domains of very many features, the target first, in the coordinates of their rows."""

    def __init__(self, domains: Sequence[Domain]) -> None:
        self._target = domains[0]
        self._dtype = np.result_type(*(each.rows.dtype for each in domains))
        with few_threads(sum(map(len, domains)) ** 2):
            self._span = GramSpan.of([each.rows for each in domains])
        placed = zip(domains, self._span.coordinates, strict=True)
        self.domains = [each.with_features(Z) for each, Z in placed]

    def lift(self, found: Inference) -> Inference:
        """Return an inference made in the coordinates, mapped back to the features."""
        return lift_candidates(found, self._span, self._target, self._dtype)


def lift_candidates(found: Inference, span: GramSpan, target: Domain, dtype: Any) -> Inference:
    """Return an inference in the coordinates of a span with each W lifted to the features when accessed."""
    identity = sparse.eye_array(target.n_features, dtype=dtype, format="csr")

    def lifted(each: Candidate) -> Candidate:
        if each.factor is None:
            return each
        if each.name == "identity":
            return replace(each, factor=identity)
        return replace(each, factor=lambda: span.lift(each.W).astype(dtype))

    candidates = Candidates([lifted(each) for each in found.candidates.values()])
    shared = found.shared
    if shared is not None:
        mean, coef = span.lift(shared.linear.mean[:, None])[:, 0], span.lift(shared.linear.coef)
        shared = replace(shared, linear=shared.linear._replace(mean=mean, coef=coef))
    return replace(found, candidates=candidates, shared=shared, feature_names=target.feature_names)
