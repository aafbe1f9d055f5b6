"""Many processes at once, and processes that die: nothing is lost, nothing is broken."""

from __future__ import annotations

import pytest

from l2t.experiences.store import open_store

pytestmark = pytest.mark.integration

DISTINCT = 8 * (24 - 8) + 8


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    return request.getfixturevalue("postgres")()


def test_eight_processes_write_at_once(url, writers, proves):
    assert writers("eight", url) == str(DISTINCT)
    with open_store(url) as store:
        assert len(store.keys()) == DISTINCT
        assert store.count() == 2 * DISTINCT
        assert store.check() == []
    proves(f"Concurrent writers lose nothing: {url.partition(':')[0]}", 8, "processes")


def test_a_store_on_both_sides_of_a_fork(url, writers):
    assert writers("forked", url) == str(1 + 3 * 9)
    with open_store(url) as store:
        assert store.check() == []


def test_twenty_kills_leave_a_sound_store(tmp_path, writers, proves):
    assert writers("killed", f"sqlite:///{tmp_path}/store.db") == "sound"
    proves("A writer that is killed leaves a sound store", 20, "kills")
