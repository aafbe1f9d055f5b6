"""Errors of a database as one sentence that says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from l2t.exceptions import StoreCorruptError, StoreError
from l2t.experiences.store.address import Address

__all__ = ["store_errors"]

_SQLITE = {
    "SQLITE_NOTADB": "is not an experience store: the file is not an SQLite database",
    "SQLITE_CORRUPT": "is damaged: parts of the file are missing or overwritten; restore it from a "
    "copy, or recover what can be read with `sqlite3 FILE .recover`, as docs/guide/team.md shows",
    "SQLITE_FULL": "cannot be written because the disk is full; what was stored before is intact",
    "SQLITE_IOERR": "cannot be used because the disk failed, is full or has a limit on the size of "
    "files; what was stored before is intact",
    "SQLITE_READONLY": "cannot be written because its file or directory is read-only",
    "SQLITE_CANTOPEN": "cannot be opened: its directory must exist, and both must be readable",
    "SQLITE_AUTH": "cannot be opened: its file must be readable",
    "SQLITE_BUSY": "has been locked by another process for minutes; wait or end it, and try again",
}
_MISSING = ("no such table", "no such column", "does not exist")


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
    if "l2t_" in message and any(each in message for each in _MISSING):
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
