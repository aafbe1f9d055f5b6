"""Several agents on one store are one: no suggestion and no outcome is lost."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from l2t import open_store

pytestmark = pytest.mark.integration

PROCESSES, EACH = 4, 6


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    return request.getfixturevalue("postgres")()


@pytest.fixture
def several(posix):
    def run(case: str, url: str) -> str:
        command = [sys.executable, str(Path(__file__).with_name("several.py")), case, url]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


def test_four_agents_at_once(url, several):
    assert ast.literal_eval(several("together", url)) == [0] * PROCESSES
    with open_store(url) as store:
        suggestions = store.suggestions()
        assert len(suggestions) == PROCESSES * EACH
        told = {record.run: record.outcome.accuracy_after for record in suggestions}
        assert told == {each.run_key: each.accuracy_after for each in store.experiences()}
        assert sorted(told.values()) == [0.4 + 0.01 * number for number in range(PROCESSES * EACH)]
        assert store.check() == []


def test_one_of_four_tells_first_and_one_that_died_loses_nothing(url, several):
    won, died = several("telling", url).splitlines()
    assert ast.literal_eval(won) == [0, 7, 7, 7]
    assert died == "9 1.2"
    with open_store(url) as store:
        assert store.count(status="done") == store.count() == 2
        assert store.check() == []
