"""Scaling by name."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, normalize
from l2t.exceptions import InvalidInputError


def test_rows(rng):
    X = rng.normal(size=(6, 4)).astype(np.float32)
    X[2] = 0
    scaled = normalize(
        Domain(X, np.arange(6), labeled=np.ones(6, bool), groups=np.arange(6), name="n")
    )
    np.testing.assert_allclose(np.linalg.norm(scaled.X, axis=1), [1, 1, 0, 1, 1, 1], atol=1e-6)
    assert scaled.X.dtype == np.float32
    assert scaled.name == "n"
    assert scaled.labeled.all()
    np.testing.assert_array_equal(scaled.groups, np.arange(6))


def test_zscore(rng):
    X = rng.normal(size=(30, 3)) * [1, 10, 0] + [0, 5, 0.1]
    scaled = normalize(Domain(X), "zscore").X
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0, ddof=1), [1, 1, 0], atol=1e-12)


def test_none_and_nonsense():
    domain = Domain([[1.0, 2.0]])
    assert normalize(domain, "none") is domain
    with pytest.raises(InvalidInputError, match="how must be one of rows, zscore, none"):
        normalize(domain, "l2")
    with pytest.raises(InvalidInputError, match="'zscore' needs two rows or more, got 1"):
        normalize(domain, "zscore")


def test_zscores_are_recorded_and_can_be_undone(rng):
    X = rng.normal(size=(20, 4)) * [1, 5, 0.1, 2] + [0, 3, 40, -2]
    X[:, 3] = 7.0
    domain = Domain(X, np.arange(20) % 2)
    assert domain.prepared is None
    assert normalize(domain).prepared is None
    once = normalize(domain, "zscore")
    part = normalize(once.take(np.arange(12)), "zscore")
    for each, rows in ((once, X), (part, X[:12])):
        shift, scale = each.prepared
        np.testing.assert_allclose(each.X * scale + shift, rows, atol=1e-12)
    assert normalize(once).prepared is once.prepared
    assert once != Domain(once.X, once.y), "the record is part of the content"
    with pytest.raises(InvalidInputError, match="prepared must be a finite shift and a positive"):
        Domain(X, prepared=np.zeros((2, 4)))
