"""Detection of file formats: by the first bytes, for text by the file extension, else by the first lines."""

from __future__ import annotations

import gzip
import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from l2t.domains.files._load import TOO_LARGE
from l2t.exceptions import FileFormatError, InvalidInputError, MissingExtraError
from l2t.validation import free_memory, one_of

FORMATS = ("npz", "csv", "xlsx", "parquet", "mat", "svmlight")

_ENDINGS = {f".{format}": format for format in FORMATS}
_ENDINGS |= {".tsv": "csv", ".pq": "parquet", ".libsvm": "svmlight", ".svm": "svmlight"}
_MATLAB = (b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file", b"\x89HDF\r\n\x1a\n")
_FOREIGN = {
    b"\x93NUMPY": "is a single npy array, which cannot hold labels: save it with np.savez",
    b"\x80\x04\x95": "is a pickle, which could run code and is not read",
    b"\x80\x05\x95": "is a pickle, which could run code and is not read",
    b"\xd0\xcf\x11\xe0": "is a spreadsheet in an old format: save it as xlsx or csv",
}
_NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SVMLIGHT_LINE = re.compile(rb"\s*%b\s+(?:qid:\d+\s+)?\d+:%b(?:\s|$)" % (_NUMBER, _NUMBER))
_BARE_LABEL = re.compile(rb"\s*(?:%b)?\s*(?:#.*)?" % _NUMBER)  # a row of zeros, or a comment
#: Bytes of memory that the table in any file may take, and further ones per byte of the file: a sheet of
#: numbers takes about 50 per byte, a parquet column of few repeated texts some hundred.
_SMALL, _LARGEST_RATIO = 2**29, 500


def format_to_write(path: Path, formats: tuple[str, ...], format: str | None = None) -> str:
    """Return `format`, by default that of the file extension; it must be one of `formats`."""
    if format is None and path.suffix.lower() not in _ENDINGS:
        endings = [ending for ending, kind in _ENDINGS.items() if kind in formats]
        raise InvalidInputError(
            f"the file extension must be one of {', '.join(endings)}, got {path.name!r}"
        )
    format = format or _ENDINGS[path.suffix.lower()]
    one_of("format", format, formats)
    return format


def require(package: str, extra: str) -> None:
    """Raise an error that names the extra if a package is not installed."""
    try:
        import_module(package)
    except ImportError:
        raise MissingExtraError(f"{extra} files", extra) from None


def format_to_read(path: Path) -> str:
    """Return the format of an existing file; the content takes precedence over the file extension."""
    if archive := _in_archive(path):
        return archive
    with unpacked(path) as handle:
        head = handle.read(64 * 1024)
    for magic, sentence in _FOREIGN.items():
        if head.startswith(magic):
            raise FileFormatError(f"{sentence}; the supported formats are {', '.join(FORMATS)}")
    if head.startswith(b"PAR1") and b"\0" in head:  # a csv column may be named PAR1
        return "parquet"
    if head.startswith(_MATLAB):
        return "mat"
    endings = [_ENDINGS[ending] for ending in map(str.lower, path.suffixes) if ending in _ENDINGS]
    return endings[-1] if endings else _text_format(head)


def load_in_child(format: str, path: Path, most: float) -> bytes:
    """Return what `_load.py` writes for a file, from a process that may take `most` bytes of memory."""
    script = str(Path(__file__).with_name("_load.py"))
    command = [sys.executable, "-P", "-W", "ignore", script, format, str(path)]
    done = subprocess.run([*command, str(int(min(most, 2**62)))], capture_output=True, check=False)
    if done.returncode != 0:
        sentence = done.stderr.decode(errors="replace") if done.returncode == 2 else ""
        raise FileFormatError(sentence or "is damaged: reading it ended the process that read it")
    return done.stdout


def memory_for(path: Path) -> int:
    """Return the bytes of memory that the table in a file may take."""
    return int(min(free_memory() / 2, _SMALL + _LARGEST_RATIO * path.stat().st_size))


def check_table(path: Path, needed: float) -> None:
    """Reject a table that takes more memory than its file may."""
    if needed > (most := memory_for(path)):
        raise FileFormatError(TOO_LARGE.format(most >> 20))


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading; one that is compressed by gzip or zip is decompressed."""
    with path.open("rb") as raw:
        magic = raw.read(4)
        raw.seek(0)
        if magic.startswith(b"\x1f\x8b"):
            with gzip.open(raw) as handle:
                yield io.BufferedReader(_Bounded(handle))
        elif magic == b"PK\x03\x04":
            with zipfile.ZipFile(raw) as archive:
                names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
                if (count := len(names)) != 1:
                    raise FileFormatError(f"must be a zip archive of one table, got {count} files")
                with archive.open(names[0]) as member:
                    yield io.BufferedReader(_Bounded(member))
        else:
            yield raw


class _Bounded(io.RawIOBase):
    """A decompressed stream that ends with an error where it exceeds a quarter of the free memory."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._left = stream, free_memory() / 4

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = int(self._stream.readinto(buffer))
        self._left -= count
        if self._left < 0:
            raise FileFormatError("unpacks to more than a quarter of the free memory")
        return count


def _in_archive(path: Path) -> str | None:
    """Return "npz" or "xlsx" for a zip archive of that format, else None."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        return None
    if any(name.endswith(".npy") for name in names):
        return "npz"
    return "xlsx" if "[Content_Types].xml" in names else None


def _text_format(head: bytes) -> str:
    for line in head.splitlines():
        if _SVMLIGHT_LINE.match(line):
            return "svmlight"
        if not _BARE_LABEL.fullmatch(line):
            break
    return "csv"
