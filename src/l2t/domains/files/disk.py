"""Paths: errors that name the file, and atomic replacement of a file."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from l2t.exceptions import FileFormatError, InvalidInputError, L2TError, MissingExtraError
from l2t.validation import check_memory


def as_path(path: object) -> Path:
    """Return `path` as a Path; any other type is an error."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidInputError(f"path must be a str or a path, got {type(path).__name__}")
    return Path(path)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Check that a file can be read, and convert any error inside into a FileFormatError that names it."""
    with naming(path):
        if not path.exists():
            raise FileFormatError("there is no such file")
        if path.is_dir():
            raise FileFormatError("is a directory, not a file")
        if not path.is_file():
            raise FileFormatError("is not a regular file")
        if (size := path.stat().st_size) == 0:
            raise FileFormatError("is empty")
        check_memory("the file", size)
        yield


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Convert any error inside into a FileFormatError that names the file or URL that is read."""
    try:
        yield
    except MissingExtraError:
        raise
    except FileFormatError as error:
        raise type(error)(f"{path}: {error}") from None
    except L2TError as error:
        raise FileFormatError(f"{path}: {error}") from None
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read: {reason(error)}") from error
    except MemoryError as error:
        raise FileFormatError(f"{path}: needs more memory than there is") from error
    # On a damaged file, numpy, zipfile, pyarrow and scikit-learn raise errors of any type.
    except Exception as error:
        wrong = f"is damaged or of another format: {reason(error)}"
        raise FileFormatError(f"{path}: {wrong}") from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert any error inside into an L2TError that names the file."""
    try:
        yield
    except MissingExtraError:
        raise
    except L2TError as error:
        raise type(error)(f"{path}: {error}") from None
    except UnicodeEncodeError as error:
        what = f"labels and groups must be valid Unicode, got {error.object!r:.80}"
        raise InvalidInputError(f"{path}: {what}") from None
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be written: {reason(error)}") from error
    # pyarrow raises errors of any type for what its format cannot hold.
    except Exception as error:
        raise InvalidInputError(f"{path}: cannot hold the domain: {reason(error)}") from error


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` on success and is deleted on an error."""
    target = check_replaceable(path)
    fresh = target.with_name(f".l2t-{secrets.token_hex(8)}.tmp")
    try:
        with fresh.open("xb") as handle:
            if target.exists():  # before any content, which may be private, is written
                shutil.copymode(target, fresh)
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)


def check_replaceable(path: Path) -> Path:
    """Return the file to write, with symbolic links resolved, after checking that it can be replaced."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise FileFormatError("is not a regular file")
    if not target.parent.is_dir():
        raise FileFormatError("cannot be written: its directory does not exist")
    return target


def reason(error: Exception) -> str:
    """Return the first line of an error message, shortened."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = str(error).splitlines()
    return lines[0][:200] if lines and lines[0].strip() else "it cannot be read"
