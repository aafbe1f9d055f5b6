"""Class shares of the target that differ from the source's."""

import dataclasses

import numpy as np
import pytest

import l2t
from l2t.prediction.class_shares import shifted_scores, target_shares


def _clouds(rng, n, share, apart):
    """Rows of two overlapping classes, and their labels."""
    codes = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 5)) + apart * codes[:, None], np.array(["no", "yes"])[codes]


def test_other_shares_are_found_and_predictions_follow_them():
    rng = np.random.default_rng(0)
    X, y = _clouds(rng, 800, 0.5, 0.7)
    target, truth = _clouds(rng, 600, 0.9, 0.7)
    found = l2t.predict((X, y), target)
    accuracy = np.mean(found.labels == truth)
    plain = dataclasses.replace(found.model, shift=None)
    assert accuracy > np.mean(plain.predict(target) == truth) + 0.02
    assert "shares of the classes differ" in " ".join(found.report.sentences)


def test_equal_shares_are_kept():
    rng = np.random.default_rng(1)
    X, y = _clouds(rng, 800, 0.5, 0.7)
    target = _clouds(rng, 600, 0.5, 0.7)[0]
    found = l2t.predict((X, y), target)
    plain = dataclasses.replace(found.model, shift=None)
    same = np.mean(found.labels == plain.predict(target))
    assert same > 0.95


def test_nothing_is_changed_where_classes_can_hardly_be_told_apart():
    rng = np.random.default_rng(2)
    X, y = _clouds(rng, 400, 0.5, 0.1)
    target, _ = _clouds(rng, 300, 0.9, 0.1)
    assert l2t.predict((X, y), target).model.shift is None


def test_nothing_is_changed_where_classifiers_disagree_on_the_shares():
    truth = np.repeat([0, 1], 50)
    sure = np.where(truth[:, None] == [0, 1], 0.9, 0.1)
    first, second = np.tile([0.9, 0.1], (80, 1)), np.tile([0.1, 0.9], (80, 1))
    held_out = np.stack([sure, sure])
    assert shifted_scores(held_out, truth, np.stack([first, second])) is None
    _, shares = shifted_scores(held_out, truth, np.stack([first, first]))
    assert shares[0] > 0.7


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_shares_maximise_the_likelihood(share):
    rng = np.random.default_rng(3)
    X = _clouds(rng, 2000, share, 1.0)[0]
    odds = np.exp(X.sum(axis=1) - 2.5)  # of a source with equal shares
    P = np.stack([1 / (1 + odds), odds / (1 + odds)], axis=1)
    assert target_shares(P, np.array([0.5, 0.5]))[1] == pytest.approx(share, abs=0.03)


def test_the_shift_is_saved(tmp_path):
    rng = np.random.default_rng(0)
    target = _clouds(rng, 300, 0.9, 0.7)[0]
    found = l2t.predict(_clouds(rng, 400, 0.5, 0.7), target)
    loaded = l2t.load_model(found.model.save(tmp_path / "model.l2t"))
    assert loaded.shift == found.model.shift is not None
    np.testing.assert_array_equal(loaded.predict_proba(target), found.probabilities)
