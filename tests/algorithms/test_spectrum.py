"""The spectrum solves its eigenproblem, and sees what separates the target."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from l2t import Domain, DomainPair
from l2t.algorithms import Spectrum
from l2t.algorithms.spectrum import BANDWIDTH, GRAPH_NEIGHBORS, RIDGE, spectrum_factor
from l2t.exceptions import InvalidInputError
from l2t.numerics import mean_squared_distance, mutual_neighbors, squared_distances


def made(rng, ns=40, nt=50, m=6):
    y = np.arange(nt) % 3
    Xt = 1.5 * rng.normal(size=(3, m))[y] + rng.normal(size=(nt, m))
    return DomainPair(Domain(rng.normal(size=(ns, m)) + 0.5), Domain(Xt))


def scatters(pair, n_neighbors):
    """S_L and S_N in the features, summed pair by pair, of trace 1."""
    Z, (within, between) = pair.target.X, np.zeros((2, pair.n_features, pair.n_features))
    near = mutual_neighbors(squared_distances(Z), n_neighbors)
    eta = mean_squared_distance(Z, Z)
    for a in range(len(Z)):
        for b in range(a):
            gap = Z[a] - Z[b]
            weight = np.exp(-(gap @ gap) / (BANDWIDTH * eta))
            (within if near[a, b] else between)[:] += weight * np.outer(gap, gap)
    return within / np.trace(within), between / np.trace(between)


def gram(pair):
    """Products of target rows, which do not depend on coordinates."""
    Z = (pair.target.X - pair.target.X.mean(axis=0)) @ spectrum_factor(pair.target.X)
    return Z @ Z.T


def test_the_generalised_eigenproblem(rng):
    pair = made(rng)
    columns = np.hsplit(spectrum_factor(pair.target.X), len(GRAPH_NEIGHBORS))
    for n_neighbors, W in zip(GRAPH_NEIGHBORS, columns, strict=True):
        within, between = scatters(pair, n_neighbors)
        ridged = within + RIDGE * np.linalg.eigvalsh(within)[-1] * np.eye(len(within))
        shares = np.diag(W.T @ ridged @ W)
        V = W / np.sqrt(shares)
        np.testing.assert_allclose(V.T @ ridged @ V, np.eye(6), atol=1e-10)
        values = np.diag(V.T @ between @ V)
        np.testing.assert_allclose(between @ V, ridged @ V * values, atol=1e-10 * values.max())
        assert (np.diff(values) > 0).all()
        np.testing.assert_allclose(shares, values / values[-1], atol=1e-10)


def test_rotation_and_shift_do_not_matter(rng):
    pair = made(rng)
    turn, shift = np.linalg.qr(rng.normal(size=(6, 6)))[0], 10 * rng.normal(size=6)
    wide = np.linalg.qr(rng.normal(size=(200, 6)))[0].T
    for T in (turn, wide):
        moved = DomainPair(*(Domain((d.X + shift) @ T) for d in (pair.source, pair.target)))
        np.testing.assert_allclose(gram(moved), gram(pair), atol=1e-9 * np.abs(gram(pair)).max())


def test_the_scale_does_not_matter(rng):
    pair = made(rng)
    base = gram(pair)
    for scale in (1e-6, 1e6):
        scaled = DomainPair(*(Domain(scale * d.X) for d in (pair.source, pair.target)))
        other = gram(scaled)
        # S_L and S_N have trace 1, so that V is the same and rows are scaled.
        np.testing.assert_allclose(other / scale**2, base, atol=1e-9 * np.abs(base).max())


def test_the_order_of_rows_does_not_matter(rng):
    pair = made(rng)
    s, t = rng.permutation(40), rng.permutation(50)
    shuffled = DomainPair(Domain(pair.source.X[s]), Domain(pair.target.X[t]))
    base = gram(pair)[np.ix_(t, t)]
    np.testing.assert_allclose(gram(shuffled), base, atol=1e-9 * np.abs(base).max())


def test_two_clusters_show(rng):
    """A direction with a fifth of the variance has most of the weight, for two clusters lie along it."""
    e = np.linalg.qr(rng.normal(size=(5, 5)))[0][:, 0]
    X = rng.normal(size=(60, 5))
    sides = np.where(np.arange(60) % 2, 1.0, -1.0) + 0.3 * rng.normal(size=60)
    X += np.outer(sides - X @ e, e)
    pair = DomainPair(Domain(rng.normal(size=(50, 5))), Domain(X))
    assert e @ np.cov(X.T) @ e / np.trace(np.cov(X.T)) < 0.25
    W = Spectrum().fit(pair).W
    assert abs(np.linalg.svd(W)[0][:, 0] @ e) > 0.95
    assert np.sum((e @ W) ** 2) / np.sum(W**2) > 0.4


def test_directions_without_variance_in_the_target_are_left_out(rng):
    pair = made(rng)
    Xt = pair.target.X.copy()
    Xt[:, 2] = 1.0
    flat = DomainPair(pair.source, Domain(Xt))
    W = Spectrum().fit(flat).W
    assert W.shape == (6, 15)
    np.testing.assert_allclose(W[2], 0.0, atol=1e-12)


def test_at_most_forty_directions_each(rng):
    pair = DomainPair(Domain(rng.normal(size=(60, 70))), Domain(rng.normal(size=(80, 70))))
    assert Spectrum().fit(pair).W.shape == (70, 120)


DEGENERATE = {
    "one point": np.ones((7, 4)),
    "two rows": np.eye(2, 4),
    "two points": np.repeat(np.eye(2, 4), 5, axis=0),
    "a square": np.array([[0.0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0]]),
}


@pytest.mark.parametrize(
    ("name", "n_parts"), [("one point", 0), ("two rows", 0), ("two points", 0), ("a square", 3)]
)
def test_targets_without_a_spectrum(name, n_parts):
    """Where all pairs that differ are neighbours, or no neighbours differ, there is nothing to compare."""
    if not n_parts:
        with pytest.raises(InvalidInputError, match="spectrum needs target rows of which some are"):
            spectrum_factor(DEGENERATE[name])
    else:
        V = spectrum_factor(DEGENERATE[name])
        assert V.shape == (4, 2 * n_parts)
        assert np.isfinite(V).all()


def test_some_neighbourhoods_may_be_all_there_is(rng):
    """Seven rows: the r nearest of six others end at three, however large r is."""
    rows = rng.normal(size=(7, 3))
    first, second, third = np.hsplit(spectrum_factor(rows), len(GRAPH_NEIGHBORS))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(second, third)


def test_a_large_target_is_represented_by_a_thousand_of_its_rows(rng):
    X = rng.normal(size=(1500, 5)) + 3 * (np.arange(1500) % 2)[:, None]
    pair = DomainPair(Domain(rng.normal(size=(20, 5))), Domain(X))
    first, again = (Spectrum(random_state=0).fit(pair).W for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, Spectrum(random_state=1).fit(pair).W)


def test_the_source_plays_no_part(rng):
    pair = made(rng)
    other = DomainPair(Domain(rng.normal(size=(9, 6))), pair.target)
    np.testing.assert_array_equal(Spectrum().fit(pair).W, Spectrum().fit(other).W)


@pytest.mark.parametrize("copies", [2, 6, 10, 20])
def test_rounding_is_no_scatter(rng, copies):
    """Copies of few rows have no scatter within; what rounding leaves of it must not be inverted."""
    for distinct in (np.eye(6), rng.normal(size=(3, 6)), rng.normal(size=(5, 6)) + 1e6):
        pair = DomainPair(Domain(rng.normal(size=(40, 6))), Domain(np.repeat(distinct, copies, 0)))
        with suppress(InvalidInputError):  # no scatter is left
            W = Spectrum().fit(pair).W
            assert np.isfinite(W).all()
            assert np.linalg.norm(W) < 1e4


def test_an_error_of_linear_algebra_is_a_sentence(rng, monkeypatch):
    def fails(*_):
        raise np.linalg.LinAlgError("the leading minor is not positive")

    monkeypatch.setattr("l2t.algorithms.spectrum.spectrum_factor", fails)
    with pytest.raises(
        InvalidInputError, match=r"spectrum cannot be computed on this pair, .*minor"
    ):
        Spectrum().fit(made(rng))
