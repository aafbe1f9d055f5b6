"""d, Q and tau against their definitions, written as loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from l2t import Domain, DomainPair
from l2t.exceptions import InvalidInputError
from l2t.numerics import kernels
from l2t.statistics import KernelBank, PairStatistics, pair_statistics
from l2t.statistics.variance import paired_rows

SMALL = KernelBank(-3, 3, 0.5)


def naive(pair, W, kernels, n_neighbors, random_state):
    """Everything from the formulas, one kernel and one pair of rows at a time."""
    Xs, Xt = pair.source.X, pair.target.X
    Zs, Zt = Xs @ W, Xt @ W
    ns, nt = len(Zs), len(Zt)
    square = lambda a, b: float(np.sum((a - b) ** 2))  # noqa: E731
    eta = np.mean([[square(a, b) for b in Zt] for a in Zs])
    eta_0 = np.mean([[square(a, b) for b in Xt] for a in Xs])
    d, tau, h = [], [], []
    i, j = paired_rows(ns, nt, random_state)
    S, T, n = Zs[i], Zt[j], min(ns, nt)
    D0 = np.array([[square(a, b) for b in Xt] for a in Xt])
    r = min(n_neighbors, max(1, (nt - 1) // 2))
    nearest = [set(np.argsort(D0[a] + 1e9 * (np.arange(nt) == a))[:r]) for a in range(nt)]
    for p in kernels.exponents:
        k = lambda a, b, w=2**p * eta: np.exp(-square(a, b) / w)  # noqa: E731
        mean = lambda A, B, k=k: np.mean([[k(a, b) for b in B] for a in A])  # noqa: E731
        d.append(mean(Zs, Zs) + mean(Zt, Zt) - 2 * mean(Zs, Zt))
        h.append(
            [
                k(S[a], S[b]) + k(T[a], T[b]) - k(S[a], T[b]) - k(S[b], T[a])
                for a in range(n)
                for b in range(n)
            ]
        )
        near = far = 0.0
        for a in range(nt):
            for b in range(nt):
                if a != b:
                    weight = np.exp(-D0[a, b] / (2**p * eta_0)) * square(Zt[a], Zt[b])
                    if a in nearest[b] and b in nearest[a]:
                        near += weight
                    else:
                        far += weight
        tau.append(far / near)
    return np.array(d), np.array(h), np.array(tau)


def sample(rng, ns=13, nt=11, m=6):
    return DomainPair(Domain(rng.normal(size=(ns, m))), Domain(rng.normal(size=(nt, m)) + 0.4))


@pytest.mark.parametrize(("ns", "nt"), [(13, 11), (9, 14), (10, 10), (1, 6), (6, 2)])
@pytest.mark.parametrize("random_state", [0, 7, None])
@pytest.mark.parametrize("pairs", [1, 30, kernels.PAIRS])
def test_equal_to_the_loops(rng, monkeypatch, ns, nt, random_state, pairs):
    monkeypatch.setattr(kernels, "PAIRS", pairs)
    pair, W = sample(rng, ns, nt), rng.normal(size=(6, 3))
    found = pair_statistics(pair, W, kernels=SMALL, n_neighbors=3, random_state=random_state)
    d, h, tau = naive(pair, W, SMALL, 3, random_state)
    np.testing.assert_allclose(found.d, d, atol=1e-12)
    if min(ns, nt) > 1:
        np.testing.assert_allclose(found.Q, np.cov(h), atol=1e-12)
    else:
        np.testing.assert_array_equal(found.Q, 0.0)
    if nt > 2:  # all pairs of two rows are neighbours
        np.testing.assert_allclose(found.tau, tau, rtol=1e-10)


def test_d_and_Q_are_mean_and_variance_of_the_same_terms(rng):
    pair, W = sample(rng, 12, 12), rng.normal(size=(6, 3))
    found = pair_statistics(pair, W, kernels=SMALL)
    _, h, _ = naive(pair, W, SMALL, 5, 0)
    np.testing.assert_allclose(found.d, h.mean(axis=1), atol=1e-14)
    beta = rng.uniform(size=len(SMALL))
    assert beta @ found.Q @ beta == pytest.approx(np.var(beta @ h, ddof=1), rel=1e-10)
    printed = pair_statistics(pair, W, kernels=SMALL, q_mode="diag")
    assert beta @ printed.Q @ beta == pytest.approx(beta**2 @ np.var(h, axis=1, ddof=1), rel=1e-10)
    np.testing.assert_array_equal(printed.d, found.d)
    np.testing.assert_array_equal(printed.tau, found.tau)


@pytest.mark.parametrize("step", [0.25, 0.5, 1.0, 0.3, 2.0])
def test_squares_are_exponentials(rng, step):
    bank = KernelBank(-6 * step, 4 * step, step)
    D = rng.uniform(0, 3, size=(5, 4))
    seen = []
    for k, values in bank.evaluate(D, 0.7):
        np.testing.assert_allclose(values, np.exp(-D / (2 ** bank.exponents[k] * 0.7)), rtol=1e-11)
        seen.append(k)
    assert seen == list(reversed(range(len(bank))))


@pytest.mark.parametrize(("ns", "nt"), [(300, 170), (170, 300), (257, 257)])
def test_blocks_do_not_show(rng, ns, nt):
    """More rows than a block holds: the sums are those of the whole."""
    pair, W = sample(rng, ns, nt, 4), rng.normal(size=(4, 2))
    found = pair_statistics(pair, W, kernels=KernelBank(-1, 1, 1), random_state=None)
    Zs, Zt, n = pair.source.X @ W, pair.target.X @ W, min(ns, nt)
    D = lambda A, B: ((A[:, None] - B[None]) ** 2).sum(axis=2)  # noqa: E731
    eta = D(Zs, Zt).mean()
    for k, p in enumerate((-1, 0, 1)):
        K = lambda A, B, w=2.0**p * eta: np.exp(-D(A, B) / w)  # noqa: E731
        expected = K(Zs, Zs).mean() + K(Zt, Zt).mean() - 2 * K(Zs, Zt).mean()
        assert found.d[k] == pytest.approx(expected, abs=1e-13)
        S, T = Zs[:n], Zt[:n]
        h = K(S, S) + K(T, T) - K(S, T) - K(S, T).T
        assert found.Q[k, k] == pytest.approx(np.var(h, ddof=1), rel=1e-10)


def test_invariances(rng):
    pair, W = sample(rng, 40, 30), rng.normal(size=(6, 3))
    base = pair_statistics(pair, W)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for other in (W * 1e3, W * 1e-3, W @ R, -W):
        moved = pair_statistics(pair, other)
        for name in ("d", "Q", "tau"):
            np.testing.assert_allclose(
                getattr(moved, name), getattr(base, name), rtol=1e-8, atol=1e-12
            )
    shuffled = DomainPair(
        pair.source.take(rng.permutation(40)), pair.target.take(rng.permutation(30))
    )
    again = pair_statistics(shuffled, W)
    np.testing.assert_allclose(again.d, base.d, atol=1e-12)
    np.testing.assert_allclose(again.tau, base.tau, rtol=1e-9)


def test_identical_rows_in_identical_order_have_no_distance_and_no_variance(rng):
    X = rng.normal(size=(20, 5))
    found = pair_statistics(DomainPair(Domain(X), Domain(X)), np.eye(5, 2), random_state=None)
    np.testing.assert_allclose(found.d, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.Q, 0.0, atol=1e-12)


@pytest.mark.parametrize("at", [0, 1])
def test_a_far_outlier_leaves_d_and_Q_exact(rng, at):
    rows = [rng.normal(size=(12, 6)), rng.normal(size=(12, 6))]
    rows[at][5] += 1e6
    pair, W = DomainPair(*map(Domain, rows)), rng.normal(size=(6, 3))
    found = pair_statistics(pair, W, kernels=SMALL)
    d, h, _ = naive(pair, W, SMALL, 5, 0)
    np.testing.assert_allclose(found.d, d, atol=1e-12)
    np.testing.assert_allclose(found.Q, np.cov(h), atol=1e-12)


def test_Q_is_symmetric_and_positive_semi_definite(rng):
    outlier = rng.normal(size=(25, 6))
    outlier[0] += 1e6
    repeated = np.repeat(rng.normal(size=(5, 6)), 5, axis=0)
    for rows in (rng.normal(size=(25, 6)), outlier, repeated):
        pair = DomainPair(Domain(rng.normal(size=(25, 6)) + 0.3), Domain(rows))
        Q = pair_statistics(pair, rng.normal(size=(6, 3))).Q
        np.testing.assert_array_equal(Q, Q.T)
        assert np.linalg.eigvalsh(Q).min() > -1e-13 * np.trace(Q)


def test_labels_are_not_read(rng):
    pair, W = sample(rng), rng.normal(size=(6, 2))
    labelled = DomainPair(pair.source, Domain(pair.target.X, np.arange(len(pair.target))))
    first, second = pair_statistics(pair, W), pair_statistics(labelled, W)
    for name in ("d", "Q", "tau"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize(
    ("W", "options", "sentence"),
    [
        (
            np.ones((5, 2)),
            {},
            r"W must be finite with one row per feature \(6\), got shape \(5, 2\)",
        ),
        (np.full((6, 2), np.nan), {}, "W must be finite"),
        (np.zeros((6, 2)), {}, "W must not map all rows of both domains to one point"),
        (
            np.ones((6, 2)),
            {"n_neighbors": 0},
            "n_neighbors must be a whole number of at least 1, got 0",
        ),
        (
            np.ones((6, 2)),
            {"random_state": -1},
            "random_state must be a whole number of at least 0, got -1",
        ),
        (np.ones((6, 2)), {"q_mode": "trace"}, "q_mode must be one of full, diag, got 'trace'"),
        (np.ones((6, 2)), {"kernels": 33}, "kernels must be a KernelBank, got int"),
    ],
)
def test_bad_input(rng, W, options, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        pair_statistics(sample(rng), W, **options)


def test_bad_pairs(rng):
    with pytest.raises(InvalidInputError, match="pair must be a DomainPair, got tuple"):
        pair_statistics((1, 2), np.ones((6, 2)))
    with pytest.raises(InvalidInputError, match="target must have at least 2 rows, got 1"):
        pair_statistics(sample(rng, 5, 1), np.ones((6, 2)))


def test_banks():
    assert len(KernelBank()) == 33
    for bad in ((1, 0, 0.5), (0, 1, 0.3), (0, 1, -1), (0, 1, 0)):
        with pytest.raises(
            InvalidInputError, match="first, last and step must give an increasing range"
        ):
            KernelBank(*bad)
    with pytest.raises(InvalidInputError, match=r"Q must have shape \(33, 33\), got \(3, 3\)"):
        PairStatistics(np.ones(33), np.ones((3, 3)), np.ones(33), KernelBank(), 5)


def test_a_part_of_the_bank(rng):
    pair = DomainPair(Domain(rng.normal(size=(9, 3))), Domain(rng.normal(size=(8, 3))))
    part = KernelBank(-1, 1, 1)
    wide, narrow = (pair_statistics(pair, np.eye(3), kernels=k) for k in (SMALL, part))
    found = wide.restrict(part)
    assert found.kernels == part
    for name in ("d", "Q", "tau"):
        assert np.allclose(getattr(found, name), getattr(narrow, name), rtol=1e-12)
    with pytest.raises(
        InvalidInputError, match=r"^kernels must be among those of the statistics, "
    ):
        wide.restrict(KernelBank(-4, 0, 1))


def test_a_sparse_identity_gives_the_statistics_of_the_original_features(rng):
    pair = DomainPair(Domain(rng.normal(size=(8, 4))), Domain(rng.normal(size=(9, 4)) + 1))
    found = [pair_statistics(pair, W, kernels=SMALL) for W in (np.eye(4), sparse.eye_array(4))]
    for name in ("d", "Q", "tau"):
        np.testing.assert_allclose(*(getattr(each, name) for each in found))
    with pytest.raises(InvalidInputError, match="W must be finite with one row per feature"):
        pair_statistics(pair, np.nan * sparse.eye_array(4))
