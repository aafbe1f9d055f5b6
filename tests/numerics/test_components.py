"""Pictures are the two principal components, whatever has more: rows or columns."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.numerics import two_components


@pytest.mark.parametrize("shape", [(30, 5), (8, 50), (6, 6)])
def test_the_components_are_those_of_the_svd(shape, rng):
    A, B = rng.normal(size=(2, *shape))
    both = np.concatenate([A, B])
    both = both - both.mean(axis=0)
    axes = np.linalg.svd(both, full_matrices=False)[2][:2]
    flat = np.concatenate(two_components(A, B))
    assert np.abs(flat) == pytest.approx(np.abs(both @ axes.T), abs=1e-9)


def test_a_picture_is_turned_to_the_one_before(rng):
    X = rng.normal(size=(20, 4)) * [5, 3, 1, 1]
    before = np.concatenate(two_components(X))
    turn = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert np.concatenate(two_components(X, like=before @ turn)) == pytest.approx(before @ turn)


def test_one_column_and_one_row_have_a_picture():
    assert two_components(np.ones((3, 1)))[0].tolist() == [[0, 0]] * 3
    assert two_components(np.ones((1, 5)))[0].shape == (1, 2)
