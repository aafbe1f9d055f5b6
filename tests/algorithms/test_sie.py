"""SIE: the Hellinger distance in closed form, its range and its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair
from l2t.algorithms import SIE
from l2t.algorithms.sie import hellinger
from l2t.testing import gradient_error


def naive_hellinger(Zs, Zt, h):
    """From the definition, with densities and T written out."""

    def density(z, Z):
        return np.mean(np.exp(-np.sum((Z - z) ** 2, axis=1) / (2 * h)))

    def mean(rows):
        T = np.array([density(z, Zs) / (density(z, Zs) + density(z, Zt)) for z in rows])
        return np.mean((np.sqrt(T) - np.sqrt(1 - T)) ** 2)

    return mean(Zs) + mean(Zt)


def test_value_and_gradient(rng):
    Xs, Xt = rng.normal(size=(14, 5)), rng.normal(size=(9, 5)) + 0.6
    W = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    objective = hellinger(Xs, Xt, 0.7)
    assert objective(W)[0] == pytest.approx(naive_hellinger(Xs @ W, Xt @ W, 0.7), abs=1e-12)
    assert gradient_error(objective, W) < 1e-7
    swapped = hellinger(Xt, Xs, 0.7)
    assert swapped(W)[0] == pytest.approx(objective(W)[0], abs=1e-12)
    R = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    assert objective(W @ R)[0] == pytest.approx(objective(W)[0], abs=1e-12)


@pytest.mark.integration
@pytest.mark.parametrize("distance", [0.5, 1.0, 2.0])
def test_gaussians_have_their_closed_form(rng, distance):
    n = 3000
    Xs, Xt = rng.normal(size=(n, 1)), rng.normal(size=(n, 1)) + distance
    value, _ = hellinger(Xs, Xt, n ** (-2 / 5))(np.eye(1))
    assert value == pytest.approx(2 * (1 - np.exp(-(distance**2) / 8)), abs=0.04)


def test_range(rng):
    X = rng.normal(size=(20, 3))
    same, gradient = hellinger(X, X, 1.0)(np.eye(3, 2))
    assert same == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12)
    far, gradient = hellinger(X, X + 1e6, 1.0)(np.eye(3, 2))
    assert far == pytest.approx(2.0)
    assert np.isfinite(gradient).all()


def test_w_is_orthonormal_and_better_than_pca(pair):
    factors = SIE(n_components=3).fit(pair)
    np.testing.assert_allclose(factors.W.T @ factors.W, np.eye(3), atol=1e-10)
    trace = factors.diagnostics.objective
    assert trace[-1] < 0.8 * trace[0]


def test_domains_far_apart_are_brought_together_by_annealing(rng):
    """Without a wider bandwidth first there is no gradient to follow from this start."""
    Xs, Xt = rng.normal(size=(60, 6)), rng.normal(size=(60, 6))
    Xt[:, 0] += 60
    factors = SIE(n_components=4, max_iter=60).fit(DomainPair(Domain(Xs), Domain(Xt)))
    h = float(factors.parts["bandwidth"][0])
    first, slope = hellinger(Xs, Xt, h / 50)(np.eye(6, 4))
    assert first > 1.99
    assert np.linalg.norm(slope) < 1e-12
    assert np.linalg.norm(factors.W[0]) < 0.05
