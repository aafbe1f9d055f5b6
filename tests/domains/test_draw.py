"""Draws of rows by their content."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from l2t import Domain
from l2t.domains.draw import (
    LANDMARKS,
    content_order,
    in_content_order,
    of_each_class,
    representative,
    row_hashes,
)


def shuffled(domain, seed=1):
    return domain.take(np.random.default_rng(seed).permutation(len(domain)))


@pytest.fixture
def domain(rng):
    X = np.concatenate([rng.normal(size=(40, 3)), rng.integers(0, 2, size=(60, 3))])
    return Domain(X, rng.integers(0, 3, 100), groups=rng.integers(0, 20, 100))


def test_the_order_of_a_file_does_not_matter(domain):
    ordered, again = (in_content_order(each) for each in (domain, shuffled(domain)))
    for attribute in ("X", "y", "groups"):
        np.testing.assert_array_equal(getattr(ordered, attribute), getattr(again, attribute))
    np.testing.assert_array_equal(in_content_order(ordered).X, ordered.X)
    distinct = in_content_order(domain.take(np.arange(40)))
    assert in_content_order(distinct) is distinct
    assert not np.array_equal(ordered.X, domain.X)
    assert not np.array_equal(in_content_order(domain, 1).X, ordered.X)


def test_labels_do_not_decide_which_features_come_first(domain, rng):
    other = Domain(domain.X, rng.permutation(domain.y), groups=domain.groups)
    ordered, again = in_content_order(domain), in_content_order(other)
    np.testing.assert_array_equal(ordered.X, again.X)


def test_hidden_labels_decide_nothing(rng):
    X, labeled = np.repeat(rng.normal(size=(10, 2)), 4, axis=0), np.arange(40) % 4 == 0
    y = np.where(labeled, "a", "b")
    order = content_order(Domain(X, y, labeled=labeled))
    y[~labeled] = rng.permutation(list("wxyz") * 8)[: (~labeled).sum()]
    np.testing.assert_array_equal(order, content_order(Domain(X, y, labeled=labeled)))


def test_equal_rows_are_spread_over_the_order():
    """A draw of half of two rows that occur many times has about half of the copies of each."""
    X = np.repeat([[0.0], [1.0]], 500, axis=0)
    first = X[content_order(Domain(X))[:500], 0]
    assert 180 < first.sum() < 320


def test_hashes_are_those_of_values():
    X = np.arange(4096.0).reshape(-1, 1) % 64
    X = np.hstack([X, np.arange(4096.0).reshape(-1, 1) // 64])
    hashes = row_hashes(X)
    assert len(np.unique(hashes)) == 4096
    np.testing.assert_array_equal(hashes, row_hashes(X.astype(np.float32)))
    np.testing.assert_array_equal(hashes, row_hashes(sparse.csr_array(X)))
    # Each bit is set in about half of the hashes.
    bits = (hashes[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert abs(bits.mean(axis=0) - 0.5).max() < 0.05


def test_a_sample_has_the_same_rows_in_any_order(domain):
    drawn = {tuple(row) for row in domain.sample(30).X.tolist()}
    assert drawn == {tuple(row) for row in shuffled(domain).sample(30).X.tolist()}
    assert domain.sample(100) is domain
    assert not np.array_equal(domain.sample(30, 1).X, domain.sample(30, 2).X)


def test_small_classes_are_kept_whole():
    codes = np.repeat([0, 1, 2, -1], [500, 5, 40, 100])
    rows = of_each_class(codes, 0, most=100)
    assert np.bincount(codes[rows]).tolist() == [55, 5, 40]
    assert of_each_class(np.full(9, -1), 0).size == 0


def test_a_large_source_keeps_labelled_rows_of_each_class():
    n = LANDMARKS + 500
    codes = np.where(np.arange(n) < 10, 1, 0)
    labeled = np.arange(n) % 100 < 99
    source = Domain(np.arange(n, dtype=float)[:, None], codes, labeled=labeled)
    small, again = representative(source, 0), representative(shuffled(source), 0)
    assert len(small) == LANDMARKS
    assert small.labeled.all()
    assert (small.codes == 1).sum() == 10
    assert len(representative(Domain(source.X), 0)) == LANDMARKS
    np.testing.assert_array_equal(small.X, again.X)
