"""GFK: the closed form against quadrature, special cases and published figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from l2t import Domain, DomainPair
from l2t.algorithms import GFK
from l2t.algorithms.gfk import geodesic_flow


def orthonormal(rng, m, d):
    return np.linalg.qr(rng.normal(size=(m, d)))[0]


def quadrature(Ps, Pt, steps=400):
    """Integrate the flow by Gauss-Legendre, along the textbook geodesic."""
    U, cosines, Vt = np.linalg.svd(Ps.T @ Pt)
    theta = np.arccos(np.clip(cosines, -1, 1))
    B = Pt @ Vt.T - Ps @ U * cosines
    E = B / np.where(np.sin(theta) > 1e-7, np.sin(theta), 1.0)
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    G = np.zeros((len(Ps),) * 2)
    for t, w in zip((nodes + 1) / 2, weights / 2, strict=True):
        Phi = Ps @ U * np.cos(t * theta) + E * np.sin(t * theta)
        G += w * Phi @ Phi.T
    return G


@settings(max_examples=40)
@given(m=st.integers(2, 12), share=st.floats(0.1, 1.0), seed=st.integers(0, 2**16))
def test_closed_form_is_the_integral(m, share, seed):
    rng = np.random.default_rng(seed)
    d = max(1, int(share * m))
    Ps, Pt = orthonormal(rng, m, d), orthonormal(rng, m, d)
    F, _ = geodesic_flow(Ps, Pt)
    G = F @ F.T
    np.testing.assert_allclose(G, quadrature(Ps, Pt), atol=1e-7)
    values = np.linalg.eigvalsh(G)
    assert values.min() > -1e-12
    assert values.max() < 1 + 1e-12
    assert np.trace(G) == pytest.approx(d)
    assert F.shape[1] <= 2 * d


def test_orthogonal_lines():
    F, angles = geodesic_flow(np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]]))
    np.testing.assert_allclose(F @ F.T, [[1 / 2, 1 / np.pi], [1 / np.pi, 1 / 2]], atol=1e-15)
    np.testing.assert_allclose(angles, np.pi / 2)


def test_one_subspace_is_its_projector(rng):
    P = orthonormal(rng, 9, 4)
    F, angles = geodesic_flow(P, P @ orthonormal(rng, 4, 4))
    np.testing.assert_allclose(F @ F.T, P @ P.T, atol=1e-12)
    np.testing.assert_allclose(angles, 0.0, atol=1e-7)
    assert F.shape == (9, 4)


@pytest.mark.parametrize("angle", [1e-4, 1e-6])
def test_small_angles_are_kept(angle):
    """The arc cosine would lose them."""
    Pt = np.array([[np.cos(angle)], [np.sin(angle)]])
    _, angles = geodesic_flow(np.array([[1.0], [0.0]]), Pt)
    assert angles[0] == pytest.approx(angle, rel=1e-8)


def test_swapping_domains_and_turning_bases_changes_nothing(rng):
    Ps, Pt = orthonormal(rng, 10, 3), orthonormal(rng, 10, 3)
    G = (lambda F: F @ F.T)(geodesic_flow(Ps, Pt)[0])
    swapped = geodesic_flow(Pt, Ps)[0]
    np.testing.assert_allclose(swapped @ swapped.T, G, atol=1e-12)
    turned = geodesic_flow(Ps @ orthonormal(rng, 3, 3), Pt @ orthonormal(rng, 3, 3))[0]
    np.testing.assert_allclose(turned @ turned.T, G, atol=1e-12)


def test_w_is_the_root_of_the_metric_in_the_original_features(rng):
    pair = DomainPair(Domain(rng.normal(size=(40, 15))), Domain(rng.normal(size=(30, 15)) * 2 + 1))
    W = GFK(n_components=4).fit(pair).W
    axes = [np.linalg.svd(X - X.mean(axis=0))[2][:4].T for X in (pair.source.X, pair.target.X)]
    np.testing.assert_allclose(W @ W.T, quadrature(*axes), atol=1e-8)
    assert W.shape == (15, 8)


def test_components_are_clipped_to_the_smaller_domain(rng):
    pair = DomainPair(Domain(rng.normal(size=(40, 15))), Domain(rng.normal(size=(5, 15))))
    with pytest.warns(UserWarning, match="n_components=20 exceeds .* 4 are used"):
        assert GFK().fit(pair).W.shape == (15, 8)
