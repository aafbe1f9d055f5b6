"""Versions of a function: what is damaged is named, what is hostile refused, what is whole rescued."""

from __future__ import annotations

import json
import sqlite3
import zipfile

import pytest
from sqlalchemy import text

from l2t.exceptions import FileFormatError, StoreCorruptError, StoreVersionError
from l2t.experiences.store import open_store, rescue_store, upgrade_store
from l2t.testing.stores import assert_same_run, random_run
from l2t.testing.stores.functions import version

RUNS = [random_run(number) for number in range(3)]


def filled(url):
    store = open_store(url)
    for run in RUNS:
        store.add(run)
    store.add_function(version(1), {"learning": [RUNS[0].key], "judging": [RUNS[1].key]})
    store.add_function(version(2))
    return store


@pytest.mark.parametrize(
    "change", ["content = '{}'", "took_over = 0", "error = 0.001", "origin = 'nowhere'"]
)
def test_a_changed_version_is_named(tmp_path, change):
    with filled(tmp_path / "a.db") as store:
        with sqlite3.connect(tmp_path / "a.db") as connection:
            connection.execute(f"UPDATE l2t_functions SET {change} WHERE number = 2")
        connection.close()
        (said,) = store.check()
        assert "version 2 of the agent's function is not what it was" in said
        with pytest.raises(StoreCorruptError, match="version 2 of the agent"):
            store.function(2)
        assert store.function(1) == version(1)
        assert store.keys() == {run.key for run in RUNS}


CHANGES = {
    "other content": lambda rows: rows[0].update(content="{}"),
    "out of order": lambda rows: rows.reverse(),
    "twice": lambda rows: rows.append(rows[0]),
    "a column more": lambda rows: rows[0].update(evil=1),
    "no truth value": lambda rows: rows[0].update(took_over=1),
}


@pytest.mark.parametrize("what", CHANGES)
def test_hostile_versions_are_refused_whole(tmp_path, what):
    with filled("memory://") as store:
        path = store.export(tmp_path / "export.zip")
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    rows = [json.loads(line) for line in members["functions.jsonl"].splitlines()]
    CHANGES[what](rows)
    members["functions.jsonl"] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    with zipfile.ZipFile(path, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
    with open_store("memory://") as store:
        with pytest.raises(FileFormatError) as caught:
            store.merge(path)
        assert "\n" not in str(caught.value)
        assert (store.keys(), store.functions()) == (set(), [])


def test_an_odd_use_is_refused(tmp_path):
    with filled("memory://") as store:
        path = store.export(tmp_path / "export.zip")
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    members["runs.jsonl"] = members["runs.jsonl"].replace(b'"learning"', b'"earnings"')
    with zipfile.ZipFile(path, "w") as new:
        for name, each in members.items():
            new.writestr(name, each)
    with open_store("memory://") as store, pytest.raises(FileFormatError, match="used for"):
        store.merge(path)


def test_versions_are_rescued(tmp_path):
    with filled(tmp_path / "a.db") as store, open_store(tmp_path / "b.db") as into:
        store.close()
        assert rescue_store(tmp_path / "a.db", into) == 3
        assert into.functions() == [version(1), version(2)]
        assert into.unused_runs(10) == [RUNS[2].key]
        assert rescue_store(tmp_path / "a.db", into) == 0
        assert into.check() == []


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    return request.getfixturevalue("postgres")()


def test_a_store_from_before_there_were_agents(url):
    with open_store(url) as store:
        for run in RUNS:
            store.add(run)
        with store._database.writing(alone=True) as connection:
            for statement in (
                "DROP TABLE l2t_collections",
                "DROP TABLE l2t_functions",
                "DROP INDEX ix_l2t_runs_use",
                "ALTER TABLE l2t_runs DROP COLUMN used_for",
                "UPDATE l2t_version SET version_num = '0001'",
            ):
                connection.execute(text(statement))
    with pytest.raises(StoreVersionError, match="is of version 0001"):
        open_store(url)
    upgrade_store(url)
    with open_store(url) as store:
        for run in RUNS:
            assert_same_run(store.run(run.key), run)
        assert store.unused_runs(10) == [run.key for run in RUNS]
        assert store.add_function(version(1), {"learning": [RUNS[0].key]})
        assert store.check() == []
