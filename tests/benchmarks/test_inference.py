"""The benchmark of a whole inference, at a size that takes a second."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from benchmarks.data import many_class_pairs
from benchmarks.inference import busy_processes, measure_large, measure_once
from benchmarks.memory import THREADS, alone


def test_targets_of_one_source_have_other_classes():
    (first, second), _ = many_class_pairs(2, 600, 60, 20)
    assert first.source is second.source
    assert len(first.source.classes) == 30
    assert first.target.X.shape == (60, 20)
    assert first.target.fingerprint != second.target.fingerprint


@pytest.mark.parametrize(
    ("measure", "arguments", "keys"),
    [(measure_once, (600, 60, 20), {"processor"}), (measure_large, (60, 20), {"seconds", "peak"})],
)
def test_what_is_measured_is_printed(capsys, measure, arguments, keys):
    measure(*arguments)
    found = json.loads(capsys.readouterr().out)
    assert set(found) == keys
    assert min(found.values()) > 0


def test_busy_processes_end(monkeypatch):
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(
        "benchmarks.inference.subprocess.Popen",
        lambda *a, **k: started.append(popen(*a, **k)) or started[-1],
    )
    with busy_processes(2):
        assert [each.poll() for each in started] == [None, None]
    assert all(each.poll() is not None for each in started)


@pytest.mark.parametrize("one_thread", [True, False])
def test_a_process_of_its_own_has_one_thread_or_its_own_choice(monkeypatch, one_thread):
    for name in THREADS:
        monkeypatch.setenv(name, "3")
    code = f"import json, os; print(json.dumps([os.environ.get(n) for n in {THREADS!r}]))"
    assert alone(code, one_thread=one_thread) == (["1"] * 3 if one_thread else [None] * 3)
    assert os.environ[THREADS[0]] == "3"
