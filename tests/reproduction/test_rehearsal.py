"""Tasks of the embedded digits: drawn by seed, measured once, and what is fitted to them."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.reflection.forecast import Forecast
from reproduction import rehearsal, tasks
from reproduction.forecast import choose, fit_forecast
from reproduction.kinds import CONTROLS, draw, draw_classes, draw_controls
from reproduction.sources import ranking_table
from reproduction.tasks import CANDIDATES, log_ratio, measure_controls, measure_tasks

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


@pytest.fixture(scope="module")
def controls(work):
    return measure_controls(["digits"], 1, work, work, progress=False)


def test_controls_have_the_same_targets(controls, tmp_path):
    for size, target, sources in draw_controls("digits", 0, tmp_path):
        assert (size, set(sources)) == (3, set(CONTROLS))
        assert not set(target.classes) & set(sources["true"].classes)
        np.testing.assert_array_equal(sources["true"].X, sources["permuted"].X)
        np.testing.assert_array_equal(sources["true"].y, sources["noise"].y)
    assert [task["mode"] for task in controls] == [*CONTROLS] * 3
    for true, *others in zip(*(iter(controls),) * 3, strict=True):
        for other in others:
            assert other["before"] == true["before"]
            assert other["after"]["spectrum"] == true["after"]["spectrum"]
            assert not other["rehearsed"], "the features do not tell such classes apart"


def test_all_other_classes_can_be_known(tmp_path):
    for everything, known in ((False, 6), (True, 8)):
        rng = np.random.default_rng(0)
        target, source = draw_classes("digits", 2, 30, tmp_path, rng, everything=everything)
        assert (len(target), len(source.classes)) == (60, known)
        assert not set(target.classes) & set(source.classes)


def test_a_ranking_is_judged_by_what_comes_first():
    names = ("all classes", "noise", "3 classes")
    adds, real, classes = (1.2, 1.0, 1.1), (1.3, 1.0, 1.1), (9, 9, 3)
    records = [
        {"source": name, "adds": a, "predicted": a, "real": r, "n_classes": n, "mmd": n}
        for name, a, r, n in zip(names, adds, real, classes, strict=True)
    ]
    table = {name: row for name, *row in ranking_table([records])}
    assert table["what each adds (rank_sources)"] == pytest.approx([1.3, 0.0, 1.0])
    assert table["plain MMD, smallest first"][:2] == pytest.approx([1.1, 0.0])
    assert table["number of classes"][:2] == pytest.approx([np.sqrt(1.3), 0.5]), "a shared place"


def test_the_page_has_every_kind_that_was_measured(measured, controls, tmp_path, monkeypatch):
    monkeypatch.setattr(rehearsal, "measure_tasks", lambda *_, **__: measured)
    monkeypatch.setattr(rehearsal, "measure_controls", lambda *_, **__: controls)
    monkeypatch.setattr(rehearsal, "KINDS", {"digits": rehearsal.KINDS["digits"]})
    monkeypatch.setattr(rehearsal, "_left_out", lambda found: {"digits": fit_forecast(found)})
    row = ("a rule", 1.0, 0.0, 1.0)
    smaller = {
        "ranking": {1: [row], 5: [row]},
        "n_ranked": 1,
        "many": {"identity": 0.3, "spectrum": 0.4},
        "many_chosen": 0.4,
        "n_many": 1,
        "paper": {name: [1.0] * 5 for name in ("best base", "L2T", "L2T with the past")},
        "n_pairs": 1,
        "counts": (3, 15, 30, 60, 120),
    }
    monkeypatch.setattr(rehearsal, "_smaller_studies", lambda *_: smaller)
    rehearsal.write_rehearsal(tmp_path, tmp_path, tmp_path, 2, 1)
    text = (tmp_path / "rehearsal.md").read_text()
    assert "| digits | 6 |" in text
    assert "| the true source, L2T |" in text
    assert "| digits | 3 | 3 | 6 |" in text
    assert "| a rule | 1.000 | 0% | 1.00 |" in text


def test_ratios_have_a_floor():
    task = {"before": [0.0, None], "after": {"spectrum": [0.5, 0.5]}, "n_rows": 50}
    assert log_ratio(task, "spectrum", 0) == pytest.approx(np.log(50))
    assert np.isnan(log_ratio(task, "spectrum", 1))
    assert log_ratio(task, "identity", 1) == 0.0
