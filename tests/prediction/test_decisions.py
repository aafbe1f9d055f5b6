"""Predictions that maximise a metric."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, recall_score
from typer.testing import CliRunner

import l2t
from l2t.exceptions import InvalidInputError
from l2t.interfaces.cli import app
from l2t.prediction.decisions import METRICS, Quality, decide, decision_offsets


def _rare(rng, n):
    """A table with a class of 8 % that the columns tell only in part."""
    rare = rng.random(n) < 0.08
    columns = ["age", "income", "visits"]
    frame = pd.DataFrame(rng.normal(size=(n, 3)) + rare[:, None], columns=columns)
    return frame, np.where(rare, "yes", "no").astype(object)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    target, truth = _rare(rng, 600)
    few = np.full(600, None, dtype=object)
    few[:150] = truth[:150]
    return _rare(rng, 800), target, truth, few


@pytest.fixture(scope="module")
def found(data):
    source, target, _, few = data
    return {metric: l2t.predict(source, (target, few), metric=metric) for metric in METRICS}


def test_the_balanced_accuracy_of_a_rare_class_rises(data, found):
    truth = data[2][150:]
    balanced = {
        metric: balanced_accuracy_score(truth, each.labels[150:]) for metric, each in found.items()
    }
    assert balanced["balanced"] > balanced["accuracy"] + 0.05
    f1 = {
        metric: f1_score(truth, each.labels[150:], average="macro")
        for metric, each in found.items()
    }
    assert f1["f1"] > f1["balanced"]
    assert f1["f1"] > f1["accuracy"] - 0.03


def test_what_is_promised_follows_the_metric(data, found):
    truth = data[2][150:]
    used = next(row for row in found["balanced"].report.rows if row.used)
    assert used.metric == "balanced"
    real = balanced_accuracy_score(truth, found["balanced"].labels[150:])
    assert used.expected == pytest.approx(real, abs=0.12)
    assert "balanced accuracy" in found["balanced"].report.headline
    assert found["accuracy"].measured.n_rows == 150


def test_probabilities_are_those_of_the_predicted_classes(found):
    for metric, each in found.items():
        np.testing.assert_array_equal(each.probabilities, found["accuracy"].probabilities)
        codes = np.array([each.classes.tolist().index(label) for label in each.labels])
        np.testing.assert_array_equal(each.probability, each.probabilities[range(600), codes])
        assert each.summary()["metric"] == metric
        assert sum(each.counts.values()) == 600


def test_a_saved_model_decides_alike(data, found, tmp_path):
    for each in found.values():
        loaded = l2t.load_model(each.model.save(tmp_path / "model.l2t"))
        np.testing.assert_array_equal(loaded.predict(data[1]), each.labels)


def test_other_classes_follow_the_metric_too():
    rng = np.random.default_rng(1)
    X, y = _rare(rng, 300)
    few = y.copy()
    few[100:] = None
    source = _rare(rng, 300)[0].to_numpy(), np.repeat(["a", "b", "c"], 100)
    found = l2t.predict(source, (X.to_numpy(), few), metric="balanced", shared=False)
    plain = l2t.predict(source, (X.to_numpy(), few), shared=False)
    assert found.counts["yes"] > plain.counts["yes"]
    assert any(row.metric == "balanced" for row in found.report.rows)


def test_the_estimator_predicts_for_the_metric(data, found):
    source, target, _, few = data
    X = pd.concat([source[0], target], ignore_index=True).to_numpy()
    y = np.concatenate([source[1], np.where(few == None, "-1", few)]).astype(str)  # noqa: E711
    domain = np.repeat([1, -1], [len(source[1]), len(few)])
    classifier = l2t.L2TClassifier(metric="balanced").fit(X, y, sample_domain=domain)
    predicted = classifier.predict(target.to_numpy())
    np.testing.assert_array_equal(predicted, found["balanced"].labels)
    assert np.sum(predicted == "yes") > found["accuracy"].counts["yes"]


def test_the_command_takes_a_metric(data, tmp_path):
    (source, y), target, _, few = data
    source.assign(label=y).to_csv(tmp_path / "source.csv", index=False)
    target.assign(label=few).to_csv(tmp_path / "target.csv", index=False)
    files = [str(tmp_path / name) for name in ("source.csv", "target.csv")]
    options = ["--label", "label", "--metric", "balanced", "--format", "json", "--quiet"]
    result = CliRunner().invoke(app, ["predict", *files, *options])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["metric"] == "balanced"
    assert sum(answer["counts"].values()) == 600
    assert set(answer["quality"]["measured"]["recall"]) == {"no", "yes"}
    assert next(row for row in answer["report"] if row["used"])["metric"] == "balanced"


def test_an_unknown_metric_is_an_error(data):
    with pytest.raises(InvalidInputError, match="metric"):
        l2t.predict(data[0], data[1], metric="auc")


def test_quality_is_that_of_scikit_learn():
    rng = np.random.default_rng(2)
    truth, codes = rng.integers(0, 3, 80), rng.integers(0, 3, 80)
    quality = Quality.measured_of(codes, truth, 4)  # no row has the fourth class
    assert quality.balanced == pytest.approx(balanced_accuracy_score(truth, codes))
    assert quality.f1 == pytest.approx(f1_score(truth, codes, average="macro"))
    np.testing.assert_allclose(quality.recall[:3], recall_score(truth, codes, average=None))
    assert np.isnan(quality.recall[3])


@pytest.mark.parametrize("metric", METRICS)
def test_offsets_maximise_the_expected_metric(metric):
    rng = np.random.default_rng(3)
    P = rng.dirichlet([6.0, 2.0, 0.5], 300)
    values = {
        other: Quality.expected_of(P, decide(P, decision_offsets(P, other))).of(metric)
        for other in METRICS
    }
    assert values[metric] == max(values.values())
