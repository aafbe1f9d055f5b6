"""Tasks of the embedded digits: drawn by seed, measured once, and what is fitted to them."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.forecast import Forecast
from l2t.rehearsal.rehearsal import SHOTS
from reproduction import forecast as forecast_module
from reproduction import never_met, tasks
from reproduction.controls import CONTROLS, draw_controls
from reproduction.forecast import Limits, expectations, fit_forecast
from reproduction.kinds import draw
from reproduction.searched import SEARCHED
from reproduction.tasks import CANDIDATES, log_ratio, measure_tasks

pytestmark = pytest.mark.reproduction

MODES = ("true", "noise", "adverse 1.0")


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("tasks")


@pytest.fixture(scope="module")
def measured(work):
    return measure_tasks(["digits"], MODES, 2, work, work, progress=False)


def test_a_draw_is_known_by_its_number(tmp_path):
    first, again, other = (draw("digits", "true", i, tmp_path) for i in (3, 3, 4))
    assert first.source == again.source
    assert [each.fingerprint for each in first.targets] == [
        each.fingerprint for each in again.targets
    ]
    assert first.source != other.source
    for target in first.targets:
        assert not set(target.classes) & set(first.source.classes)


def test_what_is_measured_is_not_measured_again(work, measured, monkeypatch):
    assert {task["mode"] for task in measured} == set(MODES)
    monkeypatch.setattr(tasks, "_measured", None)
    assert measure_tasks(["digits"], MODES, 2, work, work, progress=False) == measured
    assert not list(work.glob("*.part"))


def test_noise_is_not_rehearsed_on(measured):
    for task in measured:
        assert bool(task["rehearsed"]) == (task["mode"] != "noise")
        assert (task["signs"][0] is None) == (task["mode"] == "noise")


def test_the_fit_is_a_forecast(measured):
    found = fit_forecast(measured, Limits())
    assert Forecast.from_json(found.to_json()) == found
    assert found.misled[0] < 0 < found.prior["spectrum"][0], (
        "offsets shared by groups of rows mislead"
    )
    for task in measured:
        expected = expectations(found, task, 0)
        assert expected["identity"].mean == 0.0
        assert set(expected) == {"identity", *CANDIDATES}
        assert set(expectations(found, task, 0, source=False)) == {"identity", "spectrum"}


def test_controls_have_the_same_targets(tmp_path):
    drawn = draw_controls("digits", 0, tmp_path)
    assert len(drawn) == 3 * len(CONTROLS)
    for at in range(0, len(drawn), len(CONTROLS)):
        same = drawn[at : at + len(CONTROLS)]
        (target,) = same[0].targets
        assert all(one.targets == (target,) and one.n_classes == 3 for one in same)
        sources = {one.mode: one.source for one in same}
        assert set(sources) == set(CONTROLS)
        assert not set(target.classes) & set(sources["true"].classes)
        np.testing.assert_array_equal(sources["true"].X, sources["permuted"].X)
        np.testing.assert_array_equal(sources["true"].y, sources["noise"].y)


def test_ratios_have_a_floor():
    accuracy = {"identity": [[0.0, 0.0], None], "spectrum": [[0.4, 0.6], None]}
    task = {"accuracy": accuracy, "n_test": [50, 10]}
    assert log_ratio(task, "spectrum", 0) == pytest.approx(np.log(50))
    assert np.isnan(log_ratio(task, "spectrum", 1))
    assert log_ratio(task, "identity", 1) == 0.0


def test_the_page_of_kinds_never_met(measured, tmp_path, monkeypatch):
    monkeypatch.setattr(never_met, "measure_tasks", lambda *_, **__: measured)
    forecast = fit_forecast(measured, Limits())
    monkeypatch.setattr(never_met, "forecasts_without", lambda found: {"digits": forecast})
    names = (*CANDIDATES, *SEARCHED)
    row = {
        "kind": "digits",
        "seconds": dict.fromkeys(("candidates", *SEARCHED), 1.0),
        "log_ratios": {name: [0.0] * len(SHOTS) for name in names},
    }
    monkeypatch.setattr(never_met, "measure_searched", lambda *_: [row])
    never_met.write_families(tmp_path, tmp_path, tmp_path, 2, 1)
    text = (tmp_path / "families.md").read_text()
    assert "| digits | 6 |" in text
    assert "| the true source, L2T |" in text


def test_limits_and_evidence_are_chosen(measured):
    """On one kind alone there is nothing to leave out: what is chosen is among what is tried."""
    rows = forecast_module._Rows(measured)
    assert np.isfinite(rows.worth(Limits()))
    slope, even, error = forecast_module._evidence(
        measured, {"digits": fit_forecast(measured, Limits())}
    )
    assert min(slope, even, error) > 0


def test_intervals_come_from_forecasts_that_did_not_see_the_group(measured):
    found = forecast_module.reliability_of(measured, {"digits": fit_forecast(measured, Limits())})
    assert set(found.kinds) == {"digits"}
    assert found.kinds["digits"].n_pairs == len(measured)
