"""Tasks with few labels: weights are learned from the answers of learners, and predictions are measured."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from l2t.prediction.ensemble import Weights
from l2t.prediction.trials import LEARNERS
from reproduction import answers, ensemble, own_experience
from reproduction.answers import PLAIN, Part, draw_parts, measure, summary
from reproduction.ensemble import answer_tasks, learn_weights, write_weights
from reproduction.labelled_tasks import Setting, draw_task
from reproduction.own_experience import measure_experience

pytestmark = pytest.mark.reproduction


@pytest.mark.parametrize("setting", [Setting(1), Setting(5, uneven=True), Setting(5, adverse=1.0)])
def test_tasks_are_labelled_as_they_should_be(setting, tmp_path):
    source, target, at, test = draw_task("digits", 0, setting, tmp_path)
    counts = np.bincount(target.codes)
    assert np.bincount(target.codes[at]).tolist() == [setting.shots] * 3
    assert len(at) + len(test) == len(target)
    assert not set(at.tolist()) & set(test.tolist())
    assert (counts.max() / counts.min() > 6) == setting.uneven
    again = draw_task("digits", 0, setting, tmp_path)
    assert (again[0], again[1]) == (source, target)


def test_tasks_are_answered_once_and_weights_are_learned_from_them(tmp_path, monkeypatch):
    monkeypatch.setattr(ensemble, "SAME_TARGET", (("1", "5"), ("1, adverse",)))
    monkeypatch.setattr(ensemble, "SHOTS", (1, 5))
    tasks = answer_tasks(["digits"], [0], tmp_path, tmp_path / "work")
    assert [task.setting for task in tasks] == ["1", "5", "1, adverse"]
    monkeypatch.setattr(ensemble, "_answer", None)
    again = answer_tasks(["digits"], [0], tmp_path, tmp_path / "work")
    for one, other in zip(tasks, again, strict=True):
        np.testing.assert_array_equal(one.trial.probabilities, other.trial.probabilities)
    weights = learn_weights(again)
    assert weights.at(1).shape == (len(LEARNERS),)
    write_weights(weights, tmp_path / "weights.json")
    assert (tmp_path / "weights.json").read_text().startswith('{\n "shots": [')


def test_predictions_are_measured_beside_plain_classifiers(tmp_path, monkeypatch):
    monkeypatch.setattr(answers, "CONTROLS", {"true": ("1", "5"), "permuted": ("1",)})
    parts = [part for part in draw_parts([0]) if part.family == "digits"]
    assert parts == [Part("digits", 0, "true"), Part("digits", 0, "permuted")]
    records = [row for part in parts for row in measure(part, Weights.default(), tmp_path)]
    assert [(row["source"], row["setting"]) for row in records] == [
        ("true", "1"),
        ("true", "5"),
        ("permuted", "1"),
    ]
    assert records[0]["logistic"] == records[2]["logistic"], "plain classifiers use no source"
    gains = summary(pd.DataFrame(records))
    true = gains.loc[("true", "5", "digits")]
    assert true["plain"] == max(records[1][name] for name in PLAIN)
    assert true["gain"] == records[1]["l2t"] - true["plain"]
    assert true["l2t"] > 0.9


def test_past_targets_are_known_and_tasks_are_measured_once(tmp_path, monkeypatch):
    monkeypatch.setattr(own_experience, "KIND_NAMES", ("digits",))
    monkeypatch.setattr(own_experience, "N_PAST", (0, 2))
    monkeypatch.setattr(own_experience, "SHOTS", (1,))
    asked = []

    def predict(source, target, *, known, shared):
        past = set() if known is None else set(known.codes.tolist())
        asked.append((len(past), target.labeled.sum(), shared))
        return SimpleNamespace(labels=target.codes.astype(str))

    monkeypatch.setattr(own_experience, "predict", predict)
    records = measure_experience(tmp_path, tmp_path / "work", [0])
    assert [row["n_past"] for row in records] == [0, 2]
    assert [row["accuracy"] for row in records] == [1.0, 1.0]
    assert asked[0][0] == 0 < asked[1][0]
    assert asked[0][1:] == (4, False), "one label for each of the four classes that digits leaves"
    assert measure_experience(tmp_path, tmp_path / "work", [0]) == records
    assert len(asked) == 2
