"""Which format a file has: binary formats by their first bytes, text by the ending, else by looks.

The first bytes of a binary format cannot be there by accident, so they count more than the ending:
a parquet file that was named ``.csv`` is read as parquet. An ending decides where the content says
nothing, which gives a damaged ``.npz`` the npz reader's sentence.
"""

from __future__ import annotations

import re
from pathlib import Path

from l2t.exceptions import FileFormatError, InvalidInputError

__all__ = ["FORMATS", "check_format", "format_to_read", "format_to_write"]

FORMATS = ("npz", "csv", "parquet", "mat", "svmlight")

_ENDINGS = {
    ".npz": "npz",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".mat": "mat",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
}
_SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_HEAD = 64 * 1024
_FOREIGN = {
    b"\x93NUMPY": "a single npy array, which has no place for labels: save it with np.savez",
    b"\x80\x04\x95": "a pickle, which could run code and is not read",
    b"\x80\x05\x95": "a pickle, which could run code and is not read",
    b"\x1f\x8b": "compressed by gzip: unpack it first",
}
_HDF5 = b"\x89HDF\r\n\x1a\n"
_NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SVMLIGHT_LINE = re.compile(rb"\s*%b\s+(?:qid:\d+\s+)?\d+:%b(?:\s|$)" % (_NUMBER, _NUMBER))
_BARE_LABEL = re.compile(rb"\s*(?:%b)?\s*(?:#.*)?" % _NUMBER)  # a row of zeros, or a comment


def check_format(format: str) -> None:
    """Refuse the name of a format that is none."""
    if format not in FORMATS:
        raise InvalidInputError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")


def format_to_read(path: Path) -> str:
    """Return the format of an existing file."""
    with path.open("rb") as handle:
        head = handle.read(_HEAD)
    if path.suffix.lower() in _SPREADSHEETS:
        raise FileFormatError(
            f"is a spreadsheet: save it as csv; the formats that are read: {', '.join(FORMATS)}"
        )
    return _binary(head) or _ENDINGS.get(path.suffix.lower()) or _text(head)


def format_to_write(path: Path) -> str:
    """Return the format that the ending asks for."""
    if path.suffix.lower() not in _ENDINGS:
        raise InvalidInputError(
            f"the ending of a file must tell its format ({', '.join(_ENDINGS)}), got {path.name!r}"
        )
    return _ENDINGS[path.suffix.lower()]


def _binary(head: bytes) -> str | None:
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "npz"  # its reader says so where the archive holds something else
    if head.startswith(b"PAR1") and b"\0" in head:  # a csv column may be called PAR1, too
        return "parquet"
    if head.startswith((_HDF5, b"MATLAB 7.3 MAT-file")):
        raise FileFormatError(
            "is HDF5, as MATLAB writes with -v7.3, which is not read here: save it with -v7"
        )
    if head.startswith(b"MATLAB 5.0 MAT-file"):
        return "mat"
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise FileFormatError(f"is {what}; the formats that are read: {', '.join(FORMATS)}")
    return None


def _text(head: bytes) -> str:
    for line in head.splitlines():
        if _SVMLIGHT_LINE.match(line):
            return "svmlight"
        if not _BARE_LABEL.fullmatch(line):
            break
    return "csv"
