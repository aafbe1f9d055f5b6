"""Known classes: labelled rows of several origins, without the target's."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from l2t import Domain
from l2t.domains import KnownClasses, normalize
from l2t.exceptions import InvalidInputError


@pytest.fixture
def domain(rng):
    return Domain(rng.normal(size=(30, 6)), np.arange(30) % 3)


def test_classes_of_different_origins_are_never_merged(domain, rng):
    other = Domain(rng.normal(size=(30, 6)), np.arange(30) % 3)
    known = KnownClasses([domain, other])
    assert (known.n_classes, len(known), known.n_features) == (6, 60, 6)
    np.testing.assert_array_equal(known.weights, np.ones(6))
    assert (np.diff(known.codes) >= 0).all()
    for code in range(6):
        origin = (domain, other)[code // 3]
        ours, theirs = known.X[known.codes == code], origin.X[origin.y == code % 3]
        np.testing.assert_array_equal(np.unique(ours, axis=0), np.unique(theirs, axis=0))


def test_only_labels_that_are_known_are_used(rng):
    labeled = np.arange(30) < 9
    domain = Domain(rng.normal(size=(30, 6)), np.arange(30) % 3, labeled=labeled)
    assert len(KnownClasses([domain])) == 9
    hidden = Domain(domain.X, np.where(labeled, domain.y, -1), labeled=labeled)
    np.testing.assert_array_equal(KnownClasses([hidden]).X, KnownClasses([domain]).X)


def test_draws_from_the_same_data_are_one_class(domain, rng):
    draws = [domain.take(rng.permutation(30)[:20]) for _ in range(6)]
    known = KnownClasses(draws)
    assert (known.n_classes, len(known)) == (3, 30)
    np.testing.assert_array_equal(known.weights, 1.0)
    for code in range(3):
        np.testing.assert_array_equal(
            np.sort(known.X[known.codes == code], axis=0),
            np.sort(domain.X[domain.y == code], axis=0),
        )


def test_one_row_in_common_does_not_make_two_classes_one(domain, rng):
    empty = np.zeros((4, 6))  # such as a text without a known word
    ours, theirs = (
        Domain(np.concatenate([empty, rng.normal(size=(8, 6))]), ["a"] * 12) for _ in range(2)
    )
    known = KnownClasses([ours, theirs])
    assert (known.n_classes, len(known)) == (2, 17)
    np.testing.assert_allclose(known.weights, [0.75, 8 / 12])


def test_classes_of_one_domain_are_never_made_one(domain):
    coarse = Domain(domain.X, domain.y == 0)
    known = KnownClasses([coarse, domain])
    assert (known.n_classes, len(known)) == (2, 30)
    finer = KnownClasses([domain.take(np.arange(15)), coarse])
    assert finer.n_classes == 3


def test_rows_count_once_and_single_rows_do_not_count(domain):
    once, twice = KnownClasses([domain]), KnownClasses([domain, domain])
    assert twice.n_classes == once.n_classes == 3
    lines = Domain(domain.X, domain.y == 0)
    other = KnownClasses([domain, lines])  # two classes in one: rows stay where they were first
    assert (other.n_classes, len(other)) == (3, 30)
    lonely = KnownClasses([domain.take([0, 1, 2, 3])])
    assert (lonely.n_classes, len(lonely)) == (1, 2)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 250.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_the_target_are_removed_whatever_their_scale(domain, scale, dtype):
    target = Domain((domain.X[:12] * scale).astype(dtype))
    left = KnownClasses([domain]).without(target)
    assert len(left) == 18
    np.testing.assert_array_equal(left.weights, 1.0)
    np.testing.assert_array_equal(np.sort(left.X, axis=0), np.sort(domain.X[12:], axis=0))


def test_other_rows_stay(domain, rng):
    known = KnownClasses([domain])
    for X in (-domain.X, domain.X + 0.5, rng.normal(size=(50, 6))):
        assert known.without(Domain(X)) is known


def test_with_two_features_rows_must_be_equal(rng):
    X = rng.normal(size=(20, 2))
    known = KnownClasses([Domain(X, np.arange(20) % 2)])
    assert known.without(Domain(2 * X)) is known
    assert len(known.without(Domain(X[:4]))) == 16


def test_all_rows_removed_leave_nothing(domain):
    nothing = KnownClasses([domain]).without(domain)
    assert (nothing.n_classes, len(nothing)) == (0, 0)
    assert nothing.without(domain) is nothing
    assert KnownClasses([domain]).merge(nothing).n_classes == 3


def test_merge_is_what_both_together_are(domain, rng):
    other = Domain(np.concatenate([domain.X[:5], rng.normal(size=(20, 6))]), np.arange(25) % 2)
    merged = KnownClasses([domain]).merge(KnownClasses([other]))
    together = KnownClasses([domain, other])
    assert merged.fingerprint == together.fingerprint
    with pytest.raises(InvalidInputError, match="must have the same features, got 6 and 2"):
        merged.merge(KnownClasses([Domain(rng.normal(size=(4, 2)), [0, 0, 1, 1])]))


def test_the_span_keeps_distances(rng):
    X = rng.normal(size=(50, 6)) @ rng.normal(size=(6, 300))
    known = KnownClasses([Domain(X, np.arange(50) % 5)])
    span = known.span
    assert (span.rank, span.basis.shape) == (6, (300, 6))
    np.testing.assert_allclose(span.basis.T @ span.basis, np.eye(6), atol=1e-10)
    centred = known.X - known.X.mean(axis=0)
    np.testing.assert_allclose(span.rows @ span.basis.T, centred, atol=1e-9)
    assert span.outside == pytest.approx(0.0, abs=1e-9)
    reduced = known.reduced()
    assert reduced.n_features == 6
    np.testing.assert_array_equal(reduced.codes, known.codes)


def test_what_lies_outside_of_the_span_is_measured(rng):
    X = rng.normal(size=(600, 300))
    known = KnownClasses([Domain(X, np.arange(600) % 5)])
    inside = np.mean(np.sum(known.span.rows**2, axis=1))
    total = np.mean(np.sum((known.X - known.X.mean(axis=0)) ** 2, axis=1))
    assert known.span.rank == 300
    assert inside + known.span.outside == pytest.approx(total)


def test_some_classes_keep_the_coordinates_of_all(domain):
    known = KnownClasses([domain])
    part = known.only([0, 2])
    assert part.n_classes == 2
    np.testing.assert_array_equal(part.span.rows, known.span.rows[known.codes != 1])
    np.testing.assert_array_equal(part.X, known.X[known.codes != 1])


def test_it_travels(domain):
    known = KnownClasses([domain])
    assert pickle.loads(pickle.dumps(known)).fingerprint == known.fingerprint


@pytest.mark.parametrize(
    ("domains", "match"),
    [
        (["photos"], "each of domains must be a Domain, got str"),
        ([Domain(np.eye(2)), Domain(np.eye(3))], "same number of features, got 2, 3"),
    ],
)
def test_what_cannot_be_is_refused(domains, match):
    with pytest.raises(InvalidInputError, match=match):
        KnownClasses(domains)


def test_labels_of_removed_rows_change_nothing(domain, rng):
    """Also where a class keeps some of its rows: its weight must not tell how many were removed."""
    target, known = Domain(domain.X[:12]), []
    for labels in (domain.y[:12], domain.y[:12][::-1], np.zeros(12, int)):
        past = Domain(domain.X, np.concatenate([labels, domain.y[12:]]))
        known.append(KnownClasses([domain.take(np.arange(20, 30)), past]).without(target))
    assert len({each.fingerprint for each in known}) == 1


def centred(domain):
    """Rows minus their mean, divided by their norm."""
    mean = domain.X.mean(axis=0)
    return normalize(Domain(domain.X - mean, domain.y, prepared=[mean, np.ones(domain.n_features)]))


PREPARATIONS = {
    "plain": lambda domain: domain,
    "scaled": lambda domain: Domain(3.0 * domain.X, domain.y),
    "rows": normalize,
    "centred": centred,
    "zscore": lambda domain: normalize(domain, "zscore"),
    "zscore of some": lambda domain: normalize(domain.take(np.arange(6, 30)), "zscore"),
    "zscore, rows": lambda domain: normalize(normalize(domain, "zscore")),
    "rows, zscore": lambda domain: normalize(normalize(domain), "zscore"),
    "twice": lambda domain: normalize(normalize(domain.take(np.arange(20)), "zscore"), "zscore"),
}


@pytest.mark.parametrize("past", PREPARATIONS)
@pytest.mark.parametrize("now", PREPARATIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_found_again_after_recorded_preparations(past, now, dtype, rng):
    X = (rng.normal(size=(30, 6)) * [1, 10, 0.1, 1, 1, 5] + [0, 3, 40, -2, 0, 1]).astype(dtype)
    domain = Domain(X, np.arange(30) % 3)
    known, target = PREPARATIONS[past](domain), PREPARATIONS[now](domain)
    removed = len(known) - len(KnownClasses([known]).without(target))
    first = 6 if "some" in past + now else 0
    last = 20 if "twice" in (past, now) else 30
    if past == now:
        assert removed == len(known)
    else:
        assert removed == last - first
    other = Domain(X + rng.normal(size=X.shape).astype(dtype), domain.y)
    assert len(KnownClasses([known]).without(PREPARATIONS[now](other))) == len(known)


def test_few_columns_are_compared_as_they_were(rng):
    for m in (1, 2, 3, 4):
        X = rng.normal(size=(20, m)) * 5 + 3
        known = KnownClasses([normalize(Domain(X, np.arange(20) % 2), "zscore")])
        assert len(known.without(Domain(X[:6]))) == 14
        assert known.without(Domain(rng.normal(size=(20, m)))) is known


def test_a_target_in_the_past_is_as_if_it_were_not_there(domain, rng):
    """Also where another past target has some of its rows, which then count once more or less."""
    target = domain.take(np.arange(12))
    other = Domain(np.concatenate([domain.X[6:], rng.normal(size=(6, 6))]), np.arange(30) % 3)
    alone = KnownClasses([other]).without(Domain(target.X))
    both = KnownClasses([target, other]).without(Domain(target.X))
    merged = KnownClasses([target]).merge(KnownClasses([other])).without(Domain(target.X))
    assert both.fingerprint == merged.fingerprint == alone.fingerprint
    np.testing.assert_array_equal(both.weights, 1.0)


def test_groups_stay_with_their_rows(domain, rng):
    grouped = Domain(domain.X, domain.y, groups=np.arange(30) // 6)
    known = KnownClasses([grouped])
    rows = [int(np.flatnonzero((row == domain.X).all(axis=1))[0]) for row in known.X]
    np.testing.assert_array_equal(known.groups, np.array(rows) // 6)
    part = known.only([0, 2])
    np.testing.assert_array_equal(part.groups, known.groups[known.codes != 1])
    np.testing.assert_array_equal(known.reduced().groups, known.groups)
    left = known.without(Domain(domain.X[:6]))
    assert (len(left), len(np.unique(left.groups))) == (24, 4)
    other = Domain(rng.normal(size=(30, 6)), np.arange(30) % 3)
    merged = known.merge(KnownClasses([other]))
    assert len(np.unique(merged.groups)) == 5 + 30  # rows without a group stand alone


def test_equal_groups_are_one_in_all_domains(domain, rng):
    grouped = Domain(domain.X, domain.y, groups=np.arange(30) // 6)
    other = Domain(rng.normal(size=(30, 6)), domain.y, groups=np.arange(30) // 6)
    assert len(np.unique(KnownClasses([grouped, other]).groups)) == 5
    draws = [grouped.take(np.arange(20)), grouped.take(np.arange(10, 30))]
    assert len(np.unique(KnownClasses(draws).groups)) == 5


def test_groups_are_part_of_the_fingerprint(domain):
    groups = np.arange(30) // 6
    first, second = (Domain(domain.X, domain.y, groups=each) for each in (groups, groups[::-1]))
    found = {KnownClasses([each]).fingerprint for each in (domain, first, second)}
    assert len(found) == 3
    assert KnownClasses([domain]).groups is None


def test_rows_that_coincide_with_target_rows_are_removed_and_counted(rng):
    """With few distinct rows, a copy of a target row cannot be told from a coincidence."""
    X = rng.integers(0, 2, size=(300, 5)).astype(float)
    known = KnownClasses([Domain(X, np.arange(300) % 6)])
    assert known.n_removed == 0
    left = known.without(Domain(X[:200]))
    assert left.n_removed == 300 - len(left)
    empty = KnownClasses()
    assert left.merge(empty).n_removed == empty.merge(left).n_removed == left.n_removed
