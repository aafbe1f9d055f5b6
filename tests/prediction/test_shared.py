"""The model for shared classes, and its calibration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import l2t
from l2t import Domain
from l2t.prediction.shared import shared_report


@pytest.fixture(autouse=True)
def vote_alone(monkeypatch):
    """Few columns are not predicted by plain classifiers as well."""
    monkeypatch.setattr("l2t.prediction.pooled.MAX_FEATURES", 0)


@pytest.fixture
def classes(rng):
    """A source of two classes that overlap, and rows of the target, the clear ones first."""
    codes = np.arange(200) % 2
    X = rng.normal(size=(200, 12))
    X[:, 0] += np.where(codes, 1.5, -1.5)
    aim = rng.normal(size=(200, 12))
    aim[:, 0] += np.where(codes, 1.0, -1.0) * np.where(np.arange(200) < 100, 6.0, 0.5)
    return Domain(X, codes), aim, codes


def test_the_mean_probability_of_unlabelled_rows_is_the_expected_accuracy(classes):
    source, X, y = classes
    free = np.arange(200) >= 60
    found = l2t.predict(source, Domain(X, y, labeled=~free))
    expected = found.inference.shared.expected
    assert found.probability[free].mean() == pytest.approx(expected, abs=1e-3)


def test_probabilities_are_calibrated_on_random_rows(classes, monkeypatch):
    """Not on the first ones, which are clearer than the others."""
    source, X, _ = classes
    monkeypatch.setattr("l2t.prediction.model.MAX_CALIBRATION_ROWS", 100)
    found = l2t.predict(source, Domain(X))
    confidence = found.inference.shared.confidence
    assert found.probability.mean() == pytest.approx(confidence, abs=0.03)


def test_a_target_with_labels_for_all_rows_is_calibrated_on_all(classes):
    source, X, y = classes
    found = l2t.predict(source, Domain(X, y, labeled=np.ones(200, dtype=bool)))
    expected = found.inference.shared.expected
    assert found.probability.mean() == pytest.approx(expected, abs=1e-3)


def test_where_another_way_was_right_more_often_a_sentence_says_why_it_is_not_used(classes):
    source, X, y = classes
    target = Domain(X, y, labeled=np.arange(200) < 60)
    shared = l2t.predict(source, target).inference.shared

    def sentences(**accuracies):
        given = {shared.trained_on: 0.8, "source": 0.5} | accuracies
        decision = shared.decision._replace(accuracies=given)
        return shared_report(replace(shared, decision=decision), [source], target).sentences

    assert shared.trained_on == "both"
    assert not any("should reach" in sentence for sentence in sentences(target=0.8))
    assert "logistic should reach about 84 %, which is not clearly more." in sentences(target=0.85)
    assert sentences(target=0.99)[2].endswith("but this measurement alone does not decide.")


def test_probabilities_without_labels_are_not_above_the_accuracy_on_the_source(rng):
    source, target = (Domain(rng.normal(size=(n, 10)), rng.integers(0, 3, n)) for n in (300, 200))
    noise = l2t.predict(source, Domain(target.X))
    assert noise.probability.mean() < 0.45, "labels of the source are random"
    easy = 5.0 * np.eye(3, 10)
    source, target = (
        Domain(easy[domain.codes] + domain.X, domain.y) for domain in (source, target)
    )
    sure = l2t.predict(source, Domain(target.X))
    assert sure.probability.mean() > 0.95
    assert np.mean(sure.labels == target.y) > 0.95
