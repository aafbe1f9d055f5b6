"""Landmarks: the rows that represent a domain of very many.

Whatever needs many rows at once sees the landmarks; what it finds is applied to all rows in blocks.
"""

from __future__ import annotations

import numpy as np

from l2t.domains.domain import Domain
from l2t.typing import Indices

#: A domain of more rows is represented by so many.
LANDMARKS = 20_000


def landmark_rows(n_rows: int, random_state: int) -> Indices:
    """Return the places of random rows, rising, as `Domain.sample` draws them."""
    return np.sort(np.random.default_rng(random_state).permutation(n_rows)[:LANDMARKS])


def of_each_class(codes: Indices, random_state: int, most: int = LANDMARKS) -> Indices:
    """Return the places of random rows, as many of each class as far as it has them, rising.

    >>> of_each_class(np.array([0, 0, 0, 0, 0, 1, -1]), 0, most=3).tolist()[-1]
    5
    """
    labelled = np.random.default_rng(random_state).permutation(np.flatnonzero(codes >= 0))
    labelled = labelled[np.argsort(codes[labelled], kind="stable")]
    sizes = np.bincount(codes[labelled]) if len(labelled) else np.zeros(1, dtype=np.intp)
    rank = np.arange(len(labelled)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(labelled[np.argsort(rank, kind="stable")[:most]])


def representative(source: Domain, random_state: int) -> Domain:
    """Return a source, or some labelled rows of each class of one that has very many rows."""
    if len(source) <= LANDMARKS:
        return source
    codes = np.where(source.labeled_rows(default=True), source.codes, -1)
    rows = of_each_class(codes, random_state)
    return source.take(rows) if len(rows) else source.sample(LANDMARKS, random_state)
