"""Connections, transactions and errors of the database behind a store.

SQLite runs in WAL mode, so that readers never wait for a writer, with `synchronous` FULL, so that a commit
survives a loss of power. A write begins with BEGIN IMMEDIATE, which avoids "database is locked" among many
writers. PostgreSQL writers share an advisory lock that excludes those who delete: no array is deleted between
being found and referred to. A PostgreSQL server that answered before and does not now may be restarting: it
is waited for, and reads and writes that it interrupted are repeated.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from l2t.exceptions import L2TWarning, MissingExtraError, StoreCorruptError, StoreError
from l2t.experiences.store.address import Address

T = TypeVar("T")
_PATIENCE = 300.0  # seconds that a writer waits for its turn
_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.5, *[2.0] * 29)  # seconds, while a server restarts
_REPEATS = 5  # of what a lost connection interrupted
_LOCK = 0x6C3274  # "l2t": the advisory lock of PostgreSQL writers
_SQLITE = {
    "SQLITE_NOTADB": "is not an experience store: the file is not an SQLite database",
    "SQLITE_CORRUPT": "is damaged: parts of the file are missing or overwritten; restore it from a "
    "copy, or recover what can be read with `sqlite3 FILE .recover`, as docs/guide/team.md shows",
    "SQLITE_FULL": "cannot be written because the disk is full; what was stored before is intact",
    "SQLITE_IOERR": "cannot be used because the disk failed, is full or has a limit on the size of "
    "files; what was stored before is intact",
    "SQLITE_READONLY": "cannot be written because its file or directory is read-only",
    "SQLITE_CANTOPEN": "cannot be opened: its directory must exist, and both must be readable",
    "SQLITE_BUSY": "has been locked by another process for minutes; wait or end it, and try again",
}


class Conflict(Exception):
    """Another writer added the same row at the same time; the transaction must be rolled back."""


class Database:
    """Short transactions on one database, from any thread and after a fork."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._engine: Engine | None = None
        self._process = 0
        self._answered = False
        # A database in memory has one connection: its transactions take turns.
        self._turn: Any = threading.RLock() if address.kind == "memory" else nullcontext()

    def reading(self) -> AbstractContextManager[Connection]:
        """Give a connection that sees the database as it was at one moment."""
        server = self.address.kind == "postgresql"
        return self._transaction({"isolation_level": "REPEATABLE READ"} if server else {})

    @contextmanager
    def writing(self, *, alone: bool = False) -> Iterator[Connection]:
        """Give a connection whose changes are committed together, or not at all.

        With `alone` every other writer is kept out, as is needed to delete rows or to change tables.
        """
        with self._transaction({"l2t_write": True}) as connection:
            if self.address.kind == "postgresql":
                shared = "" if alone else "_shared"
                connection.execute(text(f"SELECT pg_advisory_xact_lock{shared}({_LOCK})"))
            yield connection

    def rows(self, query: Any) -> list[Any]:
        """Return all rows of a query."""
        return self.read(lambda connection: list(connection.execute(query).all()))

    def read(self, action: Callable[[Connection], T]) -> T:
        """Return what an action finds in a snapshot, repeated where the connection is lost."""
        return self._repeated(self.reading, action)

    def write(self, action: Callable[[Connection], T]) -> T:
        """Return the result of an action in a transaction of its own, repeated on conflict or loss."""
        return self._repeated(self.writing, action)

    def _repeated(self, begin: Callable[[], Any], action: Callable[[Connection], T]) -> T:
        losses = 0
        while True:
            try:
                with begin() as connection:
                    return action(connection)
            except Conflict:  # what the other writer added is found now
                continue
            except StoreError as error:
                losses += 1
                lost = getattr(error.__cause__, "connection_invalidated", False)
                if not lost or losses > _REPEATS:
                    raise

    def close(self) -> None:
        """Close every connection; a later transaction opens new ones."""
        engine, self._engine = self._engine, None
        own = self._process == os.getpid()  # after a fork, the connections are the parent's
        if engine is not None and own and self.address.kind == "sqlite":
            # Others may have the file open, and then closing does not do it.
            with suppress(SQLAlchemyError, sqlite3.Error), closing(engine.raw_connection()) as raw:
                raw.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")
        if engine is not None:
            engine.dispose(close=own)

    @contextmanager
    def _transaction(self, options: dict[str, Any]) -> Iterator[Connection]:
        with self._turn, store_errors(self.address):
            engine = self._engine
            if engine is None or self._process != os.getpid():
                self.close()
                engine = _engine(self.address)
                self._process, self._engine = os.getpid(), engine
            with self._connected(engine) as opened, opened.execution_options(**options).begin():
                yield opened

    def _connected(self, engine: Engine) -> Connection:
        """Return a connection; a server that answered before is waited for."""
        for pause in _PAUSES if self._answered else ():
            try:
                return engine.connect()
            except OperationalError:
                if pause == _PAUSES[0]:
                    wait = f"does not answer; waiting for up to {sum(_PAUSES):.0f} s"
                    warnings.warn(f"{self.address.shown} {wait}", L2TWarning, stacklevel=2)
                time.sleep(pause)
        connection = engine.connect()
        self._answered = self.address.kind == "postgresql"
        return connection


