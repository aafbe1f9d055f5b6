"""Pairs of rows in blocks, each pair once: K and D are symmetric, and n x n numbers are many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

__all__ = ["PAIRS", "upper_blocks"]

#: Pairs of rows a block: small enough for the cache, and enough work for each call of numpy.
PAIRS = 16384


def upper_blocks(n: int, others: int = 0) -> Iterator[tuple[slice, slice, npt.NDArray[np.bool_]]]:
    """Yield rows and columns of blocks, and which places of a block stand above the diagonal.

    Together they hold each pair of n rows once, and all pairs of a row with one of `others` more
    columns.

    >>> [upper.tolist() for _, _, upper in upper_blocks(2, 1)]
    [[[False, True, True], [False, False, True]]]
    """
    start, width = 0, n + others
    while start < n:
        stop = min(n, start + max(1, PAIRS // (width - start)))
        upper = np.arange(stop - start)[:, None] < np.arange(width - start)
        yield slice(start, stop), slice(start, width), upper
        start = stop
