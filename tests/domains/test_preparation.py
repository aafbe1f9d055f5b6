"""Preparation: scaling by name, and the one that is proposed with its reason."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from l2t import Domain, normalize, prepare
from l2t.domains import KnownClasses
from l2t.domains.preparation import PREPARATIONS, _accuracies
from l2t.exceptions import InvalidInputError


def test_rows(rng):
    X = rng.normal(size=(6, 4)).astype(np.float32)
    X[2] = 0
    scaled = normalize(
        Domain(X, np.arange(6), labeled=np.ones(6, bool), groups=np.arange(6), name="n")
    )
    np.testing.assert_allclose(np.linalg.norm(scaled.X, axis=1), [1, 1, 0, 1, 1, 1], atol=1e-6)
    assert scaled.X.dtype == np.float32
    assert scaled.name == "n"
    assert scaled.labeled.all()
    np.testing.assert_array_equal(scaled.groups, np.arange(6))


def test_zscore(rng):
    X = rng.normal(size=(30, 3)) * [1, 10, 0] + [0, 5, 0.1]
    scaled = normalize(Domain(X), "zscore").X
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0, ddof=1), [1, 1, 0], atol=1e-12)


def test_zscores_of_many_float32_rows(rng):
    X = (100 + 10 * rng.normal(size=(300_000, 2))).astype(np.float32)
    X[:, 1] = 0.1
    scaled = normalize(Domain(X), "zscore").X.astype(np.float64)
    assert not scaled[:, 1].any(), "a constant column becomes 0"
    np.testing.assert_allclose(scaled[:, 0].mean(), 0, atol=1e-6)
    np.testing.assert_allclose(scaled[:, 0].std(ddof=1), 1, atol=1e-6)


def test_a_constant_column_of_many_float64_rows_becomes_0():
    X = np.column_stack([np.full(100_000, 0.1), np.arange(100_000)])
    scaled = normalize(Domain(X), "zscore")
    assert not scaled.X[:, 0].any()
    assert scaled.prepared[1, 0] == 1.0


def test_centred_rows_do_not_depend_on_the_origin(rng):
    X = rng.normal(size=(30, 3))
    scaled = normalize(Domain(X), "centred").X
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), 1)
    np.testing.assert_allclose(normalize(Domain(5 * X + [7, 0, -9]), "centred").X, scaled)


def test_none_and_nonsense():
    domain = Domain([[1.0, 2.0]])
    assert normalize(domain, "none") is domain
    with pytest.raises(InvalidInputError, match="how must be one of none, rows, centred, zscore"):
        normalize(domain, "l2")
    for how in ("zscore", "centred"):
        with pytest.raises(InvalidInputError, match=f"'{how}' needs at least 2 rows, got 1"):
            normalize(domain, how)


def test_zscores_are_recorded_and_can_be_undone(rng):
    X = rng.normal(size=(20, 4)) * [1, 5, 0.1, 2] + [0, 3, 40, -2]
    X[:, 3] = 7.0
    domain = Domain(X, np.arange(20) % 2)
    assert domain.prepared is None
    assert normalize(domain).prepared is None
    once = normalize(domain, "zscore")
    part = normalize(once.take(np.arange(12)), "zscore")
    for each, rows in ((once, X), (part, X[:12])):
        shift, scale = each.prepared
        np.testing.assert_allclose(each.X * scale + shift, rows, atol=1e-12)
    assert normalize(once).prepared is once.prepared
    assert once != Domain(once.X, once.y), "the record is part of the content"
    with pytest.raises(InvalidInputError, match="prepared must be a finite shift and a positive"):
        Domain(X, prepared=np.zeros((2, 4)))


def _classes(rng, *, noise_scale=1.0, length=0.0, offset=0.0, directions=None):
    """Return a domain of six classes on twelve columns, hidden in one of four ways."""
    centres = 3 * np.eye(6, 12) if directions is None else directions
    y = np.repeat(np.arange(6), 40)
    X = centres[y] + 0.7 * rng.normal(size=(240, 12))
    X[:, -1] *= noise_scale
    return Domain(X * np.exp(length * rng.normal(size=(240, 1))) + offset, y)


HIDDEN = {
    "none": {"directions": np.outer(np.arange(6), 3 * np.eye(12)[0])},
    "rows": {"length": 1.5},
    "zscore": {"noise_scale": 1000.0},
}


@pytest.mark.parametrize("how", HIDDEN)
def test_the_labelled_source_decides(rng, how):
    source, target = (_classes(rng, **HIDDEN[how]) for _ in range(2))
    found = prepare(source, target)
    assert found.how == how
    assert PREPARATIONS[how] in found.reason
    assert found.source == normalize(source, how)
    assert found.target == normalize(target, how)


def test_rows_are_centred_where_lengths_vary_around_a_mean(rng):
    source, target = (_classes(rng, length=0.7, offset=20.0) for _ in range(2))
    assert prepare(source, target).how == "centred"


def test_columns_decide_without_labels(rng):
    X = rng.normal(size=(50, 6)) + 3
    for rows, how, reason in (
        (X, "rows", "columns have similar scales"),
        (normalize(Domain(X)).X, "none", "rows have norm 1 already"),
        (X * [1, 1, 1, 1, 1, 100], "zscore", "times the median"),
    ):
        found = prepare(Domain(rows[:30]), Domain(rows[30:]))
        assert found.how == how
        assert reason in found.reason
        assert "too few labelled rows" in found.reason


def test_constant_columns_do_not_make_scales_uneven(rng):
    X = rng.normal(size=(3000, 9)) + 3
    X[:, 4:] = 0.1
    found = prepare(Domain(X[:2000]), Domain(X[2000:]))
    assert found.how == "rows"


def test_no_target_label_is_read(rng):
    source, target = (_classes(rng, noise_scale=1000.0) for _ in range(2))
    both = source.take(np.arange(0, 240, 2))
    shuffled = Domain(target.X, rng.permutation(target.y))
    assert prepare(source, target).reason == prepare(source, shuffled).reason
    # Rows of the source that are rows of the target count without their labels.
    labels = np.where(np.arange(240) % 2 == 0, rng.permutation(source.y), source.y)
    again = prepare(Domain(source.X, labels), Domain(both.X))
    assert again.reason == prepare(source, Domain(both.X)).reason


@pytest.mark.parametrize("how", PREPARATIONS)
def test_rows_of_the_target_are_found_again_in_the_source(rng, how):
    source = _classes(rng)
    found = prepare(source, source.take(np.arange(0, 240, 2)), how)
    left = KnownClasses([found.source]).without(found.target)
    assert len(left) == 120


def test_labels_that_are_not_marked_do_not_count(rng):
    source, target = (_classes(rng, noise_scale=1000.0) for _ in range(2))
    hidden = Domain(source.X, source.y, labeled=np.zeros(240, bool))
    assert "too few labelled rows" in prepare(hidden, target).reason


def test_groups_are_not_split(rng):
    source, target = (_classes(rng) for _ in range(2))
    together = Domain(source.X, source.y, groups=np.zeros(240))
    assert "too few labelled rows" in prepare(together, target).reason


def test_rare_classes_of_a_large_source_may_be_missing_in_the_sample(rng):
    X, y = rng.normal(size=(4000, 3)), np.arange(4000) < 4
    target = Domain(rng.normal(size=(20, 3)))
    reasons = [prepare(Domain(X, y), target, random_state=seed).reason for seed in range(8)]
    unmeasured = ["too few labelled rows" in reason for reason in reasons]
    assert any(unmeasured)
    assert not all(unmeasured)


def test_nearest_neighbours_are_found_far_from_0(rng):
    source = _classes(rng)
    far = Domain((source.X + 3e3).astype(np.float32), source.y)
    splits = [(np.arange(0, 240, 8), np.arange(1, 240, 8))]
    near, moved = (_accuracies(each.X, each.codes, splits) for each in (source, far))
    assert moved == pytest.approx(near, abs=0.05)


def test_by_name(rng):
    domain = _classes(rng)
    found = prepare(domain, domain, "rows")
    assert found.reason == "rows divided by their norm, as requested"
    assert found.pair.source == normalize(domain)
    with pytest.raises(InvalidInputError, match="how must be one of auto, none, rows"):
        prepare(domain, domain, "l2")
    with pytest.raises(InvalidInputError, match="features"):
        prepare(domain, Domain([[1.0]]))


def test_neither_the_order_of_rows_nor_that_of_columns_matters(rng):
    frame = pd.DataFrame(rng.normal(size=(90, 4)) * [1, 1, 20, 20], columns=list("abcd"))
    y, aim = np.arange(90) % 3, pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    frame["a"] += y
    expected = prepare(Domain(frame, y), Domain(aim))
    rows = rng.permutation(90)
    found = prepare(Domain(frame[list("dcba")].iloc[rows], y[rows]), Domain(aim))
    assert (found.how, found.reason) == (expected.how, expected.reason)
    assert found.source.feature_names == tuple("abcd")
    np.testing.assert_allclose(found.source.X, expected.source.X[rows], rtol=1e-12)
