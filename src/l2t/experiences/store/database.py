"""Connections, transactions and errors of the database behind a store.

SQLite runs in WAL mode, so that readers never wait for a writer, with `synchronous` FULL, so that a commit
survives a loss of power. A write begins with BEGIN IMMEDIATE, which avoids "database is locked" among many
writers. PostgreSQL writers share an advisory lock that excludes deletions: no array is deleted between
being found and being referenced. If a PostgreSQL server that was reachable does not answer, it may be
restarting: connecting is retried for a minute, and interrupted reads and writes are repeated.
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
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from l2t.exceptions import L2TWarning, MissingExtraError, StoreCorruptError, StoreError
from l2t.experiences.store.address import Address

if TYPE_CHECKING:
    from sqlalchemy import Executable

    from l2t.experiences.store.schema import ResultRow

T = TypeVar("T")
_TIMEOUT = 300.0  # seconds that a writer waits for a lock
_RETRY_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.5, *[2.0] * 29)  # seconds between attempts to connect
_QUICKLY_VERIFIED = 1000  # pages of 4 KiB, which SQLite verifies in about 10 ms
_MAX_RETRIES = 5  # of a transaction after its connection was lost
_ADVISORY_LOCK = 0x6C3274  # "l2t": the advisory lock of PostgreSQL writers
_SQLITE_ERRORS = {
    "SQLITE_NOTADB": "is not an experience store: the file is not an SQLite database",
    "SQLITE_CORRUPT": "is damaged: parts of the file are missing or overwritten; restore it from a "
    "copy, or recover what can be read with `sqlite3 FILE .recover`, as docs/guide/team.md shows",
    "SQLITE_FULL": "cannot be written because the disk is full; all earlier data are intact",
    "SQLITE_IOERR": "cannot be used because the disk failed, is full or has a limit on the size of "
    "files; all earlier data are intact",
    "SQLITE_READONLY": "cannot be written because its file or directory is read-only",
    "SQLITE_CANTOPEN": "cannot be opened: its directory must exist, and both must be readable",
    "SQLITE_BUSY": "is locked by another process; try again when that has finished or was stopped",
}


class Conflict(Exception):
    """Another writer added the same row at the same time; the transaction must be rolled back."""


class Database:
    """Transactions on one database, from any thread and after a fork."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._engine: Engine | None = None
        self._process = 0
        self._was_reachable = False
        # A database in memory has one connection, and one transaction at a time.
        self._lock: Any = threading.RLock() if address.kind == "memory" else nullcontext()

    def reading(self) -> AbstractContextManager[Connection]:
        """Return a connection with a snapshot of the database, as a context manager."""
        server = self.address.kind == "postgresql"
        return self._transaction({"isolation_level": "REPEATABLE READ"} if server else {})

    @contextmanager
    def writing(self, *, exclusive: bool = False) -> Iterator[Connection]:
        """Open a connection whose changes are committed together; on an error they are rolled back.

        With `exclusive` there is no other writer, as is needed to delete rows or to change tables.
        """
        with self._transaction({"l2t_write": True}) as connection:
            if self.address.kind == "postgresql":
                shared = "" if exclusive else "_shared"
                connection.execute(text(f"SELECT pg_advisory_xact_lock{shared}({_ADVISORY_LOCK})"))
            yield connection

    def rows(self, query: Executable) -> list[ResultRow]:
        """Return all rows of a query; a damaged small file is an error, see `verify`."""
        self.verify()
        return self.read(lambda connection: list(connection.execute(query).all()))

    def read(self, action: Callable[[Connection], T]) -> T:
        """Return the result of an action on a snapshot, repeated if the connection is lost."""
        return self._retry(self.reading, action)

    def write(self, action: Callable[[Connection], T]) -> T:
        """Return the result of an action in a transaction, repeated on conflict or a lost connection."""
        return self._retry(self.writing, action)

    def verify(self, *, any_size: bool = False) -> None:
        """Raise a StoreCorruptError if the pages and indexes of an SQLite file do not fit together.

        A damaged index would leave out rows without an error. By default only a small file is verified: for
        a large one it takes seconds, which is little only where all experiences are read.
        """
        if self.address.kind != "sqlite":
            return

        def problem(connection: Connection) -> str:
            size = connection.execute(text("PRAGMA page_count")).scalar()
            if not any_size and (size or 0) > _QUICKLY_VERIFIED:
                return "ok"
            return str(connection.execute(text("PRAGMA integrity_check(1)")).scalar())

        if self.read(problem) != "ok":
            raise StoreCorruptError(f"{self.address.shown} {_SQLITE_ERRORS['SQLITE_CORRUPT']}")

    def _retry(
        self,
        begin: Callable[[], AbstractContextManager[Connection]],
        action: Callable[[Connection], T],
    ) -> T:
        losses = 0
        while True:
            try:
                with begin() as connection:
                    return action(connection)
            except Conflict:  # the row of the other writer is found now
                continue
            except StoreError as error:
                losses += 1
                lost = getattr(error.__cause__, "connection_invalidated", False)
                if not lost or losses > _MAX_RETRIES:
                    raise

    def close(self) -> None:
        """Close all connections; a later transaction opens new ones."""
        engine, self._engine = self._engine, None
        own = self._process == os.getpid()  # after a fork, the connections belong to the parent
        if engine is not None and own and self.address.kind == "sqlite":
            # While another process has the file open, closing does not write the WAL back to it.
            errors = (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError)  # as `store_errors`
            with suppress(*errors), closing(engine.raw_connection()) as raw:
                raw.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")
        if engine is not None:
            engine.dispose(close=own)

    @contextmanager
    def _transaction(self, options: dict[str, str | bool]) -> Iterator[Connection]:
        with self._lock, store_errors(self.address):
            engine = self._engine
            if engine is None or self._process != os.getpid():
                self.close()
                engine = _engine(self.address)
                self._process, self._engine = os.getpid(), engine
            with self._connect(engine) as opened, opened.execution_options(**options).begin():
                yield opened

    def _connect(self, engine: Engine) -> Connection:
        """Return a connection; retry if the server was reachable before."""
        for pause in _RETRY_PAUSES if self._was_reachable else ():
            try:
                return engine.connect()
            except OperationalError:
                if pause == _RETRY_PAUSES[0]:
                    wait = f"does not answer; waiting for up to {sum(_RETRY_PAUSES):.0f} s"
                    warnings.warn(f"{self.address.shown} {wait}", L2TWarning, stacklevel=2)
                time.sleep(pause)
        connection = engine.connect()
        self._was_reachable = self.address.kind == "postgresql"
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
        engine = create_engine(address.engine_url, creator=lambda: _connect_sqlite(path))
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _connect_sqlite(path: Path) -> sqlite3.Connection:
    """Open the file; one that is not writeable is opened read-only."""
    options = "mode=rwc"
    if path.exists() and not os.access(path, os.W_OK):
        options = "mode=ro"
        if not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists():
            options = "mode=ro&immutable=1"  # WAL needs further files, which cannot be created here
    address = f"{path.as_uri()}?{options}"
    connection = sqlite3.connect(address, uri=True, timeout=_TIMEOUT, check_same_thread=False)
    try:
        if options == "mode=rwc":
            _use_wal(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch the file to WAL mode, which is permanent; SQLite itself does not wait for the lock here."""
    end = time.monotonic() + _TIMEOUT
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
    connection.isolation_level = None  # `_begin` starts transactions, not the driver
    for pragma in ("foreign_keys = ON", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    write = connection.get_execution_options().get("l2t_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


@contextmanager
def store_errors(address: Address) -> Iterator[None]:
    """Convert a database error into a StoreError that begins with the URL of the store."""
    try:
        yield
    except UnicodeDecodeError as error:  # of a message of SQLite that quotes the damaged part
        raise StoreCorruptError(f"{address.shown} {_SQLITE_ERRORS['SQLITE_CORRUPT']}") from error
    except (DBAPIError, sqlite3.Error) as error:  # the latter while connecting
        kind, sentence = _describe(error.orig if isinstance(error, DBAPIError) else error)
        raise kind(f"{address.shown} {sentence}") from error
    except SQLAlchemyError as error:
        raise StoreError(f"{address.shown} cannot be used: {_first_line(error)}") from error
    except StoreError as error:
        if "://" in str(error):  # the URL is included
            raise
        raise type(error)(f"{address.shown}: {error}") from None


def _describe(error: Exception | None) -> tuple[type[StoreError], str]:
    message = _first_line(error)
    missing = ("no such table", "no such column", "does not exist")
    if "l2t_" in message and any(phrase in message for phrase in missing):
        return StoreCorruptError, f"is incomplete: {message}; restore it from a copy"
    if isinstance(error, sqlite3.Error):
        name = getattr(error, "sqlite_errorname", "")
        name = "SQLITE_CANTOPEN" if "unable to open" in message else name
        name = "SQLITE_CORRUPT" if "Could not decode to UTF-8" in message else name
        for code, sentence in _SQLITE_ERRORS.items():
            if name.startswith(code):
                damaged = code in ("SQLITE_NOTADB", "SQLITE_CORRUPT")
                return StoreCorruptError if damaged else StoreError, sentence
    elif getattr(error, "sqlstate", None) is None:
        return StoreError, f"cannot be reached: {message}"
    return StoreError, f"cannot be used: {message}"


def _first_line(error: object) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
