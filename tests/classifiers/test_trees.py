"""Trees as arrays predict what scikit-learn predicts, and damaged arrays are rejected."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from l2t.classifiers import trees
from l2t.classifiers.trees import ABSENT, TreeHead, fit_boosting, fit_random_forest

N_FEATURES = 5
#: Fewer trees than by default, which train faster.
N_TREES = 25
N_STEPS = 20
ENSEMBLES = {
    "forest": (
        fit_random_forest,
        RandomForestClassifier(n_estimators=N_TREES, random_state=0, n_jobs=1),
    ),
    "boosting": (
        fit_boosting,
        HistGradientBoostingClassifier(
            max_iter=N_STEPS, min_samples_leaf=5, early_stopping=False, random_state=0
        ),
    ),
}


def problem(n_classes, n=80):
    """Rows of overlapping classes, rounded so that many values are equal."""
    rng = np.random.default_rng(n_classes)
    rows = rng.normal(size=(n, N_FEATURES)).round(1)
    codes = (rows[:, :n_classes] + rng.normal(size=(n, n_classes))).argmax(axis=1)
    assert set(codes) == set(range(n_classes))
    return rows, codes


def unseen_rows(head):
    """Rows that no tree has seen: near and far ones, and some whose values are thresholds or just beside."""
    rng = np.random.default_rng(9)
    split = np.flatnonzero(head.feature >= 0)
    at = rng.choice(split, size=300)
    rows = rng.normal(size=(300, N_FEATURES))
    edges = rows.copy()
    edges[np.arange(300), head.feature[at]] = head.threshold[at]
    beside = [np.nextafter(edges, side) for side in (-np.inf, np.inf)]
    single = [np.nextafter(edges.astype(np.float32), np.float32(side)) for side in (-9, 9)]
    return np.concatenate([rows, 1e6 * rows, edges, *beside, *single]).astype(np.float64)


@pytest.fixture(scope="module", autouse=True)
def _fewer_trees():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "FOREST_TREES", N_TREES)
        patch.setattr(trees, "BOOSTING_STEPS", N_STEPS)
        yield


@cache
def fitted(kind, n_classes):
    """The rows, the head and the estimator of scikit-learn, trained once for all tests."""
    fit, estimator = ENSEMBLES[kind]
    rows, codes = problem(n_classes)
    return rows, fit(rows, codes, n_classes), clone(estimator).fit(rows, codes)


kinds = pytest.mark.parametrize("kind", ENSEMBLES)


@kinds
@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_are_those_of_scikit_learn(kind, n_classes):
    rows, head, reference = fitted(kind, n_classes)
    head.check(N_FEATURES)
    Z = np.concatenate([rows, unseen_rows(head)])
    expected = reference.predict_proba(Z)
    assert head.n_classes == n_classes
    np.testing.assert_allclose(softmax(head.scores(Z), axis=1), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_of_boosting_are_decision_values(n_classes):
    rows, head, reference = fitted("boosting", n_classes)
    values = reference.decision_function(rows)
    if n_classes == 2:
        values = np.stack([-values, values], axis=1) / 2
    np.testing.assert_allclose(head.scores(rows), values, rtol=0, atol=1e-12)


def test_scores_of_a_forest_are_finite_logarithms_of_shares():
    rows, head, reference = fitted("forest", 4)
    shares = reference.predict_proba(rows)
    assert (shares == 0).any()
    scores = head.scores(rows)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(np.exp(scores), shares, rtol=0, atol=1e-12)


@kinds
def test_arrays_have_the_documented_types(kind):
    _, head, _ = fitted(kind, 4)
    for name in ("feature", "left", "right", "roots", "column"):
        assert getattr(head, name).dtype == np.int32
    for name in ("threshold", "value", "baseline"):
        assert getattr(head, name).dtype == np.float64
    assert head.single is (kind == "forest")
    shapes = [len(head.roots), len(head.column), len(head.baseline), head.value.shape[1]]
    assert shapes == ([N_TREES, 0, 0, 4] if kind == "forest" else [4 * N_STEPS, 4 * N_STEPS, 4, 1])


@kinds
def test_a_class_without_rows_is_never_predicted(kind):
    fit, reference = ENSEMBLES[kind]
    for known, n_classes in (([0, 2, 3], 5), ([1, 3], 4)):
        rows, codes = problem(len(known))
        codes = np.array(known)[codes]
        head = fit(rows, codes, n_classes)
        head.check(N_FEATURES)
        P = softmax(head.scores(rows), axis=1)
        missing = np.setdiff1d(np.arange(n_classes), known)
        assert P.shape == (len(rows), n_classes)
        assert P[:, missing].max() < 1e-13
        expected = clone(reference).fit(rows, codes).predict_proba(rows)
        np.testing.assert_allclose(P[:, known], expected, rtol=0, atol=1e-12)


@kinds
@pytest.mark.parametrize(("only", "n_classes"), [(0, 1), (0, 2), (1, 2), (2, 4)])
def test_one_class_has_all_the_probability(kind, only, n_classes):
    rows, _ = problem(2, n=12)
    head = ENSEMBLES[kind][0](rows, np.full(12, only), n_classes)
    head.check(N_FEATURES)
    scores = head.scores(rows)
    np.testing.assert_array_equal(scores, np.repeat(scores[:1], 12, axis=0))
    expected = np.eye(n_classes)[[only]]
    np.testing.assert_allclose(softmax(scores[:1], axis=1), expected, rtol=0, atol=1e-12)


def test_absent_classes_have_the_lowest_score():
    rows, codes = problem(3)
    assert (fit_boosting(rows, codes, 4).scores(rows)[:, 3] == ABSENT).all()


@kinds
def test_one_row_of_each_class_is_enough(kind):
    rows = np.eye(3, N_FEATURES)
    head = ENSEMBLES[kind][0](rows, np.arange(3), 3)
    head.check(N_FEATURES)
    assert np.isfinite(head.scores(rows)).all()


@kinds
def test_training_again_gives_the_same_arrays(kind):
    _, head, _ = fitted(kind, 2)
    again = ENSEMBLES[kind][0](*problem(2), 2)
    for field in fields(TreeHead):
        np.testing.assert_array_equal(getattr(head, field.name), getattr(again, field.name))


@kinds
def test_rows_are_scored_one_by_one(kind, monkeypatch):
    _, head, _ = fitted(kind, 4)
    Z = unseen_rows(head)[::7]
    whole = head.scores(Z)
    order = np.random.default_rng(3).permutation(len(Z))
    np.testing.assert_array_equal(head.scores(Z[order]), whole[order])
    np.testing.assert_array_equal(
        np.concatenate([head.scores(Z[[i]]) for i in range(5)]), whole[:5]
    )
    np.testing.assert_array_equal(head.scores(np.asfortranarray(Z)), whole)
    monkeypatch.setattr(trees, "BLOCK", 7)
    monkeypatch.setattr(trees, "BLOCK_PAIRS", 50)
    np.testing.assert_array_equal(head.scores(Z), whole)


@kinds
def test_no_rows_have_no_scores(kind):
    _, head, _ = fitted(kind, 2)
    assert head.scores(np.empty((0, N_FEATURES))).shape == (0, 2)


@kinds
@pytest.mark.parametrize("cell", [np.nan, np.inf, -np.inf, 1e300])
def test_any_row_gets_a_finite_score(kind, cell):
    _, head, _ = fitted(kind, 4)
    assert np.isfinite(head.scores(np.full((2, N_FEATURES), cell))).all()


def changed(name, at, number):
    """Damage that sets one element of an array."""

    def damage(head):
        array = getattr(head, name).copy()
        array[at] = number
        return {name: array}

    return damage


DAMAGE = {
    "feature out of range": changed("feature", 0, N_FEATURES),
    "negative feature": changed("feature", 0, -2),
    "a leaf with children": changed("feature", 0, -1),
    "a split without children": changed("feature", -1, 0),
    "left child out of range": changed("left", 0, 2**30),
    "right child out of range": changed("right", 0, 2**30),
    "negative child": changed("right", 0, -1),
    "a node that is its own child": changed("left", 0, 0),
    "a child before its parent": lambda head: changed(
        "left", np.flatnonzero(head.feature >= 0)[-1], 0
    )(head),
    "a leaf that leads on": lambda head: changed(
        "right", np.flatnonzero(head.feature < 0)[0], len(head.feature) - 1
    )(head),
    "root out of range": changed("roots", 0, 2**30),
    "negative root": changed("roots", 0, -1),
    "threshold not a number": changed("threshold", 0, np.nan),
    "infinite threshold": changed("threshold", 0, np.inf),
    "value not a number": changed("value", (0, 0), np.nan),
    "infinite value": changed("value", (0, 0), np.inf),
    "huge value": changed("value", (slice(None), 0), 1e308),
    "short thresholds": lambda head: {"threshold": head.threshold[:-1]},
    "short left": lambda head: {"left": head.left[:-1]},
    "short right": lambda head: {"right": head.right[1:]},
    "short values": lambda head: {"value": head.value[:-1]},
    "short features": lambda head: {"feature": head.feature[:-1]},
    "one column more": lambda head: {"column": np.append(head.column, np.int32(0))},
    "flat values": lambda head: {"value": head.value[:, 0]},
    "no class": lambda head: {"value": head.value[:, :0]},
    "roots in two dimensions": lambda head: {"roots": head.roots[:, None]},
    "fractional features": lambda head: {"feature": head.feature.astype(float)},
    "unsigned children": lambda head: {"left": head.left.astype(np.uint32)},
    "texts": lambda head: {"threshold": head.threshold.astype(str)},
    "complex values": lambda head: {"value": head.value.astype(complex)},
    "no array": lambda _: {"value": None},
    "no flag": lambda _: {"single": np.array([True, False])},
    "a number for an array": lambda _: {"baseline": np.array(0.0)},
}


@kinds
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_arrays_are_rejected(kind, damage):
    _, head, _ = fitted(kind, 4)
    damaged = replace(head, **damage(head))
    with pytest.raises(ValueError, match="trees"):
        damaged.check(N_FEATURES)


@pytest.mark.parametrize(
    "damage",
    [
        changed("column", 0, 4),
        changed("column", 0, -1),
        changed("baseline", 0, np.nan),
        changed("baseline", 0, -np.inf),
        lambda head: {"column": head.column[:-1]},
        lambda head: {"baseline": head.baseline[:-1]},
        lambda _: {"baseline": np.empty(0)},
        lambda head: {"value": np.repeat(head.value, 2, axis=1)},
    ],
)
def test_damaged_boosting_is_rejected(damage):
    _, head, _ = fitted("boosting", 4)
    with pytest.raises(ValueError, match="trees"):
        replace(head, **damage(head)).check(N_FEATURES)


@pytest.mark.parametrize(
    "damage",
    [
        changed("value", (0, 0), -0.1),
        changed("value", 0, 0.0),
        lambda head: {"roots": head.roots[:0]},
        lambda _: {"baseline": np.zeros(4)},
    ],
)
def test_a_damaged_forest_is_rejected(damage):
    _, head, _ = fitted("forest", 4)
    with pytest.raises(ValueError, match="trees"):
        replace(head, **damage(head)).check(N_FEATURES)


@kinds
def test_rows_of_fewer_columns_are_rejected(kind):
    _, head, _ = fitted(kind, 4)
    with pytest.raises(ValueError, match="out of range"):
        head.check(int(head.feature.max()))


@kinds
def test_arrays_survive_a_file_without_pickle(kind, tmp_path):
    rows, head, _ = fitted(kind, 4)
    np.savez(tmp_path / "head.npz", **vars(head))
    with np.load(tmp_path / "head.npz", allow_pickle=False) as file:
        arrays = dict(file)
    read = TreeHead(**(arrays | {"single": bool(arrays["single"])}))
    read.check(N_FEATURES)
    np.testing.assert_array_equal(read.scores(rows), head.scores(rows))


@kinds
def test_the_byte_order_of_another_machine_does_not_matter(kind):
    rows, head, _ = fitted(kind, 4)
    swapped = {
        name: array.astype(array.dtype.newbyteorder())
        for name, array in vars(head).items()
        if name != "single"
    }
    other = replace(head, **swapped)
    other.check(N_FEATURES)
    np.testing.assert_array_equal(other.scores(rows), head.scores(rows))
