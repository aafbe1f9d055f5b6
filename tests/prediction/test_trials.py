"""Learners in plays of known classes, and on labelled rows."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.domains import Domain, KnownClasses
from l2t.prediction.trials import (
    BASELINES,
    LEARNERS,
    Learner,
    ViewRows,
    cross_validate,
    folds,
    rehearse_learners,
)
from l2t.prediction.views import ORIGINAL, PLAIN, fit_views

NEAREST = BASELINES[0]


def known_classes(*, groups=None, copies=1, spread=0.8, n_classes=6):
    rng = np.random.default_rng(0)
    codes = np.arange(40 * n_classes) % n_classes
    X = 2.0 * rng.normal(size=(n_classes, 10))[codes] + spread * rng.normal(size=(len(codes), 10))
    return KnownClasses([Domain(X, codes, groups=groups)])


def test_every_fold_keeps_every_class():
    codes = np.array([0] * 7 + [1] * 2 + [2] + [-1] * 10)
    splits = folds(codes)
    held, times = np.unique(np.concatenate([test for _, test in splits]), return_counts=True)
    assert set(times.tolist()) == {1}
    assert held.tolist() == list(range(9)), "not the only row of its class"
    for train, test in splits:
        assert not set(train.tolist()) & set(test.tolist())
        assert set(codes[train]) == {0, 1, 2}
        assert (codes[test] >= 0).all()
    assert folds(np.array([0, 1, 2])) == []


def test_groups_are_held_out_together():
    codes, groups = np.tile([0, 1], 10), np.repeat(np.arange(5), 4)
    for train, test in folds(codes, groups):
        assert not set(groups[train].tolist()) & set(groups[test].tolist())


def test_plays_have_as_many_classes_as_the_target_and_half_of_the_known_ones_at_most():
    for n_classes, playing in ((2, 2), (3, 3), (5, 3)):
        trials = rehearse_learners(known_classes(), n_classes=n_classes, rows_per_class=20, shots=5)
        assert len(trials) == 3
        assert {trial.n_classes for trial in trials} == {playing}
        for trial in trials:
            assert trial.probabilities.shape == (23, len(trial.codes), playing)
            np.testing.assert_allclose(trial.probabilities.sum(axis=2), 1.0)
            assert min(map(trial.accuracy, LEARNERS)) > 0.9
    two = known_classes(n_classes=2)
    assert rehearse_learners(two, n_classes=2, rows_per_class=20, shots=5) == ()


def test_rehearsals_of_the_same_classes_are_cached():
    settings = {"n_classes": 3, "rows_per_class": 20, "shots": 3}
    first, again = (rehearse_learners(known_classes(), **settings) for _ in range(2))
    assert all(one is other for one, other in zip(first, again, strict=True))


def test_rows_of_a_group_are_not_tested_by_one_another():
    """Groups of five rows that are nearly copies, and classes that are otherwise noise."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(96, 10)), 5, axis=0) + 0.01 * rng.normal(size=(480, 10))
    codes, groups = np.repeat(np.arange(96) % 6, 5), np.repeat(np.arange(96), 5)
    settings = {"n_classes": 3, "rows_per_class": 80, "shots": 10, "learners": [NEAREST]}
    without, grouped = (
        np.mean(
            [
                trial.accuracy(NEAREST)
                for trial in rehearse_learners(KnownClasses([domain]), **settings)
            ]
        )
        for domain in (Domain(X, codes), Domain(X, codes, groups=groups))
    )
    assert without > 0.55
    assert grouped < 0.45


def test_cross_validation_tests_each_labelled_row_once_without_its_label():
    rng = np.random.default_rng(1)
    X, codes = rng.normal(size=(60, 5)), np.where(np.arange(60) < 24, np.arange(60) % 3, -1)
    rows = ViewRows(fit_views(KnownClasses(), X), X)
    trial = cross_validate(rows, codes)
    assert np.bincount(trial.codes).tolist() == [8, 8, 8]
    # Labels that say nothing cannot be predicted, however flexible the learner.
    assert max(trial.accuracy(learner) for learner in LEARNERS) < 0.7
    assert cross_validate(rows, np.where(np.arange(60) < 3, np.arange(60), -1)) is None


def test_a_learner_without_its_view_has_even_probabilities():
    rng = np.random.default_rng(1)
    X, codes = rng.normal(size=(60, 5)), np.arange(60) % 3
    trial = cross_validate(ViewRows(fit_views(KnownClasses(), X), X), codes)
    for learner, P in zip(trial.learners, trial.probabilities, strict=True):
        assert np.ptp(P) == 0 or learner.view in (ORIGINAL, PLAIN, "spectrum")


@pytest.mark.parametrize("classifier", ["label spreading", "smoothed logistic"])
def test_shares_of_the_rows_of_a_graph_are_those_of_a_row_by_row_prediction(classifier):
    """The kernel is narrow, so a row of the graph is nearest to itself."""
    X = known_classes().X
    codes = known_classes().codes
    rows = ViewRows(fit_views(KnownClasses(), X), X)
    learners, at = [Learner("logistic (centred)", PLAIN), Learner(classifier, PLAIN)], np.arange(60)
    at = at * 4
    test = np.setdiff1d(np.arange(len(codes)), at)
    P = rows.answer(learners, (at, test), codes, 6)[1]
    head = rows.fit(learners, at, codes[at], 6)[learners[1]]
    scores = head.scores(rows.rows[PLAIN][test])
    assert np.mean(scores.argmax(axis=1) == P.argmax(axis=1)) > 0.97
