"""The paper's search: nothing gets worse, no label is read, and f says what it says of the W found."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair, KnownClasses, algorithms, infer, pair_statistics
from l2t.algorithms import GFK
from l2t.algorithms.classes import class_geometry
from l2t.exceptions import InvalidInputError, UnknownAlgorithmError
from l2t.numerics import squared_distances
from l2t.paper import search
from l2t.paper.plan import Plan

CONSTRAINTS = ("grassmann", "sphere")


def metric(W):
    """W W', which distances depend on, of one size."""
    return W @ W.T / np.vdot(W, W)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_no_target_label_reaches_W(pair, reflection, constraint, rng):
    n = len(pair.target)
    mask = np.arange(n) < 15
    targets = [
        Domain(pair.target.X),
        pair.target,
        Domain(pair.target.X, pair.target.y, labeled=mask),
        Domain(pair.target.X, rng.permutation(pair.target.y), labeled=mask),
    ]
    plan = Plan(constraint, 5, 3)
    starts = ("tca", "itl", "gfk")
    found = [
        search(DomainPair(pair.source, each), reflection, plan, starts=starts) for each in targets
    ]
    for each in found[1:]:
        np.testing.assert_array_equal(each.W, found[0].W)
        assert each.history == found[0].history


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_never_worse_than_any_start(pair, digit_pairs, reflection, constraint):
    for each in (pair, *digit_pairs):
        for n_iter in (0, 3):
            found = search(each, reflection, Plan(constraint, 5, n_iter))
            assert set(found.starts) == {"pca", "tca", "gfk"}
            assert found.starts[found.start] == min(found.starts.values())
            assert found.history[0] == pytest.approx(found.starts[found.start])
            assert (np.diff(found.history) <= 0).all()
            assert len(found.history) <= n_iter + 1


@pytest.mark.parametrize("n_labels", [None, 3, 40])
def test_predicted_is_what_the_function_says_of_W(pair, digit_pairs, reflection, n_labels):
    for each in (pair, digit_pairs[0]):
        found = infer(each, reflection, n_labels=n_labels, random_state=4)
        paper = found.candidates["paper"]
        statistics = pair_statistics(each, paper.W, random_state=4)
        assert paper.predicted == pytest.approx(
            reflection.predict(statistics, n_labels or 15), rel=2e-8
        )
        assert found.choice == ("paper" if paper.predicted >= 1 else "identity")
        assert found.search.predicted == paper.predicted
        assert found.search.interval is None  # the function is not calibrated


def test_steps_improve_the_best_start(pair, reflection):
    found = search(pair, reflection, Plan("grassmann", 3, 10))
    assert found.stop_reason == "max_iter"
    assert len(found.history) == 11
    assert found.history[-1] < 0.99 * found.history[0]


@pytest.mark.parametrize("n_components", [1, 4, 10, 50])
def test_orthonormal_columns(pair, reflection, n_components):
    W = search(pair, reflection, Plan("grassmann", n_components)).W
    np.testing.assert_allclose(W.T @ W, np.eye(min(n_components, 10)), atol=1e-10)


def test_orthonormal_columns_with_more_features_than_rows(reflection, rng):
    wide = DomainPair(Domain(rng.normal(size=(12, 300))), Domain(rng.normal(size=(9, 300))))
    W = search(wide, reflection, Plan(n_components=30)).W
    np.testing.assert_allclose(W.T @ W, np.eye(W.shape[1]), atol=1e-10)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_the_same_seed_gives_the_same_bits(pair, reflection, constraint):
    first, again, other = (
        search(pair, reflection, Plan(constraint), random_state=seed) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first.W, again.W)
    assert first.history == again.history != other.history


def test_starts_by_name_by_algorithm_and_by_matrix(pair, reflection):
    every = search(pair, reflection, Plan(n_iter=0), starts="all")
    assert set(every.starts) == {"pca", *algorithms.PAPER}
    few = search(pair, reflection, Plan(n_iter=0), starts=[GFK(2), "tca"])
    assert set(few.starts) == {"pca", "gfk", "tca"}
    best = search(pair, reflection, Plan("grassmann", 3, 50)).W
    for constraint in CONSTRAINTS:
        found = search(pair, reflection, Plan(constraint, 3, 0), starts={"mine": 7.0 * best})
        assert found.start == "mine"
        np.testing.assert_allclose(metric(found.W), metric(best), atol=1e-12)


def test_starts_that_cannot_be_used_say_why(pair, reflection, rng):
    unlabelled = DomainPair(Domain(pair.source.X), pair.target)
    failed = search(unlabelled, reflection, Plan(n_iter=0), starts=("itl", "gfk")).starts
    assert "needs" in str(failed["itl"])
    zero = search(pair, reflection, Plan(n_iter=0), starts={"zero": np.zeros((10, 2))}).starts
    assert zero["zero"] == "it maps all rows to one point"
    with pytest.raises(UnknownAlgorithmError, match="there is no algorithm 'magic'"):
        search(pair, reflection, Plan(), starts=["gfk", "magic"])
    with pytest.raises(
        InvalidInputError, match="candidate 'mine' must be a finite matrix with one"
    ):
        search(pair, reflection, Plan(), starts={"mine": np.ones((9, 2))})


