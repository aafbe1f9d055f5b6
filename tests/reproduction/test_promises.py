"""Promises of tasks that are known, and the page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from l2t.prediction.promise import ROWS_PER_LABEL, SLOPE, expect_accuracy
from reproduction import promise_tasks, promises
from reproduction.promise_tasks import Outcome, Part, predict_tasks
from reproduction.promises import Numbers, check_labels_needed, fit_numbers, judge

pytestmark = pytest.mark.reproduction


def outcome(rng, kind="letters", shots=5, n_classes=4, spread=0.0, **more):
    """Return a task whose accuracy is the mean probability, up to a random share of it."""
    n = 400
    logits = np.zeros((n, n_classes))
    logits[:, 0] = rng.normal(1.5, 0.5, n) + 1.0
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    right = rng.uniform(size=n) < P[:, 0] + spread * rng.normal()
    codes = np.where(right, 0, 1).astype(np.int16)
    promise = expect_accuracy(P.max(axis=1), shots, n_classes, n)
    fields = {"expected": promise.expected, "low": promise.low, "high": promise.high}
    fields |= {"rows": promise.rows, "temperature": 1.0, "scores": logits.astype(np.float32)}
    fields |= {"setting": "true", "n_known": 8, "shared": False, "number": 0, "part": 0}
    fields |= {"labels": float(shots), "labels_needed": None} | more
    return Outcome(kind=kind, shots=shots, n_classes=n_classes, codes=codes, **fields)


def test_an_outcome_is_judged_by_its_promise(rng):
    one = outcome(rng)
    record = judge(one, Numbers())
    assert record["accuracy"] == np.mean(one.codes == 0)
    assert record["expected"] == pytest.approx(one.expected)
    assert record["inside"] == float(one.low <= record["accuracy"] <= one.high)
    assert (record["ratio"], record["chance"]) == ("0.25 to 0.5", 0.25)
    other = judge(one, Numbers(slope=0.5 * SLOPE, rows_per_label=4 * ROWS_PER_LABEL))
    assert other["expected"] < record["expected"]
    assert other["width"] < record["width"]
    shared = outcome(rng, shared=True)
    assert judge(shared, Numbers(0.5))["expected"] == shared.expected
    nothing = outcome(rng, expected=None, low=None, high=None, rows=None)
    assert np.isnan(judge(nothing, Numbers())["inside"])


def test_numbers_are_those_under_which_accuracies_are_likely(rng):
    exact, scattered = (
        fit_numbers([outcome(rng, spread=spread) for _ in range(40)]) for spread in (0.0, 0.15)
    )
    assert exact.slope == pytest.approx(1.0, abs=0.1)
    assert scattered.rows_per_label < 5.0 < exact.rows_per_label


def test_labels_needed_are_compared_with_the_accuracy_that_as_many_labels_bring(rng):
    words = "About 3 more labels per class should raise the accuracy to 90 % (90 % interval {} %)."
    few, many = (
        outcome(rng, shots=1, labels_needed=words.format("80 to 97")),
        outcome(rng, shots=16),
    )
    (claim,) = check_labels_needed([many, few]).to_dict("records")
    ends = [np.mean(one.codes == 0) for one in (few, many)]
    assert claim["promised"] == 0.9
    assert claim["real"] == pytest.approx(np.mean(ends))  # 4 is half way from 1 to 16
    assert claim["inside"] == (0.795 <= claim["real"] <= 0.975)
    other = outcome(rng, shots=16, number=1)  # another target
    assert not len(check_labels_needed([few, other]))


def test_a_part_is_predicted_once(tmp_path, monkeypatch):
    monkeypatch.setattr(promise_tasks, "_parts", lambda *_: [Part("control", "digits", 4000)])
    monkeypatch.setattr(promise_tasks, "CONTROL_SHOTS", (8,))
    outcomes = predict_tasks(tmp_path, tmp_path)
    settings = [one.setting for one in outcomes]
    assert settings == ["true source", "random labels", "noise source", "permuted source"]
    accuracy = {one.setting: judge(one, Numbers())["accuracy"] for one in outcomes}
    assert accuracy["true source"] > 0.7 > 0.6 > accuracy["random labels"]
    monkeypatch.setattr(promise_tasks, "_answer", None)
    again = predict_tasks(tmp_path, tmp_path)
    np.testing.assert_array_equal(again[2].scores, outcomes[2].scores)
    assert again[2].expected == outcomes[2].expected


def test_tasks_of_fewer_draws_are_among_those_of_more(tmp_path):
    few, many = (
        [part.file for part in promise_tasks._parts(tmp_path, ["kinds", "controls"], n_draws)]
        for n_draws in (1, 3)
    )
    assert set(few) < set(many)
    assert len(set(many)) == len(many)
    assert all("control" in part.name for part in promise_tasks._parts(tmp_path, ["controls"], 1))


def test_the_page_has_every_table(rng, tmp_path, monkeypatch):
    outcomes = [
        outcome(rng, kind, shots, setting=setting, shared=shared)
        for kind, setting, shared in (
            ("letters", "true", False),
            ("digits", "unbalanced", False),
            ("letters", "noise source", False),
            ("vowels", "table", False),
            ("chile", "table", True),
        )
        for shots in (1, 8)
    ]
    outcomes.append(outcome(rng, "chile", 0, setting="table", shared=True, expected=None))
    monkeypatch.setattr(promises, "predict_tasks", lambda *_: outcomes)
    promises.write_promises(tmp_path, tmp_path, tmp_path)
    text = (tmp_path / "promises.md").read_text()
    for first in ("| 1 | 2 |", "| letters | 2 |", "| noise source | 1 | 1 |", "| chile | 1 |"):
        assert first in text
    assert (tmp_path / "images" / "promises.png").exists()
    assert len(pd.read_csv(tmp_path / "csv" / "promises.csv")) == len(outcomes)
