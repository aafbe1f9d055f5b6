"""Tasks with few labels are tried once, and weights are learned from what was tried."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.prediction.trials import LEARNERS
from reproduction import ensemble
from reproduction.answers import answer
from reproduction.ensemble import learn_weights, try_tasks, write_weights
from reproduction.labelled_tasks import Setting, draw_task

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


def test_tasks_are_tried_once_and_weights_are_learned_from_them(tmp_path, monkeypatch):
    monkeypatch.setattr(ensemble, "SAME_TARGET", (("1", "5"), ("1, adverse",)))
    monkeypatch.setattr(ensemble, "SHOTS", (1, 5))
    tasks = try_tasks(["digits"], [0], tmp_path, tmp_path / "work")
    assert [task.setting for task in tasks] == ["1", "5", "1, adverse"]
    monkeypatch.setattr(ensemble, "_try", None)
    again = try_tasks(["digits"], [0], tmp_path, tmp_path / "work")
    for one, other in zip(tasks, again, strict=True):
        assert one.situation == other.situation
        np.testing.assert_allclose(
            one.real.probabilities, other.real.probabilities, atol=1e-3, err_msg="half precision"
        )
    weights = learn_weights(again)
    assert weights.at(1).shape == (len(LEARNERS),)
    judged = [answer(task, weights, tmp_path) for task in again]
    # Weights are those of least loss on these rows: the most probable classes are mostly right.
    assert judged[0].accuracy > judged[0].plain["nearest neighbour"]
    assert all(0.0 <= one.low <= one.expected <= one.high <= 1.0 for one in judged)
    write_weights(weights, tmp_path / "weights.json")
    assert (tmp_path / "weights.json").read_text().startswith('{\n "shots": [')
