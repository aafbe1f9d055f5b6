"""LSDT: constraints, optimality of the codes, and the kernel form."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair
from l2t.algorithms import LSDT
from l2t.algorithms.lsdt import kernel_coordinates
from l2t.exceptions import InvalidInputError
from l2t.numerics import squared_distances


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_constraints_and_optimality(pair, kernel):
    algorithm = LSDT(n_components=3, kernel=kernel, lam=0.1)
    parts = algorithm.fit(pair).parts
    P, codes, X = parts["P"], parts["codes"], parts["features"]
    ns, n = len(pair.source), len(X)
    np.testing.assert_allclose(P.T @ P, np.eye(3), atol=1e-10)
    assert (codes[np.arange(n - ns), np.arange(ns, n)] == 0).all(), "no row explains itself"
    assert codes.any()
    latent = X @ P
    G = 2 * (latent[ns:] - codes @ latent) @ latent.T
    G[np.arange(n - ns), np.arange(ns, n)] = 0
    active = codes != 0
    assert np.abs(G - 0.1 * np.sign(codes))[active].max() < 0.1 * 2e-3
    assert np.abs(G)[~active].max() < 0.1 * 1.002


def test_objective_is_the_printed_one(pair):
    algorithm = LSDT(n_components=2, kernel="linear", lam=0.2, tau=0.5)
    factors = algorithm.fit(pair)
    P, Z, X = (factors.parts[key] for key in ("P", "codes", "features"))
    T = X[len(pair.source) :]
    expected = (
        np.sum(((T - Z @ X) @ P) ** 2)
        + 0.2 * np.abs(Z).sum()
        + 0.5 * np.sum((X - X @ P @ P.T) ** 2)
    )
    assert factors.diagnostics.objective[-1] == pytest.approx(expected)
    assert len(factors.diagnostics.objective) > 2


def test_a_huge_lam_gives_no_codes_and_a_subspace_all_the_same(pair):
    factors = LSDT(n_components=3, kernel="linear", lam=1e6).fit(pair)
    assert not factors.parts["codes"].any()
    assert np.linalg.matrix_rank(factors.W) == 3


def test_a_copy_in_the_source_explains_its_target_row(rng):
    Xs, Xt = rng.normal(size=(20, 8)), rng.normal(size=(15, 8))
    Xs[4] = Xt[7]
    pair = DomainPair(Domain(Xs), Domain(Xt))
    codes = LSDT(n_components=7, kernel="linear", lam=1e-3).fit(pair).parts["codes"]
    assert codes[7, 4] > 0.9
    assert np.abs(np.delete(codes[7], 4)).sum() < 0.1


def test_kernel_coordinates_are_the_centred_kernel(rng):
    X = rng.normal(size=(20, 4))
    F = kernel_coordinates(X)
    D = squared_distances(X)
    H = np.eye(20) - 1 / 20
    np.testing.assert_allclose(F @ F.T, H @ np.exp(-D / D.mean()) @ H, atol=1e-8)


def test_linear_w_is_orthonormal_and_the_kernel_form_is_fitted(pair):
    linear = LSDT(n_components=3, kernel="linear").fit(pair)
    np.testing.assert_allclose(linear.W.T @ linear.W, np.eye(3), atol=1e-10)
    assert linear.kind == "linear"
    fitted = LSDT(n_components=3).fit(pair)
    assert fitted.kind == "fitted"
    assert 0 < fitted.diagnostics.residual < 1


@pytest.mark.parametrize("params", [{"lam": 0}, {"tau": 0}, {"kernel": "poly"}, {"max_iter": 0}])
def test_parameters_are_checked(pair, params):
    (name,) = params
    with pytest.raises(InvalidInputError, match=f"^{name} must be"):
        LSDT(**params).fit(pair)
