"""What labelled targets of the past say of the features."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair, PastTargets, infer, open_store
from l2t.exceptions import InvalidInputError
from l2t.inference.trials import Trial, without_labels
from tests.experiences.store.contract import random_run


def past_target(seed, m=12, n=30, shift=0.0):
    """Three classes along the first axes, with a large nuisance along the last one."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    X = 0.3 * rng.normal(size=(n, m)) + shift
    X[:, -1] += 5.0 * rng.normal(size=n)
    X[np.arange(n), codes] += 2.0
    return Domain(X, codes)


@pytest.fixture
def past():
    return PastTargets([past_target(seed) for seed in range(8)])


def test_it_follows_its_formula():
    targets = [past_target(0), past_target(1, n=40)]
    m, C = 12, 6
    blocks = [t.X[t.codes == c] for t in targets for c in range(3)]
    rows = np.concatenate([block - block.mean(axis=0) for block in blocks])
    means = np.array([block.mean(axis=0) for block in blocks])
    within = np.cov(rows.T, bias=True)
    between = np.cov(means.T, bias=True)

    def power(S, exponent, ridge):
        values, vectors = np.linalg.eigh(S)
        return vectors @ np.diag((values + ridge * values.mean()) ** exponent) @ vectors.T

    A = power(within, -0.5, np.sqrt(m / C))
    T = A @ power(A @ between @ A, 0.5, m / C)
    past = PastTargets(targets)
    assert (past.n_classes, past.n_features) == (C, m)
    np.testing.assert_allclose(past.T / np.linalg.norm(past.T), T / np.linalg.norm(T), atol=1e-10)
    assert np.linalg.norm(past.T) == pytest.approx(np.sqrt(m))


def test_nuisances_become_small_and_what_tells_classes_apart_large(past):
    sizes = np.linalg.norm(past.T, axis=1)
    assert sizes[-1] < 0.5 * sizes[3:-1].min()
    assert sizes[:3].min() > 1.1 * sizes[3:-1].max()


def test_few_classes_move_it_little():
    one = PastTargets([past_target(0).take(np.arange(30) % 3 == 0)])
    many = PastTargets([past_target(seed) for seed in range(40)])

    def distance(past):
        return np.linalg.norm(past.T - np.eye(12) * np.trace(past.T) / 12)

    assert distance(one) < distance(many)


def test_rows_count_once():
    first, again = past_target(0), past_target(0)
    once, twice = PastTargets([first]), PastTargets([first, again])
    assert twice.n_classes == once.n_classes == 3
    np.testing.assert_array_equal(once.T, twice.T)
    rest = PastTargets([first.take(np.arange(15)), first])
    assert rest.n_classes == pytest.approx(3 + 3 * 0.5)


def test_rotations_and_shifts_and_scale_do_not_matter(past):
    rng = np.random.default_rng(1)
    U, _ = np.linalg.qr(rng.normal(size=(12, 12)))
    turned = PastTargets(
        [Domain(3.0 * past_target(s).X @ U + 7.0, past_target(s).codes) for s in range(8)]
    )
    np.testing.assert_allclose(turned.T @ turned.T.T, U.T @ past.T @ past.T.T @ U, atol=1e-8)


def test_the_search_begins_where_the_past_sees_the_target(past):
    pair = DomainPair(past_target(50, shift=1.0), past_target(51, n=60))
    with_past, without = (infer(without_labels(pair), n_labels=15, past=p) for p in (past, None))
    trial = Trial(pair, (3,), 10, 0)
    gains = [trial.ratios(pair.target.X @ found.W)[0] for found in (with_past, without)]
    assert gains[0] > gains[1]
    assert with_past.start == "spectrum"


def test_no_label_of_the_new_target_is_seen(past):
    source, target = past_target(60), past_target(61)
    named = DomainPair(source, Domain(target.X, target.y, labeled=np.arange(30) < 15))
    swapped = DomainPair(source, Domain(target.X, target.y[::-1], labeled=np.arange(30) < 15))
    first, second = (infer(pair, past=past) for pair in (named, swapped))
    np.testing.assert_array_equal(first.W, second.W)


