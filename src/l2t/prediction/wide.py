"""Predictions for few rows of very many sparse features, which are never made dense.

A prediction depends only on distances and angles between rows, and these are the same in the coordinates of
the rows from their Gram matrix (`GramSpan`): the prediction is made there, and its model is mapped back to
the features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from l2t.classifiers.feature_map import FeatureMap, change_first
from l2t.domains import Domain
from l2t.domains.domain import is_wide
from l2t.inference.result import divide_features
from l2t.inference.wide import lift_candidates, unlabel_in_span
from l2t.numerics import GramSpan
from l2t.numerics.gram import Lifted
from l2t.prediction.model import Model
from l2t.prediction.training import TrainOn, column_scales, training_rows
from l2t.task import MAX_WIDE_ROWS, Task

if TYPE_CHECKING:
    from l2t.prediction.result import Prediction


def are_few_and_wide(domains: Sequence[Domain]) -> bool:
    """Return whether all domains are sparse and wide, and have few rows in all."""
    same = len({domain.n_features for domain in domains}) == 1
    plain = all(is_wide(domain.rows) and domain.prepared is None for domain in domains)
    return same and plain and sum(map(len, domains)) <= MAX_WIDE_ROWS


def _numbered(task: Task) -> Task:
    """Return the task with a running row number, over all domains, as the only feature."""
    ends = np.cumsum([len(domain) for domain in task.domains])
    return task.with_domains(
        [
            domain.with_features(np.arange(end - len(domain), end)[:, None])
            for domain, end in zip(task.domains, ends, strict=True)
        ]
    )


class Coordinates:
    """Few sparse domains, the target first, in the coordinates of their rows.

    Columns of very different scales are first divided by their standard deviation over the rows to train on.
    """

    def __init__(self, task: Task, train_on: TrainOn) -> None:
        used = training_rows(_numbered(task), train_on).X[:, 0]
        domains = task.domains
        self._target = domains[0]
        self.dtype = np.result_type(*(each.rows.dtype for each in domains))
        parts = [each.rows.astype(np.float64) for each in domains]
        scaled = [sparse.vstack(parts, "csr")[used.astype(np.intp)]]
        columns = column_scales(*scaled, *([] if task.shared else parts[1:]))
        self._columns, self.are_scaled = columns, columns is not None
        self._scales = sparse.diags_array(np.ones(1) if columns is None else 1.0 / columns)
        if self.are_scaled:
            parts = [each @ self._scales for each in parts]
        self._span = GramSpan.of(parts)
        placed = zip(domains, self._span.coordinates, strict=True)
        self.domains = [each.with_features(Z) for each, Z in placed]

    def place(self, task: Task) -> Task:
        """Return the task in the coordinates; if rows were drawn, no other target row is a known row."""
        target, *sources = self.domains
        if task.is_sampled and not task.shared:
            scales = self._scales if self.are_scaled else None
            sources = [
                unlabel_in_span(source, task.given, self._span, scales) for source in sources
            ]
        return replace(task.with_domains([target, *sources]), given=target)

    def lifted(self, found: Prediction) -> Prediction:
        """Return a prediction made in the coordinates, mapped back to the features."""
        target, inference = self._target, found.inference
        inference = lift_candidates(inference, self._span, target, self.dtype)
        if self._columns is not None:
            inference = divide_features(inference, self._columns)
        model = self._model(found.model)
        return replace(found, model=model, inference=inference, target=target)

    def _model(self, model: Model) -> Model:
        rows, back = self._span.rows, self._span.back
        rows = rows @ self._scales if self.are_scaled else rows  # for rows that are not divided yet

        def lifted(features: FeatureMap) -> FeatureMap:
            factor = back if features.W is None else back @ features.W
            return replace(features, W=Lifted(rows, factor))

        maps = change_first([features for features, _ in model.parts], lifted)
        parts = tuple(zip(maps, (head for _, head in model.parts), strict=True))
        X = self._target.rows.tocsc()
        often = np.flatnonzero(2 * np.diff(X.indptr) >= X.shape[0])  # the median of others is 0
        medians = np.zeros(X.shape[1])
        if len(often):
            medians[often] = np.median(X[:, often].toarray(), axis=0)
        means, names = X.mean(axis=0, dtype=np.float64), self._target.feature_names
        return replace(model, parts=parts, feature_names=names, means=means, medians=medians)
