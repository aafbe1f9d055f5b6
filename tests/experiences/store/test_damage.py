"""Damage gives one sentence, and what was sound stays readable."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from l2t.exceptions import (
    InvalidInputError,
    L2TWarning,
    MissingExtraError,
    StoreCorruptError,
    StoreError,
    StoreVersionError,
)
from l2t.experiences.store import database, open_store, upgrade_store, versions
from l2t.experiences.store.rows import add_array
from tests.experiences.store.contract import assert_same_run, random_run
from tests.experiences.store.contract.agents import suggestion

RUNS = [random_run(number) for number in range(3)]


@pytest.fixture
def path(tmp_path):
    """A store of three runs."""
    with open_store(tmp_path / "store.db") as store:
        for run in RUNS:
            store.add(run)
    return tmp_path / "store.db"


def test_the_file_alone_is_whole_when_its_writer_has_ended(path, tmp_path):
    """Another process may have the store open, so that its log stays beside it."""
    with open_store(path) as reader:
        assert len(reader.keys()) == 3
        with open_store(path) as writer:
            writer.add(random_run(7))
        (tmp_path / "elsewhere").mkdir()
        copy = shutil.copy(path, tmp_path / "elsewhere")
        with open_store(copy) as copied:
            assert copied.keys() == reader.keys()
            assert copied.check() == []


def sentence(action, kind=StoreError) -> str:
    with pytest.raises(kind) as caught:
        action()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def change(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def row_of(array: np.ndarray) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    return kept[add_array(array, "array", kept)]


def flip(path: Path, array: np.ndarray) -> None:
    content = row_of(array)["data"]
    raw = path.read_bytes()
    assert content in raw
    half = len(content) // 2
    changed = content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]
    path.write_bytes(raw.replace(content, changed))  # SQLite may have left older copies around


def test_a_flipped_byte_in_a_W(path):
    flip(path, RUNS[1].W)
    with open_store(path) as store:
        error = sentence(lambda: store.run(RUNS[1].key), StoreCorruptError)
        assert row_of(RUNS[1].W)["hash"][:12] in error
        assert RUNS[1].key[:12] in error
        assert error.startswith("sqlite:///")
        assert len(list(store.experiences())) == 6
        for run in (RUNS[0], RUNS[2]):
            assert_same_run(store.run(run.key), run)
        (error,) = store.check()
        assert RUNS[1].key[:12] in error
        with open_store(path.with_name("copy.db")) as copy:
            merged = copy.merge(store)
            assert (merged.runs, len(merged.damaged)) == (2, 2)  # the array and its run
            assert copy.keys() == {RUNS[0].key, RUNS[2].key}
            assert copy.check() == []
        store.delete(key=RUNS[1].key)
        assert store.check() == []
        assert store.add(RUNS[1])
        assert_same_run(store.run(RUNS[1].key), RUNS[1])


def test_a_flipped_byte_in_statistics(path):
    stats = RUNS[1].statistics
    flip(path, np.vstack([stats.d, stats.tau, stats.Q]))
    with open_store(path) as store:
        error = sentence(lambda: list(store.experiences()), StoreCorruptError)
        assert RUNS[1].key[:12] in error
        others = list(store.experiences(key=[RUNS[0].key, RUNS[2].key]))
        assert len(others) == 4
        assert len(list(store.experiences(statistics=False))) == 6
        assert store.run(RUNS[2].key).statistics is not None


def test_a_flipped_byte_in_a_domain(path):
    flip(path, RUNS[1].pair.source.X)
    with open_store(path) as store:
        error = sentence(lambda: store.run(RUNS[1].key), StoreCorruptError)
        assert RUNS[1].key[:12] in error
        assert len(list(store.experiences())) == 6
        (error,) = store.check()
        assert RUNS[1].pair.source.fingerprint[:12] in error
        assert RUNS[1].key[:12] in error
        with open_store("memory://") as copy:
            assert copy.merge(store).runs == 2
            assert copy.check() == []


def test_opening_and_listing_read_no_arrays(path):
    change(path, "UPDATE l2t_arrays SET data = x'00'")
    with open_store(path) as store:
        assert store.count() == len(list(store.experiences(statistics=False))) == 6


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("UPDATE l2t_runs SET params = '{}' WHERE random_state = '1'", "were changed"),
        ("UPDATE l2t_runs SET params = '{' WHERE random_state = '1'", "were changed"),
        ("UPDATE l2t_runs SET status = 'odd' WHERE random_state = '1'", "were changed"),
        ("UPDATE l2t_runs SET host = 'elsewhere' WHERE random_state = '1'", "were changed"),
        ("UPDATE l2t_scores SET accuracy_after = 0.99", "it or its scores were changed"),
        ("UPDATE l2t_scores SET trained_on = 'both'", "it or its scores were changed"),
        ("DELETE FROM l2t_scores WHERE n_labels = 15", "it or its scores were changed"),
        ("UPDATE l2t_runs SET kernels = '[0, 1, 3, 5]' WHERE random_state = '1'", "were changed"),
        ("UPDATE l2t_domains SET y_values = '[]' WHERE n_rows = 12", "labels cannot be read"),
        (
            "UPDATE l2t_domains SET y_values = replace(y_values, '2', '9')",
            "not match its fingerprint",
        ),
        ("UPDATE l2t_domains SET n_classes = 99", "not match its fingerprint"),
        ("UPDATE l2t_arrays SET data = x'00'", "is damaged"),
        ("UPDATE l2t_suggestions SET kernels = '['", "suggestion 0a1b2c3d4e is damaged"),
        ("INSERT INTO l2t_rehearsals VALUES ('a', '{}', '1', 0)", "rehearsal a is damaged"),
        ("DELETE FROM l2t_runs WHERE random_state = '1'", "is not used by any run"),
        ("DELETE FROM l2t_arrays", "refers to a row of l2t_arrays"),
    ],
)
def test_check_tells_what_is_wrong(path, statement, word):
    with open_store(path) as store:
        store.add_suggestion(suggestion("0a1b2c3d4e"), replace(RUNS[0], scores=()))
    change(path, statement)
    with open_store(path) as store:
        found = store.check()
        assert any(word in error for error in found), found
        assert not any("\n" in error for error in found)


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("UPDATE l2t_scores SET accuracy_after = 0.99", "experiences"),
        ("UPDATE l2t_scores SET accuracy_after = 0.99", "page"),
        ("UPDATE l2t_scores SET accuracy_after = 0.99", "run"),
        ("UPDATE l2t_scores SET accuracy_after = 0.99", "target"),
        ("DELETE FROM l2t_scores WHERE n_labels = 15", "experiences"),
        ("UPDATE l2t_runs SET host = 'elsewhere'", "experiences"),
        ("UPDATE l2t_runs SET host = 'elsewhere'", "run"),
        ("UPDATE l2t_domains SET n_classes = 99", "experiences"),
        ("UPDATE l2t_domains SET n_classes = 99", "target"),
        ("DELETE FROM l2t_domains", "experiences"),
        ("UPDATE l2t_domains SET y_values = replace(y_values, '2', '9')", "run"),
        ("UPDATE l2t_rehearsals SET work = '{}'", "rehearsal"),
    ],
)
def test_what_was_changed_is_not_read(path, statement, read):
    with open_store(path) as store:
        store.add_rehearsal({"a": 1}, [0.5])
    change(path, statement)
    reads = {
        "experiences": lambda store: list(store.experiences()),
        "page": lambda store: list(store.experiences(limit=1, statistics=False)),
        "run": lambda store: store.run(RUNS[0].key),
        "target": lambda store: store.target(RUNS[0].key),
        "rehearsal": lambda store: store.rehearsal({"a": 1}),
    }
    with open_store(path) as store:
        error = sentence(lambda: reads[read](store), StoreCorruptError)
        assert "is damaged: " in error


def test_a_damaged_index_leaves_out_no_experiences(path):
    """SQLite itself does not notice that an index refers to fewer rows than the table has."""
    connection = sqlite3.connect(path)
    query = "SELECT rootpage FROM sqlite_master WHERE tbl_name = 'l2t_runs' AND type = 'index'"
    pages = [page for (page,) in connection.execute(query)]
    connection.close()
    raw = bytearray(path.read_bytes())
    for page in pages:
        start = (page - 1) * 4096
        raw[start + 3 : start + 5] = bytes(2)  # the number of its cells
    path.write_bytes(raw)
    with open_store(path) as store:
        for read in (store.experiences, store.keys, store.count, store.summaries.totals):
            error = sentence(lambda read=read: list(read()), StoreCorruptError)
            assert error.startswith(f"sqlite:///{path} is damaged")


def test_scores_that_were_changed_are_not_merged(path):
    change(path, "UPDATE l2t_scores SET accuracy_after = 0.99 WHERE run = 2")
    with open_store(path) as store, open_store("memory://") as copy:
        (message,) = store.check()
        merged = copy.merge(store)
        assert (merged.runs, merged.damaged) == (2, (message,))
        assert copy.check() == []


@pytest.mark.parametrize("part", [0.02, 0.3, 0.5, 0.9])
def test_a_truncated_file(path, part):
    size = path.stat().st_size
    os.truncate(path, int(size * part))

    def use() -> None:
        with open_store(path) as store:
            assert store.check() == []

    error = sentence(use, StoreCorruptError)
    assert str(path) in error


def can_recover() -> bool:
    if shutil.which("sqlite3") is None:
        return False
    command = ["sqlite3", ":memory:", "PRAGMA compile_options"]
    options = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return "ENABLE_DBPAGE_VTAB" in options


def test_what_is_left_of_a_truncated_file_can_be_recovered(tmp_path):
    """As docs/guide/team.md says: recover with sqlite3, and merge what is whole into a new store."""
    if not can_recover():
        pytest.skip("needs the sqlite3 command with .recover, which some distributions leave out")
    path, recovered = tmp_path / "store.db", tmp_path / "recovered.db"
    runs = [random_run(number, n_domains=20) for number in range(120)]
    with open_store(path) as store:
        for run in runs:
            store.add(run)
    os.truncate(path, int(path.stat().st_size * 0.7))
    sql = subprocess.run(["sqlite3", str(path), ".recover"], capture_output=True, check=True).stdout
    subprocess.run(["sqlite3", str(recovered)], input=sql, capture_output=True, check=True)
    with open_store(recovered, create=False) as store, open_store(tmp_path / "new.db") as new:
        merged = new.merge(store)
        assert 0 < merged.runs < 120
        assert not any("\n" in error for error in merged.damaged)
        assert new.check() == []
        kept = new.keys()
        for run in runs:
            if run.key in kept:
                assert_same_run(new.run(run.key), run)


def test_a_damaged_source_of_a_merge_is_named(path, tmp_path):
    os.truncate(path, int(path.stat().st_size * 0.9))

    def use() -> None:
        with open_store(path) as store, open_store(tmp_path / "new.db") as new:
            new.merge(store)

    error = sentence(use, StoreCorruptError)
    assert error.startswith(f"sqlite:///{path} is damaged")
    assert ".recover" in error


def test_a_page_that_was_overwritten(path):
    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(os.urandom(4096 * 4))

    def use() -> list[str]:
        with open_store(path) as store:
            return store.check()

    try:
        found = use()
    except StoreCorruptError as error:
        found = [str(error)]
    assert found


def test_files_that_are_no_store(tmp_path):
    text = tmp_path / "text.db"
    text.write_text("Dear diary, " * 200)
    assert "not an SQLite database" in sentence(lambda: open_store(text), StoreCorruptError)
    assert text.read_text().startswith("Dear diary")

    other = tmp_path / "other.db"
    change(other, "CREATE TABLE visits (url TEXT)")
    assert "another database, with the tables visits" in sentence(lambda: open_store(other))

    assert "is a directory" in sentence(lambda: open_store(tmp_path))
    assert "directory does not exist" in sentence(lambda: open_store(tmp_path / "no" / "a.db"))
    for use in (
        lambda: open_store(tmp_path / "a.db", create=False),
        lambda: upgrade_store(tmp_path / "a.db"),
    ):
        assert "there is no store at" in sentence(use)
    assert not (tmp_path / "a.db").exists()


def test_an_empty_file_becomes_a_store(tmp_path):
    (tmp_path / "a.db").touch()
    with open_store(tmp_path / "a.db") as store:
        assert store.check() == []


@pytest.mark.parametrize("table", ["l2t_scores", "l2t_arrays"])
def test_a_missing_table(path, table):
    change(path, "PRAGMA foreign_keys = OFF", f"DROP TABLE {table}")
    assert f"is incomplete, without {table}" in sentence(
        lambda: open_store(path), StoreCorruptError
    )


def test_a_table_that_vanishes(path):
    with open_store(path) as store:
        change(path, "DROP TABLE l2t_scores")
        assert "l2t_scores" in sentence(store.count, StoreCorruptError)


@pytest.mark.parametrize("future", ["9000", "9999", "beta"])
def test_a_store_of_the_future(path, future):
    change(path, f"UPDATE l2t_version SET version_num = '{future}'")
    for use in (open_store, upgrade_store):
        error = sentence(lambda use=use: use(path), StoreVersionError)
        assert f"has version {future}" in error
        assert "pip install --upgrade l2t" in error
    change(path, f"UPDATE l2t_version SET version_num = '{versions.newest()}'")
    with open_store(path) as store:
        assert store.check() == []


def test_a_store_without_version(path):
    change(path, "DELETE FROM l2t_version")
    assert "without the version number" in sentence(lambda: open_store(path), StoreCorruptError)


def test_a_full_disk(path, writers, proves):
    error = writers("full", f"sqlite:///{path}")
    assert "limit on the size of files" in error or "disk is full" in error
    assert "\n" not in error
    with open_store(path) as store:
        assert store.check() == []
        for run in RUNS:
            assert_same_run(store.run(run.key), run)
        assert store.add(random_run(50))
    proves("A full disk leaves what was stored", 1, "disks")


def test_a_database_that_may_not_grow(path, monkeypatch):
    prepare = database._prepare

    def small(connection, record):
        prepare(connection, record)
        connection.execute("PRAGMA max_page_count = 1").close()

    monkeypatch.setattr(database, "_prepare", small)
    with open_store(path) as store:
        large = random_run(9, W=np.random.default_rng(0).normal(size=(4, 50_000)))
        assert "the disk is full" in sentence(lambda: store.add(large))
        assert store.keys() == {run.key for run in RUNS}
        assert store.check() == []


@pytest.mark.usefixtures("posix")
def test_a_file_that_is_read_only(writers, proves):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        with open_store(path) as store:
            for run in RUNS:
                store.add(run)
        path.chmod(0o444)
        Path(folder).chmod(0o555)
        error = writers("readonly", f"sqlite:///{path}")
        assert "read-only" in error
        Path(folder).chmod(0o755)
    proves("A read-only store can be read, and writing to it gives a clear error", 1, "stores")


def test_another_process_holds_the_store(path, monkeypatch):
    monkeypatch.setattr(database, "_TIMEOUT", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    with open_store(path) as store:
        holder.execute("BEGIN IMMEDIATE")
        assert "locked by another process" in sentence(lambda: store.add(random_run(7)))
        assert store.count() == 6  # reading goes on
        holder.execute("ROLLBACK")
        assert store.add(random_run(7))
    holder.close()


def test_an_unreachable_server(proves):
    for url in (
        "postgresql://me:hidden@127.0.0.1:1/l2t",
        "postgresql://me:hidden@/l2t?host=/nowhere",
        "postgresql:///l2t?host=/nowhere&password=hidden&sslpassword=hidden",
        "postgresql:///l2t?host=/nowhere&pass%77ord=hidden&oauth_client_secret=hidden",
    ):
        error = sentence(lambda url=url: open_store(url))
        assert "cannot be reached" in error
        assert "hidden" not in error
    proves("A password in the URL of a store is not shown", 4, "URLs")


@pytest.mark.integration
def test_a_server_that_restarts_is_waited_for(postgres, postgres_server, monkeypatch, proves):
    """It starts again when the store has begun to wait for it."""
    package = sys.modules[type(postgres_server).__module__]
    restarts = 3
    with open_store(postgres()) as store:
        for number in range(restarts):
            stop = ["-D", str(postgres_server.pgdata), "-m", "immediate", "-w", "stop"]
            where = {"bin_path": postgres_server.bin_path, "user": postgres_server.system_user}
            package.pgexec("pg_ctl", stop, **where, timeout=300)
            with monkeypatch.context() as patch:
                patch.setenv("PGCTLTIMEOUT", "300")
                clock = SimpleNamespace(sleep=lambda _: postgres_server.ensure_postgres_running())
                patch.setattr(database, "time", clock)
                with pytest.warns(L2TWarning, match="does not answer; waiting for up to 61 s"):
                    assert store.add(RUNS[number])
        assert store.keys() == {run.key for run in RUNS}
    proves(
        "L2T waits for a PostgreSQL server that restarts, and loses nothing", restarts, "restarts"
    )


def test_what_a_lost_connection_interrupted_is_repeated(postgres):
    with open_store(postgres()) as store:
        attempts = []

        def lose_it(connection):
            attempts.append(connection)
            if len(attempts) < 3:
                connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")
            return "done"

        assert store._database.write(lose_it) == "done"
        assert len(attempts) == 3
        always = lambda connection: lose_it(attempts.clear() or connection)  # noqa: E731
        assert "terminating connection" in sentence(lambda: store._database.read(always))


def test_the_log_is_in_the_file_when_the_store_is_closed(path, tmp_path):
    """Even where somebody else has it open, as the dashboard may."""
    with open_store(path) as other:
        assert other.count()
        with open_store(path) as store:
            store.add(random_run(8))
        shutil.copy(path, tmp_path / "copy.db")
    with open_store(tmp_path / "copy.db") as copy:
        assert random_run(8).key in copy.keys()  # noqa: SIM118


def test_a_wrong_password(postgres_server):
    rules = postgres_server.pgdata / "pg_hba.conf"
    before = rules.read_text()
    asked = "local all guest scram-sha-256\nhost all guest all scram-sha-256\n"
    rules.write_text(asked + before)
    loaded = postgres_server.psql("SELECT pg_conf_load_time();")
    postgres_server.psql("CREATE ROLE guest LOGIN PASSWORD 'right'; SELECT pg_reload_conf();")
    while postgres_server.psql("SELECT pg_conf_load_time();") == loaded:
        pass
    try:
        url = postgres_server.get_uri().replace("postgres:@", "guest:wrong@")
        error = sentence(lambda: open_store(url))
        assert "password authentication failed" in error
        assert "wrong" not in error
        assert "does not exist" in sentence(
            lambda: open_store(postgres_server.get_uri(database="nothing"))
        )
    finally:
        rules.write_text(before)
        postgres_server.psql("SELECT pg_reload_conf();")


def test_a_server_where_a_table_is_missing(postgres, postgres_server):
    url = postgres()
    with open_store(url) as store:
        schema = url.rpartition("%3D")[2]
        postgres_server.psql(f"DROP TABLE {schema}.l2t_scores;")
        assert "l2t_scores" in sentence(store.count, StoreCorruptError)


def test_without_psycopg(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'l2t\[postgres\]'"):
        open_store("postgresql://localhost/l2t")


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:secret@host/x",
        "mysql://host/x?password=secret",
        "experiences",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "memory://x",
        3,
    ],
)
def test_addresses_that_are_none(url):
    with pytest.raises(InvalidInputError) as caught:
        open_store(url)
    assert "secret" not in str(caught.value)
