"""Views of a target: what they are in, and what they do not depend on."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.classifiers.feature_map import Evaluation, FeatureMap, change_first
from l2t.domains import Domain, KnownClasses
from l2t.numerics import squared_distances
from l2t.numerics.network import train_hidden_layer
from l2t.prediction import views as views_module
from l2t.prediction.views import CENTRED, GAUSSIAN, ORIGINAL, OWN, fit_views


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    means = 2.0 * rng.normal(size=(9, 12))
    codes = np.arange(270) % 6
    source = Domain(means[codes] + rng.normal(size=(270, 12)), codes)
    target = means[6 + np.arange(90) % 3] + rng.normal(size=(90, 12))
    return KnownClasses([source]), target


@pytest.fixture(scope="module")
def views(data):
    return fit_views(*data)


def test_all_views_exist_with_known_classes_and_two_without(data, views):
    assert set(views) == {ORIGINAL, *CENTRED, *GAUSSIAN}
    assert set(fit_views(KnownClasses(), data[1])) == {ORIGINAL, *OWN}


def test_rows_have_norm_1(data, views):
    for view in (views[name] for name in (*CENTRED, *GAUSSIAN)):
        np.testing.assert_allclose(np.linalg.norm(view.features(data[1]), axis=1), 1.0)


def test_the_order_of_target_rows_does_not_matter(data, views):
    known, X = data
    order = np.random.default_rng(0).permutation(len(X))
    for name, view in fit_views(known, X[order]).items():
        D = squared_distances(view.features(X))
        np.testing.assert_allclose(D, squared_distances(views[name].features(X)), atol=1e-6)


def test_a_rotation_of_the_features_changes_no_distance(data, views):
    known, X = data
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(12, 12)))[0]
    turned = KnownClasses([Domain(known.X @ Q, known.codes)])
    for name, view in fit_views(turned, X @ Q).items():
        D = squared_distances(view.features(X @ Q))
        atol = 0.1 if "network" in name else 1e-6  # networks are trained in single precision
        np.testing.assert_allclose(D, squared_distances(views[name].features(X)), atol=atol)


def test_whitened_rows_of_a_class_have_unit_covariance_but_for_the_ridge(data, views):
    known, _ = data
    features = views["whitened"].features
    linear = FeatureMap(features.W, np.zeros(12), before=features.before)
    Z = linear(known.X)
    means = np.array([Z[known.codes == c].mean(axis=0) for c in range(6)])
    rest = Z - means[known.codes]
    within = rest.T @ rest / (len(Z) - 6)
    assert np.abs(within - np.diag(np.diag(within))).max() < 0.2
    assert 0.7 < np.diag(within).mean() < 1.0, "the ridge shrinks it"
    between = np.cov(means.T)
    assert np.abs(between - np.diag(np.diag(between))).max() < 0.15 * np.diag(between).max()


def test_a_known_row_space_of_very_many_features_is_small():
    rng = np.random.default_rng(0)
    codes = np.arange(40) % 4
    known = KnownClasses(
        [Domain(rng.normal(size=(4, 3000))[codes] + rng.normal(size=(40, 3000)), codes)]
    )
    X = rng.normal(size=(30, 3000))
    trunk = fit_views(known, X)["classes"].features.first
    assert trunk.W.shape[1] <= 68
    np.testing.assert_allclose(trunk.W.T @ trunk.W, np.eye(trunk.W.shape[1]), atol=1e-8)


def test_identical_rows_have_views():
    assert np.isfinite(
        fit_views(KnownClasses(), np.ones((5, 3)))["spectrum"].features(np.ones((2, 3)))
    ).all()


def test_maps_that_follow_the_same_map_share_it_after_a_change(data, views):
    X = data[1]
    maps = [views[name].features for name in ("classes", "network", "plain")]
    changed = change_first(maps, lambda first: FeatureMap(first.W, first.mean, 2 * first.scale))
    assert len({id(features.first) for features in changed}) == 1
    evaluate = Evaluation(X)
    for features in changed:
        np.testing.assert_allclose(evaluate(features), features(X))


def test_the_hidden_layer_of_known_rows_does_not_depend_on_the_target(monkeypatch):
    rng = np.random.default_rng(3)
    codes = np.arange(40) % 4
    known = KnownClasses(
        [Domain(rng.normal(size=(4, 60))[codes] + rng.normal(size=(40, 60)), codes)]
    )
    trained = []

    def train(*args, **options):
        trained.append(options)
        return train_hidden_layer(*args, **options)

    monkeypatch.setattr(views_module, "train_hidden_layer", train)
    targets = [rng.normal(size=(n, 60)) for n in (15, 30)]
    one, other = (fit_views(known, X)["network"].features.before for X in targets)
    assert len(trained) == 1, "networks are cached by the content of the known classes"
    assert one.W.shape[0] < other.W.shape[0], "rows outside the span of known rows have coordinates"
    np.testing.assert_allclose(one(known.X), other(known.X), atol=1e-8)
    assert np.abs(one(targets[0]) - other(targets[0])).max() > 0.1
