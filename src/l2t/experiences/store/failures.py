"""What a database complains about, in one sentence that says how to put it right."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from l2t.exceptions import StoreCorruptError, StoreError
from l2t.experiences.store.address import Address

__all__ = ["told"]

_SQLITE: tuple[tuple[str, type[StoreError], str], ...] = (
    (
        "SQLITE_NOTADB",
        StoreCorruptError,
        "is not an experience store: the file is not an SQLite database",
    ),
    (
        "SQLITE_CORRUPT",
        StoreCorruptError,
        "is damaged: parts of the file are missing or overwritten; restore it from a copy, or take what "
        "can be read into a new store with `l2t store rescue`",
    ),
    (
        "SQLITE_FULL",
        StoreError,
        "cannot be written, for the disk is full; all that was stored before is intact",
    ),
    (
        "SQLITE_IOERR",
        StoreError,
        "could not be {doing}, for the disk failed, is full or has a limit on the size of files; what "
        "was stored before is intact",
    ),
    ("SQLITE_READONLY", StoreError, "cannot be written, for its file or directory is read-only"),
    (
        "SQLITE_CANTOPEN",
        StoreError,
        "cannot be opened: its directory must exist, and both must be readable for you",
    ),
    ("SQLITE_AUTH", StoreError, "cannot be opened: its file is not readable for you"),
    (
        "SQLITE_BUSY",
        StoreError,
        "has been held by another process for minutes; wait for it or end it, and try again",
    ),
    ("SQLITE_TOOBIG", StoreError, "cannot hold an array as large as this"),
)
_MISSING = ("no such table", "no such column", "does not exist")
_PARTICIPLE = {"read": "read", "write": "written"}


@contextmanager
def told(address: Address, doing: str) -> Iterator[None]:
    """Turn an error of the database into a StoreError that begins with the address of the store."""
    try:
        yield
    except DBAPIError as error:
        kind, sentence = _sentence(error.orig, doing)
        raise kind(f"{address.shown} {sentence}") from error
    except sqlite3.Error as error:  # while connecting
        kind, sentence = _sentence(error, doing)
        raise kind(f"{address.shown} {sentence}") from error
    except SQLAlchemyError as error:
        raise StoreError(f"{address.shown} cannot be used: {_first_line(error)}") from error
    except StoreError as error:
        if str(error).startswith(address.shown):
            raise
        raise type(error)(f"{address.shown}: {error}") from None


def _sentence(error: Any, doing: str) -> tuple[type[StoreError], str]:
    said = _first_line(error)
    if "l2t_" in said and any(each in said for each in _MISSING):
        return StoreCorruptError, f"is not whole: {said}; restore it from a copy"
    if isinstance(error, sqlite3.Error):
        name = getattr(error, "sqlite_errorname", "")
        for code, kind, sentence in _SQLITE:
            if name.startswith(code):
                return kind, sentence.format(doing=_PARTICIPLE[doing])
        if "unable to open" in said:
            return _SQLITE[5][1:]
    elif getattr(error, "sqlstate", None) is None:
        return StoreError, f"cannot be reached: {said}"
    return StoreError, f"could not be {_PARTICIPLE[doing]}: {said}"


def _first_line(error: Any) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
