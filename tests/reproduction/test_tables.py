"""Tables beside plain classifiers: what is drawn, what is summarised, and the page."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from reproduction import tables
from reproduction.tables import NOISE, PERMUTED, TRUE, Question, control, measure, summarize


def records():
    """Two tables with shared classes at 0 and 5 labels per class."""
    accuracies = {"apples": (0.6, 0.5, 0.7), "pears": (0.8, 0.7, 0.4)}
    return pd.DataFrame(
        [
            {"table": table, "shared": True, "control": done, "shots": shots, "draw": 0}
            | {"l2t": l2t, "probability": 0.7, "expected": 0.5 if shots else None}
            | {"low": 0.3, "high": 0.65, "logistic, both": logistic, "forest, both": forest}
            | {"logistic, target": 0.5 if shots else None}
            for table, (l2t, logistic, forest) in accuracies.items()
            for shots in (0, 5)
            for done in (TRUE, PERMUTED, NOISE)
        ]
    )


def test_the_plain_classifier_is_the_same_for_all_tables():
    without, few = summarize(records()[lambda some: some["control"] == TRUE])
    assert (without["shots"], without["best"], few["n_promised"]) == (0, "logistic, both", 2)
    np.testing.assert_allclose([without["l2t"], without["plain"]], [0.7, 0.6])
    np.testing.assert_allclose([few["worst"], few["bias"], few["n_inside"]], [0.1, -0.2, 1])
    assert few["tables"]["apples"] == {"l2t": 0.6, "plain": 0.5}


def test_rows_are_labelled_at_random_or_in_each_class():
    y = np.array(["a"] * 90 + ["b"] * 10, dtype=object)
    at_random = Question("apples", True, TRUE, 5, 0).labeled_rows(y)
    of_each = Question("apples", False, TRUE, 20, 0).labeled_rows(y)
    assert len(set(at_random)) == 10
    assert (np.sum(y[of_each] == "a"), np.sum(y[of_each] == "b")) == (20, 5)  # at most half


def test_a_control_keeps_the_cells_of_each_column():
    source = pd.DataFrame({"x": np.arange(50), "label": np.arange(50) % 3})
    permuted, noise = (control(source, done) for done in (PERMUTED, NOISE))
    pd.testing.assert_frame_equal(control(source, TRUE), source)
    assert permuted["x"].equals(source["x"])
    for changed in (permuted["label"], noise["x"], noise["label"]):
        assert sorted(changed) == sorted(source[changed.name])
        assert not changed.equals(source[changed.name])


def test_one_question_goes_through_the_command_line(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "tables"
    folder.mkdir()
    for role, n in (("source", 80), ("target", 60)):
        kinds = rng.integers(0, 2, n)
        size = np.where(rng.random(n) < 0.1, np.nan, 3.0 * kinds + rng.normal(size=n))
        table = pd.DataFrame({"size": size, "shop": rng.choice(["north", "south"], n)})
        table.assign(label=kinds).to_csv(folder / f"apples-{role}.csv.gz", index=False)
    record = measure(Question("apples", True, TRUE, 0, 0), tmp_path)
    assert record["l2t"] > 0.8
    assert record["expected"] is None
    assert {"logistic, both", "forest, both", "boosting, both"} <= set(record)
    assert "logistic, target" not in record


def test_the_page_names_the_tables(tmp_path, monkeypatch):
    rows = records()
    other = rows[rows["shots"] == 5].assign(shared=False, table="plums")
    every = pd.concat([rows, other])
    monkeypatch.setattr(tables, "measure_all", lambda *_: every)
    tables.write_tables(tmp_path, tmp_path, tmp_path, 1)
    text = (tmp_path / "tables.md").read_text()
    assert "| apples | 0.600 / 0.500 | 0.600 / 0.500 |" in text
    assert "| same classes, 5 | 0.700 | 0.700 | 0.700 | 0.500 |" in text
    assert (tmp_path / "images" / "tables.svg").is_file()
    assert len(pd.read_csv(tmp_path / "csv" / "tables.csv")) == len(every)


def test_what_was_measured_is_read_again(tmp_path, monkeypatch):
    question = Question("apples", True, TRUE, 0, 0)
    monkeypatch.setattr(tables, "questions", lambda *_: [question])
    (tmp_path / question.file).write_text(json.dumps({"l2t": 0.5}))
    monkeypatch.setattr(tables, "measure", lambda *_: pytest.fail("measured twice"))
    assert tables.measure_all(tmp_path, tmp_path, 1)["l2t"].tolist() == [0.5]
