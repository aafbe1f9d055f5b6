"""Landmarks: a random subset of rows that represents a domain with very many rows.

Methods that need all rows at once are fitted to the landmarks, and then applied to all rows in blocks.
"""

from __future__ import annotations

import numpy as np

from l2t.domains.domain import Domain
from l2t.typing import Indices

#: A domain with more rows than this is represented by this number of rows.
LANDMARKS = 20_000


def landmark_rows(n_rows: int, random_state: int) -> Indices:
    """Return the indices of random rows, sorted, as `Domain.sample` draws them."""
    return np.sort(np.random.default_rng(random_state).permutation(n_rows)[:LANDMARKS])


def of_each_class(codes: Indices, random_state: int, most: int = LANDMARKS) -> Indices:
    """Return the sorted indices of at most `most` random rows, the same number per class where it has them.

    >>> of_each_class(np.array([0, 0, 0, 0, 0, 1, -1]), 0, most=3).tolist()[-1]
    5
    """
    labelled = np.random.default_rng(random_state).permutation(np.flatnonzero(codes >= 0))
    labelled = labelled[np.argsort(codes[labelled], kind="stable")]
    return np.sort(labelled[np.argsort(rank_in_class(codes[labelled]), kind="stable")[:most]])


def rank_in_class(codes: Indices) -> Indices:
    """Return the number of earlier rows of the same class, for each row.

    >>> rank_in_class(np.array([1, 0, 1, 1])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(codes, kind="stable")
    _, first = np.unique(codes[order], return_index=True)
    sizes = np.diff(np.append(first, len(codes)))
    rank = np.empty(len(codes), dtype=np.intp)
    rank[order] = np.arange(len(codes)) - np.repeat(first, sizes)
    return rank


def representative(source: Domain, random_state: int) -> Domain:
    """Return the source, or landmarks of each class if it has very many rows."""
    if len(source) <= LANDMARKS:
        return source
    codes = np.where(source.labeled_rows(default=True), source.codes, -1)
    rows = of_each_class(codes, random_state)
    return source.take(rows) if len(rows) else source.sample(LANDMARKS, random_state)
