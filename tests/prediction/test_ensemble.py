"""The weights of the ensemble."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from l2t.prediction import ensemble
from l2t.prediction.ensemble import (
    Ensemble,
    Situation,
    Weights,
    balancing_shift,
    fit_ensemble,
)
from l2t.prediction.trials import BASELINES, LEARNERS, Trial
from l2t.prediction.views import OWN

NAMES = (*LEARNERS, *BASELINES)


def trial(skills, n=60, n_classes=3, seed=0):
    """Return a trial in which learner k finds the class with more certainty the larger skills[k] is."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    scores = rng.normal(size=(len(NAMES), n, n_classes))
    for k, skill in skills.items():
        scores[k, np.arange(n), codes] += skill
    return Trial(NAMES, softmax(scores, axis=2), codes)


def even():
    names = {learner.name: (0.05, 0.05) for learner in LEARNERS}
    return Weights((1.0, 20.0), names, dict.fromkeys(names, (0.5, 0.5)))


def loss(w, plays, own, w0):
    total = ensemble.PENALTY * np.sum((w - w0) ** 2)
    n_rows = sum(len(play.codes) for play in plays)
    for some, weight in [*((play, ensemble.PLAY_ROWS / n_rows) for play in plays), (own, 1.0)]:
        P = Ensemble(w, 0.0).probabilities(some)
        total -= weight * np.log(P[np.arange(len(some.codes)), some.codes]).sum()
    return total


def test_weights_that_ship_are_finite_and_name_every_learner():
    for shots in (0.5, 1, 3, 20, 500):
        for misleading in (0.0, 0.4, 1.0):
            w = Weights.default().at(shots, misleading)
            assert w.shape == (len(LEARNERS),)
            assert np.isfinite(w).all()
            assert (w >= 0).all()
            assert w.sum() > 0.3


def test_weights_are_interpolated_between_counts_and_targets():
    low, high = (Weights.default().at(shots) for shots in (1, 5))
    np.testing.assert_allclose(Weights.default().at(np.sqrt(5.0)), 0.5 * (low + high))
    other = Weights.default().at(1, 1.0)
    np.testing.assert_allclose(Weights.default().at(1, 0.25), 0.75 * low + 0.25 * other)


def test_without_a_trial_the_weights_are_those_of_other_data():
    fitted, w0 = fit_ensemble(Situation(5.0)), Weights.default().at(5.0)
    used = fitted.weights > 0
    np.testing.assert_array_equal(fitted.weights[used], w0[used])
    assert w0[~used].max() <= ensemble.LEAST_SHARE * w0.sum()


def test_the_fit_is_a_minimum_of_a_convex_loss(monkeypatch):
    """At the minimum the derivative is zero for positive weights, and not negative for the others."""
    monkeypatch.setattr(ensemble, "LEAST_SHARE", 0.0)
    plays, own = [trial({3: 2.0, 4: 1.0}, seed=s) for s in range(2)], trial({3: 1.0, 7: 1.5}, 24)
    fitted = fit_ensemble(Situation(5.0), plays, own, even())
    w, w0 = fitted.weights, even().at(5.0)
    step = 1e-5
    for k in range(len(w)):
        e = step * np.eye(len(w))[k]
        slope = (loss(w + e, plays, own, w0) - loss(w - e, plays, own, w0)) / (2 * step)
        assert slope == pytest.approx(0.0, abs=0.05) if w[k] > 1e-6 else slope > -0.05


def test_learners_that_find_the_classes_gain_weight():
    good = LEARNERS[9]
    fitted = fit_ensemble(Situation(5.0), [trial({9: 3.0})], None, even())
    assert next(iter(fitted.used)) == good
    own = fit_ensemble(Situation(5.0), [], trial({9: 3.0}), even())
    assert next(iter(own.used)) == good


def test_the_more_plays_are_doubted_the_less_they_move_the_weights(monkeypatch):
    monkeypatch.setattr(ensemble, "LEAST_SHARE", 0.0)
    plays, own = [trial({9: 3.0})], None
    distances = [
        float(np.linalg.norm(fit.weights - even().at(5.0, misleading)))
        for misleading in (0.0, 0.5, 1.0)
        for fit in [fit_ensemble(Situation(5.0, misleading), plays, own, even())]
    ]
    assert distances[0] > distances[1] > distances[2] == 0.0


@pytest.mark.parametrize(
    ("distance", "plays"),
    [(np.inf, []), (9.0, [trial({9: 3.0})]), (0.0, [trial({})])],
    ids=["no source", "far", "classes that cannot be told apart"],
)
def test_a_source_that_tells_nothing_gives_its_weight_to_the_target(distance, plays):
    fitted = fit_ensemble(Situation(5.0, distance=distance), plays)
    assert fitted.doubt == 1.0
    assert {learner.view for learner in fitted.used} <= set(OWN)
    assert fitted.weights.sum() > 0.8 * Weights.default().at(5.0).sum()


def test_without_known_classes_no_learner_needs_them_even_where_neighbourhoods_mislead():
    fitted = fit_ensemble(Situation(5.0, misleading=1.0, distance=np.inf))
    assert {learner.view for learner in fitted.used} <= set(OWN)


def test_balanced_classes_are_predicted_equally_often():
    scores = np.random.default_rng(0).normal([2.0, 0.0, 0.0, -1.0], size=(300, 4))
    shift = balancing_shift(scores)
    np.testing.assert_allclose(softmax(scores + shift, axis=1).mean(axis=0), 0.25, atol=1e-6)
    np.testing.assert_array_equal(balancing_shift(scores[:0]), 0.0)


def test_labels_that_no_learner_finds_leave_a_small_sum():
    own = trial(
        dict.fromkeys(range(20), -9.0), n=300
    )  # each learner is wrong about nearly all rows
    fitted = fit_ensemble(Situation(100.0), [], own)
    assert 0.5 * ensemble.LEAST_SUM < fitted.weights.sum() <= ensemble.LEAST_SUM
    assert fitted.used
    P = fitted.probabilities(trial({}, seed=1))
    assert P.max() < 0.5
