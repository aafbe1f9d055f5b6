"""tau against its definition in the log domain, where plain weights would underflow."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair
from l2t.numerics import kernels, mean_squared_distance, mutual_neighbors, squared_distances
from l2t.statistics import KernelBank, pair_statistics
from l2t.statistics.discriminability import BOUND

BANK = KernelBank()


def loop_neighbors(D, n_neighbors):
    """Mutual neighbours by sorting, one row after another; the last neighbour's equals count."""
    n = len(D)
    r = min(n_neighbors, max(1, (n - 1) // 2))
    near = np.zeros((n, n), dtype=bool)
    for a in range(n):
        reach = np.sort(np.delete(D[a], a))[r - 1]
        near[a] = (reach * (1 + 1e-11) >= D[a]) & (np.arange(n) != a)
    return near & near.T


def log_sum(terms):
    return terms.max() + np.log(np.exp(terms - terms.max()).sum()) if terms.size else -np.inf


def oracle(pair, W, n_neighbors=5):
    """tau from differences of rows and logarithms, without any squaring or factoring out."""
    Xs, Xt = pair.source.X, pair.target.X
    Z = Xt @ W
    square = lambda A, B: ((A[:, None] - B[None]) ** 2).sum(axis=2)  # noqa: E731
    D, sizes, eta = square(Xt, Xt), square(Z, Z), square(Xs, Xt).mean()
    near = loop_neighbors(D, n_neighbors)
    tau = []
    for p in BANK.exponents:
        with np.errstate(divide="ignore"):
            terms = np.log(sizes) - D / (2.0**p * eta)
        inside, outside = (log_sum(terms[pairs & (sizes > 0)]) for pairs in (near, ~near))
        tau.append(-np.inf if np.isneginf(outside) else outside - inside)
    return np.exp(np.clip(tau, -np.log(BOUND), np.log(BOUND)))


def clusters(rng):
    """Return three tight groups far from each other."""
    return 9.0 * np.repeat(np.eye(3, 5), 10, axis=0) + 0.01 * rng.normal(size=(30, 5))


def few_away(rng):
    """Return three rows a little closer to each other than to the point where all others coincide."""
    away = 21.1 * np.eye(3, 5) + 21.3 * np.eye(5)[4]
    return np.r_[np.zeros((27, 5)), away + 0.01 * rng.normal(size=(3, 5))]


def far_outlier(rng):
    X = rng.normal(size=(30, 5))
    X[3] += 1e6
    return X


TARGETS = {
    "spread": lambda rng: rng.normal(size=(30, 5)),
    "clusters": clusters,
    "few away": few_away,
    "far outlier": far_outlier,
    "outlier": lambda rng: rng.normal(size=(30, 5)) * np.r_[40.0, np.ones(29)][:, None],
    "duplicates": lambda rng: np.repeat(rng.normal(size=(10, 5)), 3, axis=0),
    "mostly one point": lambda rng: np.r_[np.ones((22, 5)), rng.normal(size=(8, 5))],
    "grid": lambda rng: np.array([[i, j, 0, 0, 0] for i in range(6) for j in range(5)], float),
    "two rows": lambda rng: rng.normal(size=(2, 5)),
    "three rows": lambda rng: rng.normal(size=(3, 5)),
    "far from zero": lambda rng: rng.normal(size=(30, 5)) + 1e3,
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("pairs", [5, 100, kernels.PAIRS])
def test_equal_to_the_log_domain(rng, monkeypatch, name, pairs):
    monkeypatch.setattr(kernels, "PAIRS", pairs)
    rows = TARGETS[name](rng)
    pair = DomainPair(Domain(rows[0] + rng.normal(size=(20, 5))), Domain(rows))
    W = rng.normal(size=(5, 2))
    tau = pair_statistics(pair, W).tau
    assert np.isfinite(tau).all()
    assert (tau > 0).all()
    np.testing.assert_allclose(tau, oracle(pair, W), rtol=1e-10)


def test_weights_that_all_underflow_still_have_a_ratio(rng):
    rows = few_away(rng)
    pair = DomainPair(Domain(rows[0] + rng.normal(size=(20, 5))), Domain(rows))
    weights = np.exp(
        -squared_distances(rows) / (2.0**-8 * mean_squared_distance(pair.source.X, rows))
    )
    assert weights[:27, :27].min() == 1  # those coincide in Z too, and do not count
    assert weights[27:].sum() == 3  # each with itself
    tau = pair_statistics(pair, rng.normal(size=(5, 2))).tau[0]
    assert 1e-9 < tau < 1e3


@pytest.mark.parametrize("name", ["duplicates", "grid", "far outlier", "spread"])
def test_the_order_of_rows_does_not_matter(rng, name):
    """Nor do ties: equally near rows are neighbours together, however their distances round."""
    rows = TARGETS[name](rng) @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    source, W = Domain(rows[:12] + rng.normal(size=(12, 5))), rng.normal(size=(5, 3))
    base = pair_statistics(DomainPair(source, Domain(rows)), W).tau
    for _ in range(5):
        target = Domain(rows[rng.permutation(len(rows))])
        np.testing.assert_allclose(
            pair_statistics(DomainPair(source, target), W).tau, base, rtol=1e-9
        )


def test_tau_ends_at_its_bounds(rng):
    """At the top where all neighbours coincide, at the bottom where all pairs are neighbours."""
    source, W = Domain(rng.normal(size=(8, 4))), np.eye(4, 2)
    twins = Domain(np.repeat(rng.normal(size=(10, 4)), 2, axis=0))
    tau = pair_statistics(DomainPair(source, twins), W, n_neighbors=1).tau
    np.testing.assert_allclose(tau, BOUND)
    two = Domain(rng.normal(size=(2, 4)))
    np.testing.assert_allclose(pair_statistics(DomainPair(source, two), W).tau, 1 / BOUND)
    one_point = Domain(np.ones((7, 4)))
    np.testing.assert_allclose(pair_statistics(DomainPair(source, one_point), W).tau, 1 / BOUND)


@pytest.mark.parametrize("pairs", [1, 50, kernels.PAIRS])
@pytest.mark.parametrize("r", [1, 3, 5, 100])
def test_mutual_neighbors(rng, monkeypatch, pairs, r):
    monkeypatch.setattr(kernels, "PAIRS", pairs)
    for rows in (rng.normal(size=(23, 4)), TARGETS["grid"](rng)):
        D = squared_distances(rows)
        near = mutual_neighbors(D, r)
        np.testing.assert_array_equal(near, loop_neighbors(D, r))
        assert not near.diagonal().any()


@pytest.mark.parametrize("pairs", [1, 4, 10, 100])
def test_blocks_hold_each_pair_once(monkeypatch, pairs):
    monkeypatch.setattr(kernels, "PAIRS", pairs)
    for n, others in ((1, 0), (7, 0), (7, 3), (10, 1)):
        times = np.zeros((n, n + others), dtype=int)
        for rows, columns, upper in kernels.upper_blocks(n, others):
            times[rows, columns] += upper
        np.testing.assert_array_equal(times, np.triu(np.ones_like(times), 1))
