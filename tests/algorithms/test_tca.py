"""TCA: the eigenproblem, its constraint, its invariances and what it is for."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair
from l2t.algorithms import TCA, tca
from l2t.exceptions import InvalidInputError
from l2t.numerics import squared_distances


def matrices(pair, kernel="linear"):
    """K, H and L from their definitions."""
    X = np.concatenate([pair.source.X, pair.target.X])
    X = X - X.mean(axis=0)
    ns, n = len(pair.source), len(X)
    K = X @ X.T
    if kernel == "rbf":
        D = squared_distances(X)
        K = np.exp(-D / D.mean())
    e = np.r_[np.full(ns, 1 / ns), np.full(n - ns, -1 / (n - ns))]
    return K, np.eye(n) - 1 / n, np.outer(e, e), X


def wide(rng, m=300):
    return DomainPair(Domain(rng.normal(size=(30, m))), Domain(rng.normal(size=(25, m)) + 0.3))


@pytest.mark.parametrize("mu", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_rows_solve_the_generalised_eigenproblem(rng, kernel, mu):
    pair = wide(rng)
    parts = TCA(n_components=5, kernel=kernel, mu=mu).fit(pair).parts
    K, H, L, _ = matrices(pair, kernel)
    V, values = parts["V"], parts["eigenvalues"]
    left, right = K @ H @ K @ V, (K @ L @ K @ V + mu * V) * values
    assert (np.linalg.norm(left - right, axis=0) / np.linalg.norm(left, axis=0)).max() < 1e-8
    assert parts["eigen_residual"] < 1e-8
    np.testing.assert_allclose(V.T @ K @ H @ K @ V, np.eye(5), atol=1e-8)


@pytest.mark.parametrize("mu", [1e-2, 1.0, 50.0])
def test_the_span_gives_what_the_rows_give(pair, mu):
    """More rows than features: the r x r problem has the solution of the n x n one."""
    factors = TCA(n_components=4, mu=mu).fit(pair)
    K, H, L, X = matrices(pair)
    assert factors.parts["eigen_residual"] < 1e-8
    values, y = np.linalg.eig(np.linalg.solve(K @ L @ K + mu * np.eye(len(K)), K @ H @ K))
    order = np.argsort(-values.real)[:4]
    np.testing.assert_allclose(factors.parts["eigenvalues"], values.real[order], rtol=1e-8)
    V = y.real[:, order]
    V /= np.sqrt(np.diag(V.T @ K @ H @ K @ V))
    Z, W = K @ V, factors.W
    np.testing.assert_allclose(X @ W @ W.T @ X.T, Z @ Z.T, atol=1e-7)
    np.testing.assert_allclose(W.T @ X.T @ X @ W, np.eye(4), atol=1e-8)


def test_linear_w_gives_the_kernel_embedding(rng):
    pair = wide(rng)
    factors = TCA(n_components=5).fit(pair)
    K, _, _, X = matrices(pair)
    np.testing.assert_allclose(X @ factors.W, K @ factors.parts["V"], atol=1e-12)


@pytest.mark.parametrize("m", [20, 200])
@pytest.mark.parametrize("shift", [0.5, 3.0, 10.0])
def test_the_mean_gap_closes_on_shifted_gaussians(rng, m, shift):
    Xs, Xt = rng.normal(size=(80, m)), rng.normal(size=(70, m)) + shift
    factors = TCA(n_components=5).fit(DomainPair(Domain(Xs), Domain(Xt)))
    Zs, Zt = factors.transform(Xs), factors.transform(Xt)
    gap = np.linalg.norm(Zs.mean(axis=0) - Zt.mean(axis=0))
    spread = np.sqrt(np.concatenate([Zs, Zt]).var(axis=0).sum())
    assert gap / spread < 1e-3


def test_identical_centred_domains_give_principal_components(rng):
    X = rng.normal(size=(50, 6)) * np.arange(6, 0, -1)
    W = TCA(n_components=3).fit(DomainPair(Domain(X), Domain(X))).W
    axes = np.linalg.svd(X - X.mean(axis=0))[2][:3].T
    basis = np.linalg.qr(W)[0]
    np.testing.assert_allclose(np.linalg.svd(basis.T @ axes)[1], 1.0, atol=1e-10)


def test_objective_is_the_printed_one(rng):
    pair = wide(rng)
    factors = TCA(n_components=4, mu=2.0).fit(pair)
    K, _, L, _ = matrices(pair)
    V = factors.parts["V"]
    expected = np.trace(V.T @ K @ L @ K @ V) + 2.0 * np.trace(V.T @ V)
    assert factors.diagnostics.objective[0] == pytest.approx(expected)


@pytest.mark.parametrize("params", [{"mu": 0}, {"mu": -1.0}, {"mu": np.nan}, {"kernel": "poly"}])
def test_parameters_are_checked(pair, params):
    (name,) = params
    with pytest.raises(InvalidInputError, match=f"^{name} must be"):
        TCA(**params).fit(pair)


def test_data_far_from_the_origin_keep_their_digits(rng):
    near = wide(rng)
    far = DomainPair(*(Domain(domain.X + 1e6) for domain in (near.source, near.target)))
    first, second = (TCA(n_components=5).fit(each) for each in (near, far))
    np.testing.assert_allclose(second.parts["eigenvalues"], first.parts["eigenvalues"], rtol=1e-7)
    assert second.parts["eigen_residual"] < 1e-8


HARD = {
    "one feature, far apart": lambda rng: (rng.normal(size=(30, 1)), rng.normal(size=(30, 1)) + 50),
    "far target": lambda rng: (rng.normal(size=(30, 10)), rng.normal(size=(25, 10)) + 1e6),
    "large data": lambda rng: (1e12 * rng.normal(size=(30, 10)), 1e12 * rng.normal(size=(25, 10))),
    "falling spectrum": lambda rng: tuple(
        rng.normal(size=(n, 40)) * 2.0 ** -np.arange(40) for n in (60, 50)
    ),
    "wide, falling": lambda rng: tuple(
        rng.normal(size=(n, 90)) * 1.5 ** -np.arange(90) for n in (40, 40)
    ),
    "rank one, wide": lambda rng: tuple(rng.normal(size=(n, 1)) * np.ones(80) for n in (20, 15)),
    "nearly equal rows": lambda rng: (
        np.ones((20, 50)) + 1e-9 * rng.normal(size=(20, 50)),
        rng.normal(size=(20, 50)),
    ),
}


@pytest.mark.filterwarnings("ignore:.*n_components=:UserWarning")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("case", HARD)
def test_hard_spectra_keep_their_digits(rng, case, kernel):
    """Fourth powers of singular values would drown the small components; they must not."""
    Xs, Xt = HARD[case](rng)
    factors = TCA(kernel=kernel).fit(DomainPair(Domain(Xs), Domain(Xt)))
    bound = 1e-8
    if (
        kernel == "rbf"
    ):  # the SVD of a kernel matrix is exact relative to its largest singular value
        values = factors.parts["eigenvalues"]
        bound += 100 * np.finfo(float).eps * np.sqrt(values[0] / values[-1])
    assert factors.parts["eigen_residual"] < bound
    assert np.isfinite(factors.diagnostics.objective).all()
    if kernel == "linear":
        X = np.concatenate([Xs, Xt])
        Z = (X - X.mean(axis=0)) @ factors.W
        np.testing.assert_allclose(Z.T @ Z, np.eye(Z.shape[1]), atol=1e-5)


def test_the_exact_form_agrees_with_the_squared_one(pair, monkeypatch):
    squared = TCA(n_components=4).fit(pair)
    monkeypatch.setattr(tca, "MIN_EIGENVALUE", np.inf)
    exact = TCA(n_components=4).fit(pair)
    np.testing.assert_allclose(exact.W @ exact.W.T, squared.W @ squared.W.T, rtol=1e-9)
    np.testing.assert_allclose(exact.parts["eigenvalues"], squared.parts["eigenvalues"])
