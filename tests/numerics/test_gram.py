"""Coordinates by the Gram matrix: all products of rows, without a dense array of all features."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from l2t.numerics import GramSpan


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_all_products_of_rows_are_kept(rng, kind):
    A = np.where(rng.random((9, 400)) < 0.1, rng.normal(size=(9, 400)), 0.0)
    A[8] = A[0] + A[1]
    span = GramSpan.of([kind(A[:5]), kind(A[5:])])
    assert [each.shape for each in span.coordinates] == [(5, 8), (4, 8)]
    Z = np.concatenate(span.coordinates)
    np.testing.assert_allclose(Z @ Z.T, A @ A.T, atol=1e-12)
    V = rng.normal(size=(8, 3))
    np.testing.assert_allclose(A @ span.lift(V), Z @ V, atol=1e-10)
    basis = span.lift(np.eye(8))
    np.testing.assert_allclose(basis.T @ basis, np.eye(8), atol=1e-10)
