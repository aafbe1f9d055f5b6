"""Connections and transactions of the database behind a store.

SQLite runs in WAL mode, so that readers never wait for a writer, with `synchronous` FULL: what was
committed survives a loss of power, at the price of one fsync per transaction. A write begins with BEGIN
IMMEDIATE: it waits for its turn before it reads anything, which avoids "database is locked" among many
writers. PostgreSQL writers hold a shared advisory lock and those that delete an exclusive one, so that no
array is deleted between being found and being referred to.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.pool import StaticPool

from l2t.exceptions import MissingExtraError
from l2t.experiences.store.address import Address
from l2t.experiences.store.failures import store_errors

__all__ = ["Conflict", "Database"]

T = TypeVar("T")
_PATIENCE = 300.0  # seconds that a writer waits for its turn
_LOCK = 0x6C3274  # "l2t": the advisory lock of PostgreSQL writers


class Conflict(Exception):
    """Another writer added the same row at the same time; the transaction must be rolled back."""


class Database:
    """Short transactions on one database, from any thread and after a fork."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._engine: Engine | None = None
        self._process = 0
        # A database in memory has one connection: its transactions take turns.
        self._turn: Any = threading.RLock() if address.kind == "memory" else nullcontext()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that sees the database as it was at one moment."""
        server = self.address.kind == "postgresql"
        options = {"isolation_level": "REPEATABLE READ"} if server else {}
        with self._transaction(options) as connection:
            yield connection

    @contextmanager
    def writing(self, *, alone: bool = False) -> Iterator[Connection]:
        """Give a connection whose changes are committed together, or not at all.

        Parameters
        ----------
        alone : bool, default=False
            Keep every other writer out, as is needed to delete rows or to change tables.
        """
        with self._transaction({"l2t_write": True}) as connection:
            if self.address.kind == "postgresql":
                shared = "" if alone else "_shared"
                connection.execute(text(f"SELECT pg_advisory_xact_lock{shared}({_LOCK})"))
            yield connection

    def write(self, action: Callable[[Connection], T]) -> T:
        """Return what an action gives in a transaction of its own, which is repeated on conflict."""
        while True:
            try:
                with self.writing() as connection:
                    return action(connection)
            except Conflict:  # what the other writer added is found now
                continue

    def close(self) -> None:
        """Close every connection; a later transaction opens new ones."""
        engine, self._engine = self._engine, None
        if engine is not None:
            # After a fork, the connections are the parent's.
            engine.dispose(close=self._process == os.getpid())

    @contextmanager
    def _transaction(self, options: dict[str, Any]) -> Iterator[Connection]:
        with self._turn, store_errors(self.address):
            if self._process != os.getpid():
                self.close()
            if self._engine is None:
                self._engine, self._process = _engine(self.address), os.getpid()
            with self._engine.connect() as opened, opened.execution_options(**options).begin():
                yield opened


def _engine(address: Address) -> Engine:
    if address.kind == "postgresql":
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise MissingExtraError("a PostgreSQL store", "postgres") from None
        return create_engine(
            address.engine_url, pool_pre_ping=True, connect_args={"connect_timeout": 10}
        )
    if address.kind == "memory":
        engine = create_engine(
            address.engine_url, poolclass=StaticPool, connect_args={"check_same_thread": False}
        )
    else:
        engine = create_engine(address.engine_url, creator=lambda: _connect(address))
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _connect(address: Address) -> sqlite3.Connection:
    """Open the file; one that may not be written is opened for reading only."""
    path = address.path
    assert path is not None
    options = "mode=rwc"
    if path.exists() and not os.access(path, os.W_OK):
        options = "mode=ro"
        beside = path.with_name(path.name + "-wal")
        if not os.access(path.parent, os.W_OK) and not beside.exists():
            options = "mode=ro&immutable=1"  # WAL needs files beside it, which cannot be made here
    connection = sqlite3.connect(
        f"{path.as_uri()}?{options}", uri=True, timeout=_PATIENCE, check_same_thread=False
    )
    try:
        if options == "mode=rwc":
            _use_wal(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL, once in the life of a file; SQLite itself does not wait for its turn here."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").close()
            return
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
            if not busy or time.monotonic() > end:
                raise
        time.sleep(0.01)


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # `_begin` begins transactions, not the driver
    for pragma in ("foreign_keys = ON", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    write = connection.get_execution_options().get("l2t_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