def test_rows_of_the_new_target_are_left_out(past):
    rest = [past_target(seed) for seed in range(8) if seed != 3]
    first, second, third = past_target(3), past_target(4), past_target(5)
    overlap = Domain(np.concatenate([second.X[:20], second.X[:4], np.ones((2, 12))]))
    cases = (
        (first, PastTargets(rest)),
        (Domain(first.X.astype(np.float32)), PastTargets(rest)),
        (overlap, PastTargets([*rest[:3], second.take(np.arange(30) >= 20), *rest[4:], first])),
        # One row of a class is left, which tells nothing of it.
        (third.take(np.arange(30) != 0), PastTargets([past_target(s) for s in range(8) if s != 5])),
    )
    source = past_target(9)
    for target, expected in cases:
        np.testing.assert_allclose(past.without(target)._within, expected._within, atol=1e-5)
    for target, expected in (cases[0], cases[3]):
        found = past.without(target)
        assert found.n_classes == expected.n_classes == 21
        np.testing.assert_allclose(found.T, expected.T, atol=1e-10)
        W, expected_W = (infer(DomainPair(source, target), past=p).W for p in (past, expected))
        np.testing.assert_allclose(W, expected_W, atol=1e-8)
    assert past.without(overlap).n_classes == pytest.approx(21 + 3 * 10 / 30)
    assert past.without(source) is past
    # Once more changes nothing, and the whole past is as it was.
    np.testing.assert_array_equal(past.without(first).without(first).T, past.without(first).T)
    assert past.n_classes == 24


def test_a_past_without_rows_changes_nothing():
    target = past_target(3)
    left = PastTargets([target]).without(target)
    assert left.n_classes == 0
    np.testing.assert_array_equal(left.T, np.eye(12))


def test_targets_can_be_taken_in_later(past):
    later = PastTargets([past_target(0)]).and_also(past_target(seed) for seed in range(8))
    assert later.n_classes == past.n_classes
    np.testing.assert_allclose(later.T, past.T, atol=1e-10)
    with pytest.raises(InvalidInputError, match=r"^targets must have the same number of features"):
        past.and_also([past_target(0, m=5)])


def test_a_store_is_remembered():
    with open_store("memory://") as store:
        for number in range(6):
            store.add(random_run(number))
        past = PastTargets.of(store)
        assert (past.n_features, past.n_classes) == (4, 9)
        known = random_run(1).pair.target
        less = PastTargets.of(store, like=known)
        assert less.n_classes == 6
        with open_store("memory://") as single:
            single.add(random_run(1))
            with pytest.raises(InvalidInputError, match=r"^store must have targets with other"):
                PastTargets.of(single, like=known)
        other = Domain(np.random.default_rng(0).normal(size=(5, 7)))
        with pytest.raises(InvalidInputError, match=r"^targets must be one or more domains"):
            PastTargets.of(store, like=other)


def test_what_cannot_be():
    with pytest.raises(
        InvalidInputError, match=r"^targets must be one or more domains in which a class"
    ):
        PastTargets([])
    with pytest.raises(
        InvalidInputError, match=r"^targets must be one or more domains in which a class"
    ):
        PastTargets([Domain(np.eye(3))])
    with pytest.raises(
        InvalidInputError, match=r"^targets must have the same number of features, got 12"
    ):
        PastTargets([past_target(0), past_target(0, m=5)])
    wide = Domain(np.zeros((2, 9000), dtype=np.float32), [0, 0])
    with pytest.raises(
        InvalidInputError, match=r"^targets must have at most 8192 features, got 9000$"
    ):
        PastTargets([wide])
    pair = DomainPair(past_target(0, m=5), past_target(1, m=5))
    with pytest.raises(InvalidInputError, match=r"^past must have the pair's 5 features, got 12$"):
        infer(pair, past=PastTargets([past_target(0)]))
    with pytest.raises(InvalidInputError, match=r"^past must be a PastTargets, got str$"):
        infer(pair, past="yesterday")


def test_a_row_that_comes_again_in_its_target_counts_once():
    target = past_target(0)
    again = target.take([*range(30), *range(12)])
    np.testing.assert_allclose(PastTargets([again]).T, PastTargets([target]).T, atol=1e-10)
    with pytest.raises(InvalidInputError, match=r"^targets must be one or more domains"):
        PastTargets([Domain(np.ones((4, 3)), [0, 0, 1, 1])])
