"""The objective is what the statistics say, and its gradient is that of central differences."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from l2t import Domain, DomainPair, ReflectionFunction
from l2t.exceptions import InvalidInputError
from l2t.numerics import Grassmann, gradient_error, minimize_on_manifold
from l2t.paper import ConvexReflection, Objective, discrepancy, kernel_stack, separation
from l2t.statistics import KernelBank, pair_statistics

SIZES = [(13, 11), (9, 14), (10, 10), (1, 7)]


WEIGHTS = ReflectionFunction(np.linspace(0.2, 1.0, 33), 3.0, 20.0, 0.7, n_neighbors=3)


def sample(rng, ns=13, nt=11, m=6, dtype=np.float64):
    Xs, Xt = rng.normal(size=(ns, m)), rng.normal(size=(nt, m)) + 0.4
    return DomainPair(Domain(Xs.astype(dtype)), Domain(Xt.astype(dtype)))


def formula(pair, W, r, random_state=0):
    statistics = pair_statistics(
        pair, W, kernels=r.kernels, n_neighbors=r.n_neighbors, random_state=random_state
    )
    Q = statistics.Q if r.q_mode == "full" else np.diag(np.diag(statistics.Q))
    tau = r.beta @ statistics.tau
    return (
        r.beta @ statistics.d + r.lambda_ * r.beta @ Q @ r.beta + (r.mu / tau if tau > 0 else 0.0)
    )


@pytest.mark.parametrize("q_mode", ["full", "diag"])
@pytest.mark.parametrize("random_state", [0, 5, None])
@pytest.mark.parametrize(("ns", "nt"), SIZES)
def test_value_is_the_formula_of_the_statistics(rng, ns, nt, random_state, q_mode):
    pair, W = sample(rng, ns, nt), rng.normal(size=(6, 3))
    for terms in ({}, {"lambda_": 0.0}, {"mu": 0.0}, {"lambda_": 0.0, "mu": 0.0}):
        r = replace(WEIGHTS, q_mode=q_mode, **terms)
        value, _ = Objective(pair, r, random_state)(W)
        assert value == pytest.approx(formula(pair, W, r, random_state), rel=1e-10)


TERMS = {
    "all": {},
    "d": {"lambda_": 0.0, "mu": 0.0},
    "Q": {"beta": np.full(33, 1e-3), "lambda_": 1e6, "mu": 0.0},  # beta'd is nothing beside it
    "tau": {"beta": np.full(33, 1e-9), "lambda_": 0.0, "mu": 1e-6},
    "narrow kernels of no weight": {"beta": np.r_[np.zeros(9), np.ones(20), np.zeros(4)]},
    "no octaves": {"kernels": KernelBank(-0.9, 2.1, 0.3), "beta": np.ones(11)},
}


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("q_mode", ["full", "diag"])
@pytest.mark.parametrize(("ns", "nt"), SIZES)
def test_gradient_is_that_of_central_differences(rng, ns, nt, q_mode, term):
    pair, W = sample(rng, ns, nt), rng.normal(size=(6, 3))
    weights = replace(WEIGHTS, q_mode=q_mode, **TERMS[term])
    objective = Objective(pair, weights)
    assert gradient_error(objective, W) < 1e-6
    assert objective(W)[0] == pytest.approx(formula(pair, W, weights), rel=1e-10)


def convex(*rows, **changed):
    """Return the convex form with equal weights of some terms: "d", "Q" and "tau"."""
    of_kernels = np.linspace(1.0, 0.2, 33) * np.arange(33) % 0.7  # some narrow, some wide
    weights = np.stack([of_kernels * (name in rows) for name in ("d", "Q", "tau")])
    return ConvexReflection(weights, 0.3, **{"n_neighbors": 3} | changed)


@pytest.mark.parametrize("rows", [("d", "Q", "tau"), ("d",), ("Q",), ("tau",), ("d", "tau")])
@pytest.mark.parametrize(("ns", "nt"), SIZES)
def test_the_convex_form(rng, ns, nt, rows):
    """Its value is that of the statistics, its gradient that of central differences."""
    pair, W = sample(rng, ns, nt), rng.normal(size=(6, 3))
    # Narrow kernels have tau's of very different sizes.
    function = convex(*rows, sizes=rng.uniform(0.5, 2.0, (3, 33)))
    objective = Objective(pair, function)
    statistics = pair_statistics(pair, W, n_neighbors=3)
    value = objective(W)[0]
    assert value == pytest.approx(function.inverse(statistics) - 0.3, rel=1e-9)
    assert gradient_error(objective, W) < 1e-6 or value == 0.0


def test_the_convex_form_in_blocks(rng, monkeypatch):
    pair, W = sample(rng, 20, 31), rng.normal(size=(6, 3))
    value, gradient = Objective(pair, convex("d", "Q", "tau"))(W)
    monkeypatch.setattr(discrepancy, "BLOCK", 7)
    monkeypatch.setattr(discrepancy, "MAX_STORED", 0)
    again, same = Objective(pair, convex("d", "Q", "tau"))(W)
    assert again == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(same, gradient, atol=1e-12 * np.abs(gradient).max())


@pytest.mark.parametrize("weights", [WEIGHTS, convex("d", "Q", "tau")])
def test_scale_and_rotation_change_nothing(rng, weights):
    objective, W = Objective(sample(rng, 40, 30), weights), rng.normal(size=(6, 3))
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    value, gradient = objective(W)
    for other in (W * 1e3, W * 1e-3, W @ R, -W):
        assert objective(other)[0] == pytest.approx(value, rel=1e-9)
    size = np.linalg.norm(gradient) * np.linalg.norm(W)
    assert abs(np.vdot(gradient, W)) < 1e-10 * size
    np.testing.assert_allclose(W.T @ gradient, gradient.T @ W, atol=1e-10 * size)


@pytest.mark.parametrize("m", [6, 50])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_span_is_enough(rng, m, dtype):
    pair, W = sample(rng, 13, 11, m, dtype), rng.normal(size=(m, 3))
    objective, span = Objective(pair, WEIGHTS), pair.span
    value, gradient = objective(W)
    inside, slope = objective.in_span(span.lower(W))
    assert inside == value == pytest.approx(formula(pair, W, WEIGHTS), rel=1e-10)
    assert gradient.dtype == slope.dtype == np.float64
    np.testing.assert_allclose(span.lower(gradient), slope, atol=1e-12 * np.abs(slope).max())
    assert np.linalg.norm(gradient) == pytest.approx(np.linalg.norm(slope)), "nothing outside"


@pytest.mark.parametrize("q_mode", ["full", "diag"])
@pytest.mark.parametrize(("ns", "nt"), [(30, 23), (20, 31), (25, 25)])
def test_blocks_and_memory_do_not_show(rng, monkeypatch, ns, nt, q_mode):
    pair, W = sample(rng, ns, nt), rng.normal(size=(6, 3))
    for r in (replace(WEIGHTS, q_mode=q_mode), replace(WEIGHTS, lambda_=0.0)):
        value, gradient = Objective(pair, r)(W)
        with monkeypatch.context() as small:
            small.setattr(discrepancy, "BLOCK", 7)
            small.setattr(discrepancy, "MAX_STORED", 0)
            small.setattr(separation, "MAX_STORED", 0)
            small.setattr(separation, "CHUNK", 11)
            small.setattr(kernel_stack, "CHUNK", 13)
            again, same = Objective(pair, r)(W)
        assert again == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(same, gradient, atol=1e-12 * np.abs(gradient).max())


@pytest.mark.parametrize("largest", [0.0, 1e-3, 1.0, 50.0])
@pytest.mark.parametrize("rows", [1, 4])
def test_sums_over_kernels(rng, largest, rows):
    """Whether the widest kernels come from the series or from exponentials."""
    bank, weights = KernelBank(), rng.uniform(size=(rows, 33))
    x = largest * rng.uniform(size=(3, 20))
    stack = kernel_stack.KernelStack(bank, weights[0])
    F, slopes = stack.sums(x, weights[:, stack.index])
    rates = 2.0**-bank.exponents
    K = np.exp(-rates[:, None, None] * x)
    np.testing.assert_allclose(F, np.tensordot(weights, K, 1), rtol=1e-10)
    np.testing.assert_allclose(slopes, np.tensordot(weights * rates, K, 1), rtol=1e-10)


def test_without_weights_there_is_nothing(rng):
    value, gradient = Objective(sample(rng), replace(WEIGHTS, beta=np.zeros(33)))(
        rng.normal(size=(6, 2))
    )
    assert value == 0.0
    assert not gradient.any()


def test_identical_domains_have_no_discrepancy(rng):
    X = rng.normal(size=(20, 5))
    pair = DomainPair(Domain(X), Domain(X))
    value, gradient = Objective(pair, replace(WEIGHTS, mu=0.0), None)(rng.normal(size=(5, 2)))
    assert value == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-9)


def test_whatever_the_target(rng):
    X = rng.normal(size=(30, 5))
    outlier, few = X.copy(), X[:2]
    outlier[0] += 1e6
    targets = {
        "duplicates": np.repeat(X[:6], 5, axis=0),
        "outlier": outlier,
        "grid": np.array([[i, j, 0, 0, 0] for i in range(6) for j in range(5)], dtype=float),
        "two rows": few,
    }
    W = rng.normal(size=(5, 2))
    for name, rows in targets.items():
        pair = DomainPair(Domain(X + 1), Domain(rows))
        value, gradient = Objective(pair, WEIGHTS)(W)
        assert value == pytest.approx(formula(pair, W, WEIGHTS), rel=1e-8), name
        assert np.isfinite(gradient).all(), name


def test_tau_at_its_bound_has_no_gradient(rng):
    """Neighbours that coincide under W make tau endless, two rows make it nothing."""
    rows = np.repeat(rng.normal(size=(5, 4)), 2, axis=0)
    rows[1::2, 3] += 1e-3  # neighbours differ in what W does not see
    r = replace(WEIGHTS, lambda_=0.0, n_neighbors=1)
    W = np.eye(4, 2)
    for target, tau in ((rows, 1e12), (rows[:2] + np.eye(2, 4), 1e-12)):
        pair = DomainPair(Domain(rng.normal(size=(6, 4))), Domain(target))
        value, gradient = Objective(pair, r)(W)
        without, slope = Objective(pair, replace(r, mu=0.0))(W)
        assert value - without == pytest.approx(r.mu / (r.beta.sum() * tau), abs=1e-12, rel=1e-9)
        np.testing.assert_array_equal(gradient, slope)


@pytest.mark.parametrize(
    ("W", "sentence"),
    [
        (np.ones((5, 2)), r"W must be finite with one row per feature \(6\), got shape \(5, 2\)"),
        (np.ones(6), r"W must be finite with one row per feature \(6\), got shape \(6,\)"),
        (np.full((6, 2), np.nan), "W must be finite"),
        (np.zeros((6, 2)), "W must not map all rows of both domains to one point"),
        (np.eye(6)[:, 5:], "W must not map all rows of both domains to one point"),
    ],
)
def test_bad_w(rng, W, sentence):
    pair = sample(rng)
    constant = DomainPair(*(Domain(np.c_[d.X[:, :5], np.full(len(d.X), 0.3)]) for d in
                            (pair.source, pair.target)))  # fmt: skip
    with pytest.raises(InvalidInputError, match=sentence):
        Objective(constant, WEIGHTS)(W)


def test_bad_pairs(rng):
    with pytest.raises(InvalidInputError, match="pair must be a DomainPair, got str"):
        Objective("pair", WEIGHTS)
    with pytest.raises(InvalidInputError, match="target must have at least 2 rows, got 1"):
        Objective(sample(rng, 3, 1), WEIGHTS)
    with pytest.raises(
        InvalidInputError, match="pair must have rows that differ, got identical rows"
    ):
        Objective(DomainPair(Domain(np.ones((3, 2))), Domain(np.ones((4, 2)))), WEIGHTS)
    V = np.ones((2, 1))
    with pytest.raises(
        InvalidInputError, match="V must be finite with one row per dimension of the"
    ):
        Objective(sample(rng), WEIGHTS).in_span(V)


@pytest.mark.parametrize("budget", [20, 40, 80])
def test_the_search_is_as_good_as_that_of_scipy(pair, budget):
    """Conjugate gradients both, from PCA, as many evaluations each."""
    objective = Objective(pair, replace(WEIGHTS, beta=np.full(33, 1 / 33))).in_span
    start = np.eye(pair.span.rank, 3)

    def best(search):
        seen = []

        def fun(V):
            if len(seen) == budget:
                raise StopIteration
            value, gradient = objective(V)
            seen.append(value)
            return value, gradient

        with contextlib.suppress(StopIteration):
            search(fun)
        return min(seen)

    def through_qr(fun):
        def flat(a):
            Q, R = np.linalg.qr(a.reshape(start.shape))
            value, G = fun(Q)
            return value, np.linalg.solve(R, (G - Q @ (Q.T @ G)).T).T.ravel()

        minimize(flat, start.ravel(), jac=True, method="CG", options={"maxiter": 1000})

    ours = best(lambda fun: minimize_on_manifold(fun, start, Grassmann(), max_iter=1000, tol=0.0))
    assert ours <= best(through_qr) * (1 + 1e-9)
