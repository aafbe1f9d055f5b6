"""The coordinates in which a task is solved, and the way back to the features.

Nothing is chosen or trained on the features as they are if

* their scales differ widely: each column is divided by a number (`columns`), or
* there are few rows of very many features: rows have the coordinates that their Gram matrix gives (`span`),
  with the same distances and angles, so that sparse features are never made dense.

Each W and each feature map that is found in the coordinates is mapped back to the features by `lift` and
`lift_map`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from l2t.algorithms import NO_TRANSFER, Traits
from l2t.classifiers.feature_map import FeatureMap
from l2t.domains import Domain, KnownClasses
from l2t.domains.domain import DENSE_FEATURES, is_wide
from l2t.domains.known import unlabel_rows
from l2t.inference.candidates import Wanted, candidate_algorithms
from l2t.inference.result import Candidate, Candidates, Inference
from l2t.numerics import GramSpan, few_threads
from l2t.numerics.gram import Lifted
from l2t.task import MAX_WIDE_ROWS, Task
from l2t.typing import Array, Matrix

#: Rows of a target whose coordinates are computed at a time.
BLOCK = 2000
#: A smaller squared distance from the span, relative to the squared norm of a row, is one of rounding.
ROUNDING = 1e-9


def are_few_and_wide(domains: Sequence[Domain]) -> bool:
    """Return whether domains have few rows of very many features, none of them prepared."""
    few_rows = sum(map(len, domains)) <= MAX_WIDE_ROWS
    wide = {domain.n_features for domain in domains}
    prepared = any(domain.prepared is not None for domain in domains)
    return few_rows and len(wide) == 1 and wide.pop() > DENSE_FEATURES and not prepared


def are_few_and_sparse(domains: Sequence[Domain]) -> bool:
    """Return whether domains have few rows of very many features, and all are sparse."""
    return all(is_wide(domain.rows) for domain in domains) and are_few_and_wide(domains)


def need_features(candidates: Wanted | None) -> bool:
    """Return whether a candidate needs the features themselves, instead of distances and angles."""
    if isinstance(candidates, Mapping):
        return True
    algorithms = candidate_algorithms(candidates, 0).values()
    return any(Traits.of(algorithm).needs_features for algorithm in algorithms)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """A task in its coordinates.

    Attributes
    ----------
    asked : Task
        The task in its features.
    task : Task
        The same task in the coordinates.
    columns : array of shape (n_features,) or None
        What each column is divided by.
    span : GramSpan or None
        The span of the rows, the target's first, after columns were divided.
    """

    asked: Task
    task: Task
    columns: Array | None = None
    span: GramSpan | None = None

    @classmethod
    def of(cls, task: Task, columns: Array | None = None, *, in_span: bool = False) -> Coordinates:
        """Return the coordinates of a task.

        Parameters
        ----------
        task : Task
            The task in its features.
        columns : array of shape (n_features,) or None, default=None
            What each column is divided by.
        in_span : bool, default=False
            Whether rows are replaced by their coordinates in the span of all rows.

        Returns
        -------
        Coordinates
        """
        if not in_span:
            divided = task if columns is None else task.divided_by(columns)
            return cls(task, divided, columns)
        with few_threads(sum(map(len, task.domains)) ** 2):
            span = GramSpan.of([_divided(domain.rows, columns) for domain in task.domains])
        placed = zip(task.domains, span.coordinates, strict=True)
        target, *sources = (domain.with_features(Z) for domain, Z in placed)
        inside = replace(task.with_domains([target, *sources]), whole_target=target)
        return cls(task, inside, columns, span)

    def only(self, places: Sequence[int]) -> Coordinates:
        """Return the same coordinates of a task with some of the sources."""
        return replace(self, asked=self.asked.only(places), task=self.task.only(places))

    def known_classes(self, further: Sequence[KnownClasses] = ()) -> KnownClasses:
        """Return the classes of the sources and further ones in the coordinates, without target rows.

        Rows of the target are recognised among all its rows, as they were given. In a span there are no
        further classes.
        """
        if self.span is None:
            classes = self.asked.known_classes(further)
            return classes if self.columns is None else classes.divided_by(self.columns)
        task = self.task
        if self.asked.is_sampled:
            sources = [
                unlabel_in_span(source, self.asked.whole_target, self.span, self.columns)
                for source in task.sources
            ]
            task = task.with_domains([task.target, *sources])
        return task.known_classes()

    def lift(self, inference: Inference) -> Inference:
        """Return an inference in the coordinates as one on the features; each W is mapped when accessed."""
        if self.span is None and self.columns is None:
            return inference
        target = self.asked.target
        candidates = Candidates(map(self._lifted, inference.candidates.values()))
        shared = inference.shared
        if shared is not None and self.span is not None:
            mean, coef = (
                self.span.lift(part) for part in (shared.linear.mean[:, None], shared.linear.coef)
            )
            linear = shared.linear._replace(mean=mean[:, 0], coef=coef)
            shared = replace(shared, linear=linear, feature_names=target.feature_names)
        return replace(
            inference, candidates=candidates, shared=shared, feature_names=target.feature_names
        )

    def lift_map(self, first: FeatureMap) -> FeatureMap:
        """Return the first map of a chain, which takes coordinates, as one that takes the features."""
        inner = first.columns  # what the columns of coordinates are divided by
        if self.span is None:
            if self.columns is None:
                return first
            return replace(first, columns=self.columns if inner is None else self.columns * inner)
        rows = _divided(
            self.span.rows, self.columns
        )  # a second time, for rows that are not divided
        factor = self.span.back if inner is None else self.span.back / inner
        factor = factor if first.W is None else factor @ first.W
        return replace(first, W=Lifted(rows, factor), columns=None)

    def _lifted(self, candidate: Candidate) -> Candidate:
        span, columns = self.span, self.columns
        if candidate.factor is None:
            return candidate
        domains = self.asked.domains
        dtype = np.result_type(*(domain.rows.dtype for domain in domains))
        if candidate.name == NO_TRANSFER:
            if span is None:
                return candidate
            identity = sparse.eye_array(domains[0].n_features, dtype=dtype, format="csr")
            return replace(candidate, factor=identity)

        def factor() -> Matrix:
            W = candidate.W if span is None else span.lift(candidate.W).astype(dtype)
            return W if columns is None else W / columns[:, None]

        return replace(candidate, factor=factor)


def unlabel_in_span(
    source: Domain, target: Domain, span: GramSpan, columns: Array | None = None
) -> Domain:
    """Return a source, in the coordinates of a span, with all rows of the target marked as unlabelled.

    Rows of the target, which may be outside the span, are compared by their coordinates and their distance
    from the span, which is 0 for the rows of the source. Their columns are divided first, if `columns` are
    given.
    """
    compared = source.with_features(np.pad(source.X, ((0, 0), (0, 1))))
    for start in range(0, len(target), BLOCK):
        rows = _divided(target.rows[start : start + BLOCK], columns)
        Z = rows @ Lifted(span.rows, span.back)
        squares = sparse.csr_array(rows).power(2).sum(axis=1)
        outside = squares - np.sum(Z**2, axis=1)
        outside = np.where(outside > ROUNDING * squares, outside, 0.0)
        compared = unlabel_rows(compared, Domain(np.column_stack([Z, np.sqrt(outside)])))
    return replace(source, labeled=compared.labeled)


def _divided(rows: Matrix, columns: Array | None) -> Matrix:
    """Return rows in double precision, with columns divided."""
    rows = rows.astype(np.float64)
    if columns is None:
        return rows
    return rows @ sparse.diags_array(1.0 / columns) if sparse.issparse(rows) else rows / columns
