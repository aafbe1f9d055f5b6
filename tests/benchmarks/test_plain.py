"""What is timed side by side computes the same, and the report holds every section."""

from __future__ import annotations

import re
from importlib import import_module

import numpy as np
import pytest

from benchmarks.__main__ import ROOT, SECTIONS
from benchmarks.data import feature_pair
from benchmarks.figures import Figure
from benchmarks.plain.objective import WEIGHTS, PlainObjective
from benchmarks.plain.sparse_codes import codes_row_by_row, sparse_problem
from benchmarks.plain.statistics import plain_statistics
from benchmarks.timing import best_of, side_by_side
from l2t.inference import Objective
from l2t.numerics import lasso_objective, sparse_codes
from l2t.statistics import pair_statistics
from tools.reports import render


@pytest.fixture
def pair():
    return feature_pair(30, 30, 40)


def test_the_plain_statistics_are_the_same(pair, rng):
    W = rng.normal(size=(40, 5))
    found = pair_statistics(pair, W)
    expected = plain_statistics(pair, W, found.kernels)
    for name, values in zip(("d", "Q", "tau"), expected, strict=True):
        np.testing.assert_allclose(getattr(found, name), values, rtol=1e-9, atol=1e-9, err_msg=name)


def test_the_plain_objective_is_the_same(pair):
    V = np.eye(pair.span.rank, 5)
    value, gradient = Objective(pair, WEIGHTS).in_span(V)
    plain_value, plain_gradient = PlainObjective(pair, WEIGHTS)(V)
    assert value == pytest.approx(plain_value, rel=1e-9)
    scale = np.abs(plain_gradient).max()
    np.testing.assert_allclose(gradient, plain_gradient, rtol=1e-9, atol=1e-9 * scale)


def test_sparse_codes_row_by_row_reach_the_same_objective():
    D, T, own = sparse_problem(30, 60)
    found = sparse_codes(D, T, 0.05, forbidden=own).codes
    plain = codes_row_by_row(D, T, own, 0.05)
    reached, expected = (lasso_objective(D, T, codes, 0.05) for codes in (found, plain))
    assert reached == pytest.approx(expected, rel=1e-4)


def test_the_shortest_time_counts(monkeypatch):
    clock = iter([0.0, 3.0, 10.0, 11.0, 20.0, 22.0])
    monkeypatch.setattr("benchmarks.timing.time.perf_counter", lambda: next(clock))
    assert best_of(lambda: "done", 3) == (1.0, "done")
    ticks = iter(np.cumsum([0.0, 4.0, 0.0, 7.0, 0.0, 3.0, 0.0, 9.0]))
    monkeypatch.setattr("benchmarks.timing.time.process_time", lambda: next(ticks))
    assert side_by_side([lambda: None, lambda: None], turns=2, runs=1) == [3.0, 7.0]


def test_every_section_has_its_part_of_the_template():
    template = ROOT / "benchmarks" / "templates" / "benchmarks.md"
    parts = re.findall(r"{% if (\w+) is defined", template.read_text())
    assert parts == [*(name for name in SECTIONS if name != "startup"), "defaults"]
    for name in (*SECTIONS, "defaults"):
        assert callable(import_module(f"benchmarks.{name}").run)


def test_the_report_ends_with_what_falls_short():
    template = ROOT / "benchmarks" / "templates" / "benchmarks.md"
    about = {"machine": "x", "python": "3", "numpy": "2", "scipy": "1", "processors": 2}
    good, bad = Figure("a", 1.0, 2.0, "s"), Figure("b", 1.0, 2.0, "times", True, "floor: 1 s")
    assert (good.holds, bad.holds) == (True, False)
    rows = [good.row, bad.row]
    text = render(template, **about, version="1", figures=rows, short=[bad.sentence])
    assert "| a | 1 s | at most 2 s |  | yes |" in text
    assert text.endswith("## What falls short\n\n- b: 1 times, the goal is at least 2 times\n")
    assert render(template, **about, version="1", figures=rows[:1], short=[]).endswith(
        "Every goal is reached.\n"
    )
