"""Several agents are one: no tell is lost, nothing is learned twice, and no version is torn."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from l2t import open_store
from l2t.paper.files import from_json
from l2t.paper.training_set import held_out

pytestmark = pytest.mark.slow

PROCESSES, EACH = 4, 12


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
        done = list(store.experiences(status="done"))
        assert len({each.run_key for each in done}) == 2 * PROCESSES * EACH
        assert len(store.open_suggestions()) == 0
        assert store.check() == []
        versions = store.functions()
        assert [version.number for version in versions] == [*range(1, len(versions) + 1)]
        assert [version.parent for version in versions[1:]] == [*range(1, len(versions))]
        assert len(versions) > 2
        for version in versions:
            from_json(version.content)
        learned, judged = (store.used_runs(use, 1000) for use in ("learning", "judging"))
        assert versions[-1].n_runs == len(learned), "each run was learned from once"
        unused = store.unused_runs(1000)
        assert len(learned) + len(judged) + len(unused) == len(done)
        pairs = {each.run_key: held_out(each.target) for each in done}
        assert all(pairs[key] for key in judged)
        assert not any(pairs[key] for key in learned)


def test_one_of_four_tells_first_and_one_that_died_loses_nothing(url, several):
    won, died = several("telling", url).splitlines()
    assert ast.literal_eval(won) == [0, 7, 7, 7]
    assert died == "9 1.2"
    with open_store(url) as store:
        assert store.count(status="done") == store.count() == 2
        assert store.check() == []


def test_an_agent_that_dies_anywhere(url, several):
    assert several("refining", url) == "True"
