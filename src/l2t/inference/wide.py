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

from l2t.algorithms import NO_TRANSFER, Traits
from l2t.domains import Domain
from l2t.domains.domain import DENSE_FEATURES
from l2t.domains.known import unlabel_rows
from l2t.inference.candidates import Wanted, candidate_algorithms
from l2t.inference.result import Candidate, Candidates, Inference
from l2t.numerics import GramSpan, few_threads
from l2t.numerics.gram import Lifted
from l2t.task import MAX_WIDE_ROWS, Task

#: Rows of a target whose coordinates are computed at a time.
BLOCK = 2000
#: A smaller squared distance from the span, relative to the squared norm of a row, is one of rounding.
ROUNDING = 1e-9


def is_wide(domains: Sequence[Domain], candidates: Wanted | None) -> bool:
    """Return whether there are few rows of very many features, and no candidate needs the features."""
    few = sum(map(len, domains)) <= MAX_WIDE_ROWS
    if not few or max(domain.n_features for domain in domains) <= DENSE_FEATURES:
        return False
    if isinstance(candidates, Mapping) or any(domain.prepared is not None for domain in domains):
        return False
    algorithms = candidate_algorithms(candidates, 0).values()
    return not any(Traits.of(algorithm).needs_features for algorithm in algorithms)


class Coordinates:
    """Few domains of very many features, the target first, in the coordinates of their rows."""

    def __init__(self, domains: Sequence[Domain]) -> None:
        self._target = domains[0]
        self._dtype = np.result_type(*(each.rows.dtype for each in domains))
        with few_threads(sum(map(len, domains)) ** 2):
            self._span = GramSpan.of([each.rows for each in domains])
        placed = zip(domains, self._span.coordinates, strict=True)
        self.domains = [each.with_features(Z) for each, Z in placed]

    def place(self, task: Task) -> Task:
        """Return the task in the coordinates; if rows were drawn, no other target row is a known row."""
        target, *sources = self.domains
        if task.is_sampled:
            sources = [unlabel_in_span(source, task.given, self._span) for source in sources]
        return replace(task.with_domains([target, *sources]), given=target)

    def lift(self, found: Inference) -> Inference:
        """Return an inference made in the coordinates, mapped back to the features."""
        return lift_candidates(found, self._span, self._target, self._dtype)


def unlabel_in_span(source: Domain, target: Domain, span: GramSpan, scales: Any = None) -> Domain:
    """Return a source, in the coordinates of a span, with all rows of the target marked as unlabelled.

    Rows of the target, which may be outside the span, are compared by their coordinates and their distance
    from the span, which is 0 for the rows of the source. `scales` multiplies them from the right, if given.
    """
    compared = source.with_features(np.pad(source.X, ((0, 0), (0, 1))))
    for start in range(0, len(target), BLOCK):
        rows = target.rows[start : start + BLOCK].astype(np.float64)
        rows = rows if scales is None else rows @ scales
        Z = rows @ Lifted(span.rows, span.back)
        squares = sparse.csr_array(rows).power(2).sum(axis=1)
        outside = squares - np.sum(Z**2, axis=1)
        outside = np.where(outside > ROUNDING * squares, outside, 0.0)
        compared = unlabel_rows(compared, Domain(np.column_stack([Z, np.sqrt(outside)])))
    return replace(source, labeled=compared.labeled)


def lift_candidates(found: Inference, span: GramSpan, target: Domain, dtype: Any) -> Inference:
    """Return an inference in the coordinates of a span with each W lifted to the features when accessed."""
    identity = sparse.eye_array(target.n_features, dtype=dtype, format="csr")

    def lifted(each: Candidate) -> Candidate:
        if each.factor is None:
            return each
        if each.name == NO_TRANSFER:
            return replace(each, factor=identity)
        return replace(each, factor=lambda: span.lift(each.W).astype(dtype))

    candidates = Candidates([lifted(each) for each in found.candidates.values()])
    shared = found.shared
    if shared is not None:
        mean, coef = span.lift(shared.linear.mean[:, None])[:, 0], span.lift(shared.linear.coef)
        linear = shared.linear._replace(mean=mean, coef=coef)
        shared = replace(shared, linear=linear, feature_names=target.feature_names)
    return replace(found, candidates=candidates, shared=shared, feature_names=target.feature_names)
