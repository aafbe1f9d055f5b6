"""Tasks of the embedded digits: drawn by seed, measured once, and what is fitted to them."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.reflection.forecast import Forecast
from reproduction import rehearsal, tasks
from reproduction.forecast import choose, fit_forecast
from reproduction.kinds import draw
from reproduction.tasks import CANDIDATES, log_ratio, measure_tasks
from tests.reproduction.test_sources import SOURCES

pytestmark = pytest.mark.slow
MODES = ("true", "noise", "adverse 1.6")


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
    found = fit_forecast(measured)
    assert Forecast.from_json(found.to_json()) == found
    assert found.harm[0] < 0 < found.prior[0], "offsets shared by groups of rows mislead"
    for task in measured:
        expected = choose(found, task, 0)
        assert expected["identity"] == 0.0
        assert set(expected) == (
            {"identity", *CANDIDATES} if task["rehearsed"] else {"identity", "spectrum"}
        )


def test_the_page_has_every_kind_that_was_measured(measured, tmp_path, monkeypatch):
    monkeypatch.setattr(rehearsal, "measure_tasks", lambda *_, **__: measured)
    monkeypatch.setattr(rehearsal, "KINDS", {"digits": rehearsal.KINDS["digits"]})
    monkeypatch.setattr(rehearsal, "_left_out", lambda found: {"digits": fit_forecast(found)})
    monkeypatch.setattr(rehearsal, "source_tables", lambda *_: SOURCES)
    rehearsal.write_rehearsal(tmp_path, tmp_path, tmp_path, 2, 1)
    text = (tmp_path / "rehearsal.md").read_text()
    assert "| digits | 6 |" in text
    assert "| the true source, L2T |" in text
    assert "| a rule | 1.000 | 0% | 1.00 |" in text


def test_ratios_have_a_floor():
    task = {"before": [0.0, None], "after": {"spectrum": [0.5, 0.5]}, "n_rows": 50}
    assert log_ratio(task, "spectrum", 0) == pytest.approx(np.log(50))
    assert np.isnan(log_ratio(task, "spectrum", 1))
    assert log_ratio(task, "identity", 1) == 0.0
