"""Tasks of the study of predictions are measured once, and what is averaged is what L2T would average."""

from __future__ import annotations

import json

import numpy as np
import pytest

from l2t.prediction.choice import AVERAGED_CLASSIFIERS
from l2t.prediction.classifiers import CLASSIFIERS, DEFAULT
from reproduction.answers import accuracy, averaged, chosen, situation
from reproduction.combinations import SETTINGS, Setting, draw_task, measure_answers

FEATURES = ["plain", "spectrum", "classes", "classes+spectrum"]


def made(family, number, gains):
    """A task in which combinations rehearse as they are: better than the default by `gains`."""
    rng = np.random.default_rng(number)
    real = 0.6 + 0.1 * rng.normal(size=(4, len(CLASSIFIERS)))
    real[0, list(CLASSIFIERS).index(DEFAULT)] = 0.6
    for (features, name), gain in gains.items():
        real[FEATURES.index(features), list(CLASSIFIERS).index(name)] = 0.6 + gain
    scores = {
        "features": FEATURES,
        "values": (real + 0.01 * rng.normal(size=(4, *real.shape))).tolist(),
        "n_classes": 3,
        "sizes": [60] * 4,
        "n_rows": 240,
    }
    return {
        "family": family,
        "setting": "5",
        "choice": "identity",
        "corrections": {},
        "n_classes": 3,
        "features": FEATURES,
        "classifiers": list(CLASSIFIERS),
        "rehearsed": scores,
        "measured": None,
        "real": real.tolist(),
        "balanced_accuracy": real.tolist(),
    }


def test_a_combination_that_is_best_on_labelled_rows_is_averaged_with_the_three():
    new = made("letters", 99, {("classes", "logistic"): 0.35})
    assert set(chosen(new)) == {("plain", name) for name in AVERAGED_CLASSIFIERS}
    new |= {"measured": new["rehearsed"]}
    assert chosen(new)[0] == ("classes", "logistic")
    assert set(chosen(new)[1:]) == {("plain", name) for name in AVERAGED_CLASSIFIERS}
    assert accuracy(new, chosen(new)[0]) == pytest.approx(0.95)
    assert situation(new).default == ("plain", DEFAULT)
    assert chosen(new, single=True) == [("classes", "logistic")]


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


@pytest.mark.slow
def test_measured_tasks_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("reproduction.combinations.SETTINGS", {"1": SETTINGS["1"]})
    (task,) = measure_answers(["digits"], [0], tmp_path, tmp_path / "work")
    assert np.shape(task["real"]) == (4, len(CLASSIFIERS))
    both = [(features, name) for features in ("plain", "spectrum") for name in CLASSIFIERS]
    single = [averaged(task, [each]) for each in both]
    np.testing.assert_allclose(single, np.ravel(task["real"][:2]), atol=0.02)
    assert min(single) <= averaged(task, both) <= 1.0
    kept = tmp_path / "work" / "digits-1-0.json"
    task = json.loads(kept.read_text())
    kept.write_text(json.dumps(task | {"kept": True}))
    assert measure_answers(["digits"], [0], tmp_path, tmp_path / "work")[0]["kept"]
