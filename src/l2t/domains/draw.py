"""Draws of rows that depend on what rows contain and on a seed, not on their position in a file.

Each row has a hash, the sum over its values of a mixed 64-bit pattern times a random odd number per column
(multilinear hashing). Rows in the order of their hash are in a random order that sorting or shuffling a file
does not change, so that every later draw by position is a draw by content.

A domain with very many rows is represented by *landmarks*, the first rows in this order: methods that need
all rows at once are fitted to them, and then applied to all rows in blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse

from l2t.typing import AnyArray, Indices, Matrix

if TYPE_CHECKING:
    from l2t.domains.domain import Domain

Hashes = npt.NDArray[np.uint64]

#: A domain with more rows than this is represented by this number of rows (docs/results/benchmarks.md).
LANDMARKS = 20_000
#: Values that are hashed at a time.
BLOCK = 2**20
#: Odd multipliers of splitmix64, the generator that seeds others (Steele, Lea and Flood 2014).
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)


def in_content_order(domain: Domain, random_state: int = 0) -> Domain:
    """Return the domain with its rows in the order of `content_order`.

    Parameters
    ----------
    domain : Domain
        The domain.
    random_state : int, default=0
        The seed.

    Returns
    -------
    Domain
        The same rows; the domain itself if they are in this order already.
    """
    order = content_order(domain, random_state)
    return domain if (np.diff(order) > 0).all() else domain.take(order)


def content_order(domain: Domain, random_state: int | None = 0) -> Indices:
    """Return the rows of a domain in a random order that depends on their content and a seed alone.

    Equal rows are ordered by their known labels and their groups, which has no effect on the features at
    each position: these do not depend on any label.

    Parameters
    ----------
    domain : Domain
        The domain.
    random_state : int or None, default=0
        The seed; None for a different order each time.

    Returns
    -------
    int array of shape (n,)
        The indices of the rows.

    Examples
    --------
    >>> from l2t import Domain
    >>> domain = Domain(np.random.default_rng(0).normal(size=(9, 2)))
    >>> reversed = domain.take(np.arange(9)[::-1])
    >>> np.array_equal(domain.X[content_order(domain)], reversed.X[content_order(reversed)])
    True
    """
    hashes = row_hashes(domain.rows, random_state)
    labeled = domain.labeled
    codes = np.where(labeled, domain.codes, -1) if labeled is not None else domain.codes
    groups = np.zeros(len(codes)) if domain.group_codes is None else domain.group_codes
    together = np.lexsort((groups, codes, hashes))
    # The copies of a row get hashes of their own, so that a draw does not take all of them or none.
    rank = rank_in_class(hashes[together]).astype(np.uint64)
    return together[np.argsort(_mixed(hashes[together] + rank * _STEP), kind="stable")]


def row_hashes(X: Matrix, random_state: int | None = 0) -> Hashes:
    """Return a hash of each row of an array or a csr matrix; equal rows have equal hashes.

    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0]])
    >>> hashes = row_hashes(X)
    >>> bool(hashes[0] == hashes[2]), bool(hashes[0] == hashes[1])
    (True, False)
    >>> np.array_equal(hashes, row_hashes(sparse.csr_array(X)))
    True
    """
    n, m = X.shape
    columns = np.random.default_rng(random_state).integers(0, 2**64, size=m, dtype=np.uint64) | 1
    hashes = np.zeros(n, dtype=np.uint64)
    if sparse.issparse(X):
        values = _mixed(_bits(X.data)) * columns[X.indices]
        filled = np.flatnonzero(np.diff(X.indptr))
        hashes[filled] = np.add.reduceat(values, X.indptr[filled]) if len(filled) else 0
        return hashes
    step = 1 + BLOCK // m
    for start in range(0, n, step):
        values = _mixed(_bits(X[start : start + step]))
        hashes[start : start + step] = (values * columns).sum(axis=1, dtype=np.uint64)
    return hashes


def _bits(values: AnyArray) -> Hashes:
    """Return the bits of numbers as float64; those of 0 and -0 are 0."""
    return (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def _mixed(bits: Hashes) -> Hashes:
    """Return 64-bit patterns with all bits mixed: those of small whole numbers end in zeros; 0 stays 0."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX
    return bits ^ (bits >> np.uint64(31))


def of_each_class(codes: Indices, random_state: int, most: int = LANDMARKS) -> Indices:
    """Return the sorted indices of at most `most` random rows, the same number per class where it has them.

    >>> of_each_class(np.array([0, 0, 0, 0, 0, 1, -1]), 0, most=3).tolist()[-1]
    5
    """
    labelled = np.random.default_rng(random_state).permutation(np.flatnonzero(codes >= 0))
    labelled = labelled[np.argsort(codes[labelled], kind="stable")]
    return np.sort(labelled[np.argsort(rank_in_class(codes[labelled]), kind="stable")[:most]])


def rank_in_class(codes: AnyArray) -> Indices:
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


def target_rows(
    target: Domain, random_state: int, n_drawn: int = LANDMARKS, n_labeled: int = LANDMARKS
) -> Indices:
    """Return the rows that represent a target, in the order of their content.

    Parameters
    ----------
    target : Domain
        The target.
    random_state : int
        The seed.
    n_drawn : int, default=20,000
        The maximum number of rows that are drawn without regard to labels. They come first.
    n_labeled : int, default=20,000
        The maximum number of labelled rows, the same number per class where it has them. Those that were not
        drawn come last.

    Returns
    -------
    int array of shape (n,)
        The indices of the rows.
    """
    order = content_order(target, random_state)
    codes = np.where(target.labeled_rows(default=False), target.codes, -1)[order]
    drawn = np.arange(min(n_drawn, len(target)))
    return order[np.union1d(drawn, of_each_class(codes, random_state, n_labeled))]


def representative(source: Domain, random_state: int, most: int = LANDMARKS) -> Domain:
    """Return a source in the order of its content; if it has very many rows, landmarks of each class."""
    source = in_content_order(source, random_state)
    if len(source) <= most:
        return source
    codes = np.where(source.labeled_rows(default=True), source.codes, -1)
    rows = of_each_class(codes, random_state, most)
    return source.take(rows if len(rows) else np.arange(most))
