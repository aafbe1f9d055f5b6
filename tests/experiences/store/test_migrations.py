"""New tables are the newest, older ones are upgraded, and nothing is lost on the way."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from l2t.exceptions import StoreVersionError
from l2t.experiences import Merged
from l2t.experiences.store import open_store, pack, upgrade_store, versions
from l2t.experiences.store.schema import VERSION_TABLE, metadata
from tests.experiences.store.contract import assert_same_run, random_run
from tests.experiences.store.contract.agents import suggestion

NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{last}"

def upgrade():
    op.add_column("l2t_runs", sa.Column("note", sa.Text, nullable=False, server_default="none yet"))
    {more}
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    return request.getfixturevalue("postgres")()


@pytest.fixture
def next_version(tmp_path, monkeypatch):
    """Make the code one migration newer, which may fail half-way."""

    def use(more: str = "") -> None:
        folder = tmp_path / "migrations"
        shutil.copytree(versions.MIGRATIONS, folder, dirs_exist_ok=True)
        last = versions.newest()
        (folder / "versions" / "r9999_note.py").write_text(NEXT.format(last=last, more=more))
        monkeypatch.setattr(versions, "MIGRATIONS", folder)

    return use


def test_a_new_store_has_the_newest_tables(url):
    with open_store(url) as store, store._database.reading() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "version_table": VERSION_TABLE,
                "compare_type": True,
            },
        )
        assert compare_metadata(context, metadata) == []
        assert store.version == versions.newest()


def test_an_older_store_is_upgraded(url, next_version):
    runs = [random_run(number, status="failed" if number == 1 else "done") for number in range(4)]
    with open_store(url) as store:
        for run in runs:
            store.add(run)
    before = versions.newest()
    next_version()
    with pytest.raises(
        StoreVersionError,
        match=f"has version {before}, but this package needs 9999: run `l2t store upgrade",
    ):
        open_store(url)
    upgrade_store(url)
    upgrade_store(url)
    with open_store(url) as store:
        assert store.version == "9999"
        assert store.check() == []
        for run in runs:
            assert_same_run(store.run(run.key), run)
        with store._database.reading() as connection:
            notes = connection.execute(text("SELECT note FROM l2t_runs")).scalars().all()
        assert notes == ["none yet"] * 4


#: Of the first tables; `content` is what the first version hashed of run 0.
FIRST_SCORES = """
CREATE TABLE l2t_scores (
    run INTEGER NOT NULL REFERENCES l2t_runs (id) ON DELETE CASCADE,
    n_labels INTEGER NOT NULL,
    accuracy_before DOUBLE PRECISION NOT NULL, standard_error_before DOUBLE PRECISION NOT NULL,
    accuracy_after DOUBLE PRECISION NOT NULL, standard_error_after DOUBLE PRECISION NOT NULL,
    improvement_ratio DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (run, n_labels)
)
"""
FIRST_CONTENT = "5c251645c83e72a87dbc3b845bb4eb800ada63ceb72b242afd922588cdf6b6be"


def test_scores_of_the_first_version_were_trained_on_the_target(url):
    runs = [random_run(0), random_run(1, status="failed"), random_run(2)]
    assert pack(runs[:1]).runs[runs[0].key]["content"] == FIRST_CONTENT
    with open_store(url) as store:
        for run in runs:
            store.add(run)
        with store._database.writing(exclusive=True) as connection:
            connection.execute(text("ALTER TABLE l2t_scores RENAME TO newer"))
            connection.execute(text(FIRST_SCORES))
            names = ", ".join(
                column["name"] for column in inspect(connection).get_columns("l2t_scores")
            )
            connection.execute(text(f"INSERT INTO l2t_scores SELECT {names} FROM newer"))
            connection.execute(text("DROP TABLE newer"))
            connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '0001'"))
    with pytest.raises(StoreVersionError, match="has version 0001, but this package needs"):
        open_store(url)
    upgrade_store(url)
    with open_store(url) as store, store._database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []
        keys = inspect(connection).get_pk_constraint("l2t_scores")["constrained_columns"]
        assert keys == ["run", "n_labels", "trained_on"]
        assert {each.trained_on for each in store.experiences(status="done")} == {"target"}
        assert store.count() == 5
        for run in runs:
            assert_same_run(store.run(run.key), run)
        assert store.check() == []
    with open_store(url) as store:
        assert store.delete(key=runs[0].key) == 1
        assert store.check() == []


#: What the agent of version 0.2 stored of its function.
OLD_VERSION = """
INSERT INTO l2t_functions (number, parent, origin, content, n_runs, n_judged, took_over, created_at)
VALUES (1, NULL, 'given', '{', 0, 0, true, 0)
"""


def test_a_store_with_versions_of_a_function_opens(url, tmp_path):
    run, record = random_run(0), suggestion("0a1b2c3d4e")
    with open_store(url) as store:
        store.add(run)
        store.add_suggestion(record, replace(run, scores=()))
        with store._database.writing() as connection:
            connection.execute(text(OLD_VERSION))
            connection.execute(text("UPDATE l2t_runs SET used_for = 'learning'"))
            connection.execute(text("UPDATE l2t_suggestions SET function = 1"))
    with open_store(url) as store, open_store(tmp_path / "copy.db") as copy:
        assert copy.merge(store) == Merged(1, 1, ())
        for opened in (store, copy):
            assert opened.check() == []
            assert opened.suggestions() == [record]
            assert_same_run(opened.run(run.key), run)


def test_an_upgrade_that_fails_changes_nothing(url, next_version, monkeypatch):
    with open_store(url) as store:
        store.add(random_run(0))
    before = versions.MIGRATIONS
    next_version("raise RuntimeError('no power')")
    with pytest.raises(RuntimeError, match="no power"):
        upgrade_store(url)
    monkeypatch.setattr(versions, "MIGRATIONS", before)
    with open_store(url) as store:
        assert store.check() == []
        with store._database.reading() as connection:
            columns = {column["name"] for column in inspect(connection).get_columns("l2t_runs")}
        assert "note" not in columns


def test_a_new_store_needs_no_migration(tmp_path, next_version):
    next_version()
    with open_store(tmp_path / "a.db") as store:
        assert store.version == "9999"


@pytest.mark.integration
def test_opening_a_store_that_exists_needs_no_migrations(tmp_path):
    path = tmp_path / "a.db"
    open_store(path).close()
    code = f"""
import sys
from l2t.experiences.store import open_store
with open_store({str(path)!r}) as store:
    assert store.count() == 0
assert not any(name.startswith("alembic") for name in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_migrations_are_packaged():
    files = sorted(
        path.name for path in (Path(versions.__file__).parent / "migrations").rglob("*.py")
    )
    assert files == ["r0001_first.py", "r0002_trained_on.py"]
