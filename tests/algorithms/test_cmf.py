"""CMF: non-negative factors, the printed objective, and NMF as its special case."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import NMF

from l2t import Domain, DomainPair
from l2t.algorithms import CMF
from l2t.exceptions import InvalidInputError
from l2t.numerics import cosine_graph


@pytest.fixture
def positive(rng):
    return DomainPair(
        Domain(rng.gamma(1.0, size=(40, 12))), Domain(rng.gamma(1.0, size=(30, 12)) * 1.5)
    )


def stacked(pair):
    X = np.concatenate([pair.source.X, pair.target.X])
    return X / np.linalg.norm(X, axis=1).mean()


@pytest.mark.parametrize(
    "weights", [(0.1, 1.0, 1.0), (0.1, 1.0, 10.0), (0.0, 0.0, 0.0), (5.0, 5.0, 0.0)]
)
def test_factors_are_non_negative_and_the_objective_is_the_printed_one(positive, weights):
    lam, gam, sig = weights
    factors = CMF(n_components=4, lam=lam, gam=gam, sig=sig).fit(positive)
    U, Vs, Vt = (factors.parts[key] for key in ("U", "Vs", "Vt"))
    for F in (U, Vs, Vt):
        assert (F >= 0).all()
    X, ns = stacked(positive), len(Vs)

    def roughness(data, F):
        graph = cosine_graph(data, 10).toarray()
        return np.trace(F.T @ (np.diag(graph.sum(axis=1)) - graph) @ F)

    expected = 0.0
    for rows, V in ((X[:ns], Vs), (X[ns:], Vt)):
        expected += np.sum((rows - V @ U.T) ** 2) + lam * roughness(rows.T, U)
        expected += gam * roughness(rows, V) + sig * np.sum((V.T @ V - np.eye(4)) ** 2)
    trace = np.array(factors.diagnostics.objective)
    assert trace[-1] == pytest.approx(expected, rel=1e-6)
    assert (np.diff(trace) <= 1e-12 * trace[0]).all()


def test_without_graphs_it_is_nmf_of_the_stacked_data(positive):
    factors = CMF(n_components=3, lam=0, gam=0, sig=0, max_iter=3000, tol=1e-7).fit(positive)
    peer = NMF(3, init="nndsvda", max_iter=5000, tol=1e-8).fit(stacked(positive))
    assert factors.diagnostics.objective[-1] == pytest.approx(peer.reconstruction_err_**2, rel=1e-2)


def test_an_exact_factorisation_is_found(rng):
    U = rng.gamma(1.0, size=(10, 2))
    pair = DomainPair(*(Domain(rng.gamma(1.0, size=(n, 2)) @ U.T) for n in (25, 20)))
    exact = CMF(n_components=2, lam=0, gam=0, sig=0, max_iter=5000, tol=0.0)
    left = exact.fit(pair).diagnostics.objective[-1]
    assert left < 1e-6 * np.sum(stacked(pair) ** 2)


def test_negative_features_are_shifted_by_their_joint_minimum(rng):
    Xs, Xt = rng.normal(size=(20, 6)), rng.normal(size=(15, 6))
    low = np.minimum(Xs.min(axis=0), Xt.min(axis=0))
    first = CMF(n_components=3).fit(DomainPair(Domain(Xs), Domain(Xt))).W
    second = CMF(n_components=3).fit(DomainPair(Domain(Xs - low), Domain(Xt - low))).W
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_orthogonality_grows_with_its_weight(positive):
    def crossed(sig):
        V = CMF(n_components=3, sig=sig).fit(positive).parts["Vt"]
        return np.sum((V.T @ V - np.eye(3)) ** 2)

    assert crossed(10.0) < crossed(0.01)


def test_a_feature_that_is_always_zero_has_no_factor(rng):
    Xs, Xt = rng.gamma(1.0, size=(20, 6)), rng.gamma(1.0, size=(15, 6))
    Xs[:, 2] = Xt[:, 2] = 0
    factors = CMF(n_components=3).fit(DomainPair(Domain(Xs), Domain(Xt)))
    assert (factors.parts["U"][2] == 0).all()


@pytest.mark.parametrize(
    "params", [{"lam": -1}, {"gam": "x"}, {"sig": np.inf}, {"n_neighbors": 0}, {"max_iter": 0}]
)
def test_parameters_are_checked(positive, params):
    (name,) = params
    with pytest.raises(InvalidInputError, match=f"^{name} must be"):
        CMF(**params).fit(positive)
