"""d, Q and tau against their definitions, written as loops."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair
from l2t.exceptions import InvalidInputError
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
    return np.array(d), np.cov(np.array(h)), np.array(tau)


def sample(rng, ns=13, nt=11, m=6):
    return DomainPair(Domain(rng.normal(size=(ns, m))), Domain(rng.normal(size=(nt, m)) + 0.4))


@pytest.mark.parametrize(("ns", "nt"), [(13, 11), (9, 14), (10, 10)])
@pytest.mark.parametrize("random_state", [0, 7, None])
def test_equal_to_the_loops(rng, ns, nt, random_state):
    pair, W = sample(rng, ns, nt), rng.normal(size=(6, 3))
    found = pair_statistics(pair, W, kernels=SMALL, n_neighbors=3, random_state=random_state)
    d, Q, tau = naive(pair, W, SMALL, 3, random_state)
    np.testing.assert_allclose(found.d, d, atol=1e-12)
    np.testing.assert_allclose(found.Q, Q, atol=1e-12)
    np.testing.assert_allclose(found.tau, tau, rtol=1e-10)


@pytest.mark.parametrize("step", [0.25, 0.5, 1.0, 0.3, 2.0])
def test_squares_are_exponentials(rng, step):
    bank = KernelBank(-6 * step, 4 * step, step)
    D = rng.uniform(0, 3, size=(5, 4))
    seen = []
    for k, values in bank.evaluate(D, 0.7):
        np.testing.assert_allclose(values, np.exp(-D / (2 ** bank.exponents[k] * 0.7)), rtol=1e-11)
        seen.append(k)
    assert seen == list(reversed(range(len(bank))))


def test_blocks_do_not_show(rng):
    """More rows than any block: the sums are those of the whole."""
    pair, W = sample(rng, 300, 170, 4), rng.normal(size=(4, 2))
    found = pair_statistics(pair, W, kernels=KernelBank(-1, 1, 1), random_state=None)
    Zs, Zt = pair.source.X @ W, pair.target.X @ W
    D = lambda A, B: ((A[:, None] - B[None]) ** 2).sum(axis=2)  # noqa: E731
    eta = D(Zs, Zt).mean()
    for k, p in enumerate((-1, 0, 1)):
        K = lambda A, B, w=2.0**p * eta: np.exp(-D(A, B) / w)  # noqa: E731
        assert found.d[k] == pytest.approx(
            K(Zs, Zs).mean() + K(Zt, Zt).mean() - 2 * K(Zs, Zt).mean()
        )
        S, T = Zs[:170], Zt
        h = K(S, S) + K(T, T) - K(S, T) - K(S, T).T
        assert found.Q[k, k] == pytest.approx(np.var(h, ddof=1))


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
    assert np.linalg.eigvalsh(base.Q).min() > -1e-12
    assert (base.Q == base.Q.T).all()


def test_identical_rows_in_identical_order_have_no_distance_and_no_variance(rng):
    X = rng.normal(size=(20, 5))
    found = pair_statistics(DomainPair(Domain(X), Domain(X)), np.eye(5, 2), random_state=None)
    np.testing.assert_allclose(found.d, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.Q, 0.0, atol=1e-12)


def test_tau_is_finite_and_positive_whatever_the_target(rng):
    X = rng.normal(size=(30, 5))
    duplicates = np.repeat(X[:6], 5, axis=0)
    outlier = X.copy()
    outlier[0] += 1e6
    grid = np.array([[i, j, 0, 0, 0] for i in range(6) for j in range(5)], dtype=float)
    for rows in (X, duplicates, outlier, grid, X[:2], X[:3]):
        pair = DomainPair(Domain(X + 1), Domain(rows))
        tau = pair_statistics(pair, rng.normal(size=(5, 2))).tau
        assert np.isfinite(tau).all()
        assert (tau > 0).all()


def test_labels_are_not_read(rng):
    pair, W = sample(rng), rng.normal(size=(6, 2))
    labelled = DomainPair(pair.source, Domain(pair.target.X, np.arange(len(pair.target))))
    first, second = pair_statistics(pair, W), pair_statistics(labelled, W)
    for name in ("d", "Q", "tau"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize(
    ("W", "options", "sentence"),
    [
        (np.ones((5, 2)), {}, r"W must be finite with one row a feature \(6\), got shape \(5, 2\)"),
        (np.full((6, 2), np.nan), {}, "W must be finite"),
        (np.zeros((6, 2)), {}, "W must not send all rows of both domains to one point"),
        (
            np.ones((6, 2)),
            {"n_neighbors": 0},
            "n_neighbors must be a whole number of at least 1, got 0",
        ),
    ],
)
def test_bad_input(rng, W, options, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        pair_statistics(sample(rng), W, **options)


def test_banks():
    assert len(KernelBank()) == 33
    for bad in ((1, 0, 0.5), (0, 1, 0.3), (0, 1, -1), (0, 1, 0)):
        with pytest.raises(
            InvalidInputError, match="first, last and step must give a rising range"
        ):
            KernelBank(*bad)
    with pytest.raises(InvalidInputError, match=r"Q must have shape \(33, 33\), got \(3, 3\)"):
        PairStatistics(np.ones(33), np.ones((3, 3)), np.ones(33), KernelBank(), 5)
