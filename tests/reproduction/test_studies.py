"""Studies: what is drawn and counted, and that the page is written from it."""

from __future__ import annotations

import numpy as np
import pytest

import l2t
from l2t import Domain, DomainPair
from reproduction import studies
from reproduction.studies import own_experience, preparing, sizes, tables, unbalanced
from reproduction.studies.measuring import Trial, draw_pair, geometric_mean, remembered

pytestmark = pytest.mark.reproduction


def test_what_was_measured_is_not_measured_again(tmp_path):
    assert remembered(tmp_path, "a > b", lambda: [{"n": 1}]) == [{"n": 1}]
    assert remembered(tmp_path, "a > b", lambda: pytest.fail("measured twice")) == [{"n": 1}]
    assert [path.name for path in tmp_path.iterdir()] == ["a-to-b.json"]


def test_few_classes_are_halved_and_many_are_split(rng):
    few, many = (Domain(rng.normal(size=(60, 2)), np.arange(60) % n) for n in (3, 10))
    source, target = tables.split_in_two(few, rng)
    assert source.classes == target.classes == (0, 1, 2)
    assert len(source) == len(target) == 30
    source, target = tables.split_in_two(many, rng)
    assert len(source.classes) == 6
    assert not set(source.classes) & set(target.classes)


def test_pairs_have_other_classes_and_the_rows_asked_for(tmp_path):
    pair = draw_pair("digits", tmp_path, np.random.default_rng(0), n_rows=15, source_rows=10)
    assert not set(pair.source.classes) & set(pair.target.classes)
    assert np.bincount(pair.target.codes).tolist() == [15, 15, 15]
    fewer = sizes._fewer(pair.target, 31)
    assert sorted(np.bincount(fewer.codes)) == [10, 10, 11]


def test_a_trial_measures_the_rows_that_are_not_labelled(rng):
    y = np.repeat([0, 1], 25)
    target = Domain(np.column_stack([y, 20 * rng.normal(size=50)]), y)
    trial = Trial(target, 5, 2)
    assert [len(test) for _, test in trial.splits] == [40, 40]
    assert trial.marked(target, 1).labeled.sum() == 10
    np.testing.assert_array_equal(trial.accuracies(np.eye(2)), trial.before)
    np.testing.assert_array_equal(trial.accuracies(np.diag([1.0, 0.0])), 1.0)
    pair = DomainPair(Domain(rng.normal(size=(5, 2))), Domain(target.X))
    found = l2t.infer(pair, candidates={"first": np.diag([1.0, 0.0])}, n_labels=10, n_classes=2)
    ratios = trial.ratios(found)
    np.testing.assert_allclose(ratios["first"], 1 / trial.before)
    np.testing.assert_array_equal(ratios["identity"], 1.0)
    assert not Trial(target, 11, 2).splits, "30 rows must be left to test"


def test_draws_outside_the_interval_are_counted():
    identity = [1.0, 1.0, 1.0, 1.0]
    records = [
        {
            "shots": 1,
            "how": "rows",
            "choice": choice,
            "accuracy": 0.8,
            "real_accuracy": 0.7,
            "candidates": {"identity": identity, "classes": [1.1, 1.0, 1.2, real]},
        }
        for choice, real in (("classes", 1.1), ("classes", 1.3), ("identity", 0.9))
    ]
    (row,) = tables.table_rows(records)
    assert (row["n"], row["chosen"], row["outside"], row["candidates_outside"]) == (3, 2, 1, 2)
    assert row["real"] == pytest.approx((1.1 * 1.3) ** (1 / 3))


def test_geometric_mean():
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert np.isnan(geometric_mean([]))


def test_the_page_is_written_from_what_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "TABLES", {"iris": tables.TABLES["iris"]})
    monkeypatch.setattr(tables, "N_SPLITS", 1)
    monkeypatch.setattr(preparing, "SETS", {"iris": ""})
    monkeypatch.setattr(preparing, "N_SPLITS", 1)
    for module in (sizes, unbalanced):
        monkeypatch.setattr(module, "N_PAIRS", 1)
    monkeypatch.setattr(sizes, "SIZED", {"digits": (3, (45, 90))})
    monkeypatch.setattr(unbalanced, "KINDS", ("digits",))
    monkeypatch.setattr(own_experience, "KINDS", ("digits",))
    monkeypatch.setattr(own_experience, "RUNS", (0, 8))
    monkeypatch.setattr(own_experience, "N_NEW", 2)
    refused = {"shots": 1, "choice": "identity", "worth": 1.0, "best": 1.5}
    worth = {"rows": 60, "shots": 1, "marked": True, "choice": "classes", "worth": 1.1}
    monkeypatch.setattr(sizes, "measure_refusals", lambda *_: [refused, refused | {"shots": 5}])
    monkeypatch.setattr(sizes, "measure_style", lambda *_: [worth])
    studies.write_studies(tmp_path, tmp_path, tmp_path / "work")
    text = (tmp_path / "studies.md").read_text()
    for line in (
        "| iris | 1 |",
        "| 1 | 1 | 1 | **1** | 1.000 | 1.500 |",
        "| 60 | 1 | 0 of 0 | – |",
    ):
        assert line in text
    assert "| digits | 1 | forecast and known classes |" in text
    assert "| 0 runs | 8 runs |" in text