def test_some_of_many_rows_are_enough(reflection, monkeypatch):
    rng = np.random.default_rng(5)
    ys, yt = np.arange(300) % 3, np.arange(240) % 3
    Xs = 2 * rng.normal(size=(3, 10))[ys] + rng.normal(size=(300, 10))
    Xt = 2 * rng.normal(size=(3, 10))[yt] + rng.normal(size=(240, 10)) + 0.5
    pair = DomainPair(Domain(Xs, ys), Domain(Xt, yt))
    whole = search(pair, reflection, Plan("grassmann", 4), starts=())
    monkeypatch.setitem(search.__globals__, "MAX_SEARCH_ROWS", 150)
    part = search(pair, reflection, Plan("grassmann", 4), starts=())
    assert part.W.shape == (10, 4)
    assert part.history[-1] != whole.history[-1]
    assert reflection.inverse(pair_statistics(pair, part.W)) == pytest.approx(
        whole.history[-1], rel=0.05
    )


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_side_by_side_is_the_mean_of_relative_distances(digit_pairs, reflection, constraint):
    """Squared distances under W are the sum of those under each W_u, each of mean 1 over target rows."""
    pair = digit_pairs[0]
    X = pair.target.X.astype(np.float64)
    single = [search(pair, reflection, Plan(constraint, u, 2)) for u in (3, 8)]
    both = search(pair, reflection, Plan(constraint, (8, 3), 2))
    expected = 0.0
    for each in single:
        D = squared_distances(X @ each.W.astype(np.float64))
        expected = expected + D / D.mean()
    D = squared_distances(X @ both.W.astype(np.float64))
    np.testing.assert_allclose(D, expected, atol=1e-4)
    assert both.W.shape == (64, 11)
    assert (both.start, both.starts, both.history) == (
        single[1].start,
        single[1].starts,
        single[1].history,
    )
    statistics = pair_statistics(pair, both.W)
    assert both.predicted == pytest.approx(reflection.predict(statistics), rel=1e-4)


def past(pair, digit_pairs):
    """Known classes of other rows in the features of a pair."""
    others = [each.target for each in digit_pairs[1:]] + [each.source for each in digit_pairs]
    return KnownClasses(others).without(pair.target)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_with_known_classes_the_search_is_that_of_rows_in_their_geometry(
    digit_pairs, reflection, constraint
):
    pair, plan = digit_pairs[0], Plan(constraint, 5, 3)
    known = past(pair, digit_pairs)
    T = class_geometry(known, pair.target.X)
    assert not np.allclose(T, np.eye(64) * T[0, 0], atol=1e-2)
    found = search(pair, reflection, plan, known=known)
    there = DomainPair(Domain(pair.source.X @ T, pair.source.y), Domain(pair.target.X @ T))
    expected = search(there, reflection, plan)
    np.testing.assert_allclose(found.W, T @ expected.W, atol=1e-5)
    assert found.W.dtype == pair.target.X.dtype
    assert found.history == pytest.approx(expected.history)
    assert found.predicted == pytest.approx(expected.predicted)
    if constraint == "grassmann":
        V = np.linalg.solve(T, found.W.astype(np.float64))
        np.testing.assert_allclose(V.T @ V, np.eye(5), atol=1e-4)


def test_without_a_known_class_nothing_changes(digit_pairs, reflection):
    """No class at all, or only rows of the target itself, whose labels are not read."""
    pair, plan = digit_pairs[0], Plan(n_components=5, n_iter=2)
    plain = search(pair, reflection, plan)
    for known in (KnownClasses(), KnownClasses([pair.target])):
        found = search(pair, reflection, plan, known=known)
        np.testing.assert_array_equal(found.W, plain.W)
        assert found.history == plain.history


def test_labels_of_target_rows_are_not_known(digit_pairs, reflection, rng):
    pair, plan = digit_pairs[0], Plan(n_components=5, n_iter=2)
    others = [each.source for each in digit_pairs]
    target = Domain(pair.target.X, rng.permutation(pair.target.y))
    one, other = (
        search(pair, reflection, plan, known=KnownClasses([*others, each])).W
        for each in (pair.target, target)
    )
    np.testing.assert_array_equal(one, other)


def test_matrices_are_no_starts_in_another_geometry(digit_pairs, reflection):
    known = past(digit_pairs[0], digit_pairs)
    with pytest.raises(InvalidInputError, match=r"^starts must be names or algorithms if known"):
        search(digit_pairs[0], reflection, starts={"mine": np.eye(64, 3)}, known=known)
