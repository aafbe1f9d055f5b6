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

from l2t.domains import Domain
from l2t.domains.domain import is_wide
from l2t.inference.result import divide_features
from l2t.inference.wide import MAX_GRAM_ROWS, lift_candidates, unlabel_in_span
from l2t.numerics import GramSpan
from l2t.numerics.gram import Lifted
from l2t.prediction.model import Model
from l2t.prediction.training import column_scales
from l2t.typing import Array

if TYPE_CHECKING:
    from l2t.prediction.result import Prediction


def are_few_and_wide(domains: Sequence[Domain]) -> bool:
    """Return whether all domains are sparse and wide, and have few rows in all."""
    same = len({each.n_features for each in domains}) == 1
    plain = all(is_wide(each.rows) and each.prepared is None for each in domains)
    return same and plain and sum(map(len, domains)) <= MAX_GRAM_ROWS


def numbered(domains: Sequence[Domain]) -> list[Domain]:
    """Return the domains with a running row number, over all domains, as the only feature."""
    ends = np.cumsum([len(each) for each in domains])
    rows = (np.arange(end - len(each), end) for each, end in zip(domains, ends, strict=True))
    return [each.with_features(at[:, None]) for each, at in zip(domains, rows, strict=True)]


class Coordinates:
    """Few sparse domains, the target first, in the coordinates of their rows.

    Columns of very different scales are first divided by their standard deviation over the rows `used`.
    """

    def __init__(self, domains: Sequence[Domain], used: Array) -> None:
        self._target = domains[0]
        self.dtype = np.result_type(*(each.rows.dtype for each in domains))
        parts = [each.rows.astype(np.float64) for each in domains]
        columns = column_scales(sparse.vstack(parts, "csr")[used.astype(np.intp)])
        self._columns, self.are_scaled = columns, columns is not None
        self._scales = sparse.diags_array(np.ones(1) if columns is None else 1.0 / columns)
        if self.are_scaled:
            parts = [each @ self._scales for each in parts]
        self._span = GramSpan.of(parts)
        placed = zip(domains, self._span.coordinates, strict=True)
        self.domains = [each.with_features(Z) for each, Z in placed]

    def unlabel_rows(self, source: Domain, target: Domain) -> Domain:
        """Return one of the sources with all rows that are also rows of a target marked as unlabelled.

        The target may have further rows than those here.
        """
        return unlabel_in_span(
            source, target, self._span, self._scales if self.are_scaled else None
        )

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
        parts = tuple(
            (replace(each, W=Lifted(rows, back if each.W is None else back @ each.W)), head)
            for each, head in model.parts
        )
        X = self._target.rows.tocsc()
        often = np.flatnonzero(2 * np.diff(X.indptr) >= X.shape[0])  # the median of others is 0
        medians = np.zeros(X.shape[1])
        if len(often):
            medians[often] = np.median(X[:, often].toarray(), axis=0)
        means, names = X.mean(axis=0, dtype=np.float64), self._target.feature_names
        return replace(model, parts=parts, feature_names=names, means=means, medians=medians)
