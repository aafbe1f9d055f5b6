"""The joint span is lossless, and W maps back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from l2t.numerics import JointSpan

sizes = st.integers(2, 30)


@settings(max_examples=60)
@given(
    ns=sizes,
    nt=sizes,
    m=st.integers(1, 80),
    seed=st.integers(0, 2**16),
    offset=st.sampled_from([0.0, 10.0]),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_distances_are_kept_and_w_maps_back(ns, nt, m, seed, offset, dtype):
    rng = np.random.default_rng(seed)
    Xs = (rng.normal(size=(ns, m)) + offset).astype(dtype)
    Xt = (rng.normal(size=(nt, m)) * 2 - offset).astype(dtype)
    span = JointSpan.of(Xs, Xt)
    X = np.concatenate([Xs, Xt]).astype(np.float64)
    tol = 1e-10 if dtype == np.float64 else 1e-5
    original = cdist(X, X)
    np.testing.assert_allclose(cdist(span.joint, span.joint), original, atol=tol * original.max())
    assert span.rank <= min(ns + nt - 1, m)
    V = rng.normal(size=(span.rank, 3))
    W = span.lift(V)
    assert W.shape == (m, 3)
    assert W.dtype == dtype
    assert span.lift(V, np.float64).dtype == np.float64
    np.testing.assert_allclose(span.lower(span.lift(V, np.float64)), V, atol=1e-12)
    A = rng.normal(size=(m, 2))
    np.testing.assert_allclose(span.lower(A).T @ V, A.T @ span.lift(V, np.float64), atol=1e-11)
    scale = np.abs(span.joint @ V).max()
    np.testing.assert_allclose((X - span.mean) @ W, span.joint @ V, atol=10 * tol * scale)


@pytest.mark.parametrize("m", [12, 200])
def test_coordinates_are_principal_and_basis_is_orthonormal(rng, m):
    Xs, Xt = rng.normal(size=(30, m)), rng.normal(size=(25, m)) + 1
    span = JointSpan.of(Xs, Xt)
    gram = span.joint.T @ span.joint
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-9)
    assert (np.diff(np.diag(gram)) <= 1e-9).all()
    basis = span.lift(np.eye(span.rank))
    np.testing.assert_allclose(basis.T @ basis, np.eye(span.rank), atol=1e-12)
    np.testing.assert_allclose(span.joint.mean(axis=0), 0, atol=1e-12)


def test_relative_distances_of_close_rows_keep_ten_digits(rng):
    """A Gram matrix would lose these: its entries are the squares."""
    Xs = rng.normal(size=(20, 300))
    Xt = Xs + 1e-5 * rng.normal(size=Xs.shape)
    span = JointSpan.of(Xs, Xt)
    near = np.linalg.norm(Xs - Xt, axis=1)
    np.testing.assert_allclose(np.linalg.norm(span.source - span.target, axis=1), near, rtol=1e-10)


@pytest.mark.parametrize(("n", "m"), [(20, 6), (10, 50)])
def test_rank_is_found_through_duplicates_and_constants(rng, n, m):
    low = rng.normal(size=(n, 3)) @ rng.normal(size=(3, m))
    assert JointSpan.of(low, low[:5]).rank == 3
    assert JointSpan.of(np.ones((4, m)), np.ones((3, m))).rank == 0
    shifted = JointSpan.of(np.zeros((4, m)), np.ones((3, m)))
    assert shifted.rank == 1


@pytest.mark.parametrize(("nt", "m"), [(40, 7), (12, 60)])
def test_linear_map_is_the_pseudo_inverse(rng, nt, m):
    Xs, Xt = rng.normal(size=(9, m)), rng.normal(size=(nt, m))
    Zt = np.tanh(Xt @ rng.normal(size=(m, 4)))
    span = JointSpan.of(Xs, Xt)
    V, residual = span.linear_map(Zt)
    W = span.lift(V)
    centred_x, centred_z = Xt - Xt.mean(axis=0), Zt - Zt.mean(axis=0)
    expected = np.linalg.pinv(centred_x, rcond=1e-10) @ centred_z
    np.testing.assert_allclose(W, expected, atol=1e-9)
    missed = np.linalg.norm(centred_x @ W - centred_z) / np.linalg.norm(centred_z)
    assert residual == pytest.approx(missed, abs=1e-12)
    assert (residual < 1e-10) == (nt <= m), "with fewer rows than features the map interpolates"


@pytest.mark.parametrize("smallest", [1e-3, 1e-6, 1e-9, 1e-11])
@pytest.mark.parametrize("shape", [(200, 30), (40, 150)])
def test_a_weak_direction_counts_once(rng, shape, smallest):
    """The square of a small singular value drowns among the rounding of the large ones."""
    n, m = shape
    X = (rng.normal(size=(n, 6)) * [1, 1, 1, 1, 1, smallest]) @ rng.normal(size=(6, m))
    span = JointSpan.of(X[: n // 2], X[n // 2 :])
    assert span.rank == 6
    gram = span.joint.T @ span.joint
    norms = np.sqrt(np.diag(gram))
    np.testing.assert_allclose(gram / np.outer(norms, norms), np.eye(6), atol=1e-3)


def test_many_float32_rows_lose_no_rare_feature(rng):
    X = (rng.normal(size=(20000, 8)) * 50 + 128).astype(np.float32)
    X[:, 3] = 0
    X[7, 3] = 1
    assert JointSpan.of(X[:10000], X[10000:]).rank == 8


def test_a_target_of_equal_rows_gives_no_map(rng):
    Xs, Xt = rng.normal(size=(30, 10)), np.tile(rng.normal(size=(1, 10)), (25, 1))
    V, _ = JointSpan.of(Xs, Xt).linear_map(rng.normal(size=(25, 3)))
    assert not V.any()
