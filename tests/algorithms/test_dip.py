"""DIP: its gradient, its constraint and the invariance it finds."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair
from l2t.algorithms import DIP
from l2t.algorithms.dip import leading_variance, polynomial_mmd, rbf_mmd
from l2t.exceptions import InvalidInputError
from l2t.testing import gradient_error

KERNELS = {"rbf": rbf_mmd, "polynomial": polynomial_mmd}


def naive_mmd(Zs, Zt, kernel):
    blocks = [
        np.mean([[kernel(a, b) for b in B] for a in A]) for A, B in ((Zs, Zs), (Zt, Zt), (Zs, Zt))
    ]
    return blocks[0] + blocks[1] - 2 * blocks[2]


@pytest.mark.parametrize("kernel", KERNELS)
def test_value_and_gradient(rng, kernel):
    Xs, Xt = rng.normal(size=(12, 5)), rng.normal(size=(9, 5)) + 0.7
    W = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    objective = KERNELS[kernel](Xs, Xt)
    sigma = np.mean([[np.sum((a - b) ** 2) for b in Xs] for a in Xs])
    function = {
        "rbf": lambda a, b: np.exp(-np.sum((a - b) ** 2) / sigma),
        "polynomial": lambda a, b: (a @ b + 1) ** 2,
    }[kernel]
    assert objective(W)[0] == pytest.approx(naive_mmd(Xs @ W, Xt @ W, function), abs=1e-12)
    assert gradient_error(objective, W) < 1e-7
    R = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    assert objective(W @ R)[0] == pytest.approx(objective(W)[0], abs=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_identical_domains_are_at_the_minimum(rng, kernel):
    X = rng.normal(size=(15, 4))
    value, gradient = KERNELS[kernel](X, X)(np.eye(4, 2))
    assert abs(value) < 1e-12
    np.testing.assert_allclose(gradient, 0.0, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
def test_w_is_orthonormal_and_better_than_pca(pair, kernel):
    factors = DIP(n_components=3, kernel=kernel).fit(pair)
    np.testing.assert_allclose(factors.W.T @ factors.W, np.eye(3), atol=1e-10)
    trace = factors.diagnostics.objective
    assert trace[-1] < 0.5 * trace[0]


def test_the_shifted_direction_is_left_out(rng):
    """Domains that differ along the first axis alone: W turns away from it."""
    Xs, Xt = rng.normal(size=(80, 6)), rng.normal(size=(80, 6))
    Xt[:, 0] += 4
    factors = DIP(n_components=5, max_iter=100).fit(DomainPair(Domain(Xs), Domain(Xt)))
    assert np.linalg.norm(factors.W[0]) < 0.2
    assert factors.diagnostics.objective[-1] < 0.05 * factors.diagnostics.objective[0]


def test_as_many_components_as_dimensions_leave_nothing_to_search(pair):
    factors = DIP(n_components=10).fit(pair)
    np.testing.assert_allclose(factors.W @ factors.W.T, np.eye(10), atol=1e-10)
    assert factors.diagnostics.stop_reason == "gradient"


def test_a_source_of_equal_rows_takes_the_joint_bandwidth(rng):
    pair = DomainPair(Domain(np.ones((5, 4))), Domain(rng.normal(size=(12, 4))))
    assert np.isfinite(DIP(n_components=2).fit(pair).W).all()


def test_leading_variance_does_not_count_the_gap(rng):
    X = rng.normal(size=(200, 3)) * [3.0, 2.0, 1.0]
    near, far = (DomainPair(Domain(X), Domain(X + np.array([0, 0, gap]))).span for gap in (0, 100))
    counts = [leading_variance(near, share, least=1) for share in (0.1, 0.7, 0.99, 1.0)]
    assert counts == [1, 2, 3, 3]
    assert leading_variance(near, 0.1, least=2) == 2
    assert leading_variance(far, 0.6, least=1) == 2, "the first coordinate is the gap"


@pytest.mark.parametrize(
    "params", [{"variance": 0}, {"variance": 1.5}, {"max_iter": 0}, {"kernel": 1}]
)
def test_parameters_are_checked(pair, params):
    (name,) = params
    with pytest.raises(InvalidInputError, match=f"^{name} must be"):
        DIP(**params).fit(pair)
