"""The comparison with other tools: what is measured, and what an error of a peer does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from l2t.domains import Domain
from reproduction import comparison
from reproduction.comparison import _failures, _other_row, _shared_rows, compare_shared
from reproduction.pages import write_page
from reproduction.shared_tasks import SharedTask

pytestmark = pytest.mark.reproduction


@pytest.fixture
def task():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 15)
    means = rng.normal(size=(3, 6)) * 4
    source, target = (Domain(means[y] + rng.normal(size=(45, 6)) + s, y) for s in (0, 0.3))
    return SharedTask("usps-mnist", "a > b", source, target)


def test_an_error_of_a_method_is_its_result(task, monkeypatch):
    def broken(Xs, ys, Xt):
        raise ValueError("no such thing\nand more")

    plain = comparison.shared_methods()["logistic regression, source"]
    monkeypatch.setattr(comparison, "shared_methods", lambda: {"plain": plain, "broken": broken})
    found = compare_shared(task)
    assert found["plain"] > 0.9
    assert found["broken"] == "ValueError: no such thing"
    plain_row, broken_row = _shared_rows([found, found], ["office-caltech-surf", "usps-mnist"])
    assert plain_row["means"][1] == pytest.approx(100 * found["plain"])
    assert math.isnan(broken_row["means"][1])
    assert _failures([found, found]) == {"broken": "ValueError: no such thing (2 tasks)"}


def test_methods_get_no_target_label(task):
    methods = comparison.shared_methods()
    assert len([name for name in methods if name.startswith(("skada", "POT", "ADAPT"))]) == 14
    codes = methods["L2T"](task.source.X, task.source.codes, task.target.X)
    assert np.mean(codes == task.target.codes) > 0.9


def test_the_page_has_a_row_per_method_and_kind(tmp_path):
    each = {"1-NN": 0.5, "logistic": 0.6, "noise": 0.6, "L2T": 0.7}
    found = [{"kind": k, "shots": s} | each for k in ("x", "y") for s in ("1", "5") for _ in "ab"]
    rows = [_other_row(kind, found) for kind in ("x", "y")]
    assert rows[0]["5"]["gap"] == pytest.approx(0.1)
    write_page(
        tmp_path / "comparison.md",
        versions={"skada": "1", "adapt": "2", "POT": "3", "scikit-learn": "4"},
        tasks=["W->D"],
        kinds={"a": "A"},
        rows=[
            {"name": "plain", "values": [50.0], "means": [float("nan")]},
            {"name": "L2T", "values": [60.0], "means": [70.0]},
        ],
        best_others=[65.0],
        failures={"plain": "ValueError"},
        other=rows,
        shots=("1", "5"),
        n_draws=2,
        not_fitted=("x",),
    )
    page = (tmp_path / "comparison.md").read_text()
    assert "| plain | – |" in page
    assert "plain,50.0" in (tmp_path / "csv" / "comparison-tasks.csv").read_text()
    assert "right on 70.0 % of A" in page
    assert "| x | 0.500 | 0.600 | 0.600 | **0.700** | +0.100 | 0.000 |" in page
