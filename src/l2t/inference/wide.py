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
from l2t.domains.domain import is_wide as is_sparse_and_wide
from l2t.domains.draw import LANDMARKS
from l2t.domains.known import unlabel_rows
from l2t.inference.candidates import Wanted, candidate_algorithms
from l2t.inference.result import Candidate, Candidates, Inference
from l2t.numerics import GramSpan, few_threads
from l2t.numerics.gram import Lifted

#: Maximum number of rows for which very many features are replaced by coordinates from the Gram matrix, and
#: that very many features are fitted to: memory and time grow with their square and cube.
MAX_GRAM_ROWS = 2000
#: Rows of a target whose coordinates are computed at a time.
BLOCK = 2000
#: A smaller squared distance from the span, relative to the squared norm of a row, is one of rounding.
ROUNDING = 1e-9


def landmark_counts(target: Domain, sources: Sequence[Domain]) -> list[int]:
    """Return at most how many random target rows, labelled ones and rows of each source are fitted to.

    Sparse matrices of very many features have `MAX_GRAM_ROWS` in all, divided equally, but what one of them
    leaves over goes to the others.
    """
    n_labeled = int(target.labeled_rows(default=False).sum())
    sizes = np.array([len(target), n_labeled, *map(len, sources)])
    few = sizes.sum() - n_labeled <= MAX_GRAM_ROWS
    if few or not any(is_sparse_and_wide(domain.rows) for domain in (target, *sources)):
        return [LANDMARKS] * len(sizes)
    left, counts = MAX_GRAM_ROWS, np.zeros_like(sizes)
    for place, number in enumerate(np.argsort(sizes, kind="stable")):
        counts[number] = min(sizes[number], left // (len(sizes) - place))
        left -= counts[number]
    return [int(count) for count in counts]


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

    def unlabel_rows(self, source: Domain, target: Domain) -> Domain:
        """Return one of the sources with all rows that are also rows of a target marked as unlabelled."""
        return unlabel_in_span(source, target, self._span)

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
        squares = np.asarray(rows.multiply(rows).sum(axis=1))
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
        if each.name == "identity":
            return replace(each, factor=identity)
        return replace(each, factor=lambda: span.lift(each.W).astype(dtype))

    candidates = Candidates([lifted(each) for each in found.candidates.values()])
    shared = found.shared
    if shared is not None:
        mean, coef = span.lift(shared.linear.mean[:, None])[:, 0], span.lift(shared.linear.coef)
        shared = replace(shared, linear=shared.linear._replace(mean=mean, coef=coef))
    return replace(found, candidates=candidates, shared=shared, feature_names=target.feature_names)