def _engine(address: Address) -> Engine:
    if address.kind == "postgresql":
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise MissingExtraError("a PostgreSQL store", "postgres") from None
        patience = {"connect_timeout": 10}
        return create_engine(address.engine_url, pool_pre_ping=True, connect_args=patience)
    if (path := address.path) is None:
        threads = {"check_same_thread": False}
        engine = create_engine(address.engine_url, poolclass=StaticPool, connect_args=threads)
    else:
        engine = create_engine(address.engine_url, creator=lambda: _connect(path))
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _connect(path: Path) -> sqlite3.Connection:
    """Open the file; one that may not be written is opened for reading only."""
    options = "mode=rwc"
    if path.exists() and not os.access(path, os.W_OK):
        options = "mode=ro"
        if not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists():
            options = "mode=ro&immutable=1"  # WAL needs files beside it, which cannot be made here
    address = f"{path.as_uri()}?{options}"
    connection = sqlite3.connect(address, uri=True, timeout=_PATIENCE, check_same_thread=False)
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


@contextmanager
def store_errors(address: Address) -> Iterator[None]:
    """Turn an error of the database into a StoreError that begins with the address of the store."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:  # the latter while connecting
        kind, sentence = _sentence(error.orig if isinstance(error, DBAPIError) else error)
        raise kind(f"{address.shown} {sentence}") from error
    except SQLAlchemyError as error:
        raise StoreError(f"{address.shown} cannot be used: {_first_line(error)}") from error
    except StoreError as error:
        if "://" in str(error):  # it names a store already
            raise
        raise type(error)(f"{address.shown}: {error}") from None


def _sentence(error: Any) -> tuple[type[StoreError], str]:
    message = _first_line(error)
    missing = ("no such table", "no such column", "does not exist")
    if "l2t_" in message and any(each in message for each in missing):
        return StoreCorruptError, f"is incomplete: {message}; restore it from a copy"
    if isinstance(error, sqlite3.Error):
        name = getattr(error, "sqlite_errorname", "")
        name = "SQLITE_CANTOPEN" if "unable to open" in message else name
        for code, sentence in _SQLITE.items():
            if name.startswith(code):
                damaged = code in ("SQLITE_NOTADB", "SQLITE_CORRUPT")
                return StoreCorruptError if damaged else StoreError, sentence
    elif getattr(error, "sqlstate", None) is None:
        return StoreError, f"cannot be reached: {message}"
    return StoreError, f"cannot be used: {message}"


def _first_line(error: Any) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
