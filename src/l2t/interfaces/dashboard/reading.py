"""Reading an upload; apart from other work, so that few modules are imported while people wait."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from l2t.domains import read_domain, write_domain
from l2t.domains.files._disk import reading
from l2t.domains.files._formats import unpacked
from l2t.exceptions import FileFormatError, InvalidInputError

__all__ = ["read_upload"]

_OTHER_COLUMNS = 8  # labels, mask, groups and row numbers are no features
_BYTES = 8  # per number
_CHARACTERS = 32  # per number as text, with what is around it


def read_upload(request: dict[str, Any], report: Callable[..., None]) -> dict[str, Any]:
    """Read an uploaded file, check its size, and write it as npz for later jobs."""
    path, limits = Path(request["path"]), request["limits"]
    name = request["options"]["name"]
    try:
        with reading(path):
            _check_size(path, request["options"]["format"], limits)
        domain = read_domain(path, **request["options"])
    except FileFormatError as error:
        raise InvalidInputError(str(error).replace(str(path), name)) from None
    rows, features = domain.X.shape
    if rows > limits["rows"] or features > limits["features"] or rows * features > limits["values"]:
        raise InvalidInputError(
            f"{name} has {rows} rows and {features} features; a domain may have "
            f"{limits['rows']} rows, {limits['features']} features and {limits['values']} values at most"
        )
    write_domain(domain, request["to"], format="npz")
    return {
        "n_rows": rows,
        "n_features": features,
        "n_classes": len(domain.classes),
        "n_labelled": None if domain.labeled is None else int(domain.labeled.sum()),
    }


def _check_size(path: Path, format: str, limits: dict[str, int]) -> None:
    """Reject a file that would need too much memory, before it is unpacked."""
    values = limits["values"] + limits["rows"] * _OTHER_COLUMNS
    if format == "csv":
        _check_text(path, limits["features"] + _OTHER_COLUMNS, values * _CHARACTERS)
    elif format == "parquet":
        _check_bytes(_parquet_bytes(path), values * _BYTES)
    else:
        with zipfile.ZipFile(path) as archive:
            size = sum(info.file_size for info in archive.infolist())
        _check_bytes(size, values * (_CHARACTERS if format == "xlsx" else _BYTES))


def _check_text(path: Path, most: int, most_bytes: int) -> None:
    size = 0
    with unpacked(path) as handle:
        first = handle.readline(2**26)
        cells = max(first.count(mark) for mark in (b",", b";", b"\t")) + 1
        if cells > most:
            raise FileFormatError(
                f"its first line has {cells} cells, where {most - _OTHER_COLUMNS} features are allowed"
            )
        while chunk := handle.read(2**20):
            size += len(chunk)
            _check_bytes(size, most_bytes)


def _parquet_bytes(path: Path) -> int:
    """Return the size of the columns that a parquet file declares."""
    try:
        from pyarrow.parquet import read_metadata
    except ImportError:
        return 0  # its reader says what is missing
    found = read_metadata(path)
    packed = sum(found.row_group(i).total_byte_size for i in range(found.num_row_groups))
    return int(max(packed, found.num_rows * found.num_columns * _BYTES))


def _check_bytes(size: int, most: int) -> None:
    if size > most:
        raise FileFormatError(
            f"unpacks to more than the {most / 2**20:.0f} MiB that a domain may need"
        )
