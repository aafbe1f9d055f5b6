"""Previews of uploads; a module of its own, so that the worker starts fast."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from l2t.domains.files import preview_file
from l2t.domains.files.disk import reading
from l2t.domains.files.formats import unpacked
from l2t.exceptions import FileFormatError, InvalidInputError
from l2t.typing import JsonObject

_EXAMPLE = ("digits 0 to 4.csv", "digits 5 to 9.csv"), ("01234", "56789")
_OTHER_COLUMNS = 8  # labels, mask, groups and row numbers
_BYTES = 8  # per number
_CHARACTERS = 32  # per number as text, with separators and markup


def read_upload(request: JsonObject, report: Callable[..., None]) -> JsonObject:
    """Check the size of an uploaded file, and return its preview."""
    path, limits, name = Path(request["path"]), request["limits"], request["name"]
    try:
        with reading(path):
            _check_size(path, request["format"], limits)
        preview = preview_file(path, label=request["label"], format=request["format"])
    except FileFormatError as error:
        raise InvalidInputError(str(error).replace(str(path), name)) from None
    rows, features = preview.n_rows, preview.n_features
    if rows > limits["rows"] or features > limits["features"] or rows * features > limits["values"]:
        raise InvalidInputError(
            f"{name} has {rows} rows and {features} features; a domain may have "
            f"{limits['rows']} rows, {limits['features']} features and {limits['values']} values at most"
        )
    return asdict(preview)


def write_example(request: JsonObject, report: Callable[..., None]) -> JsonObject:
    """Write two files of handwritten digits, 0 to 4 and 5 to 9, the second with two labels per class."""
    import numpy as np

    from l2t.domains import digits
    from l2t.domains.sampling import some_rows

    rng, files = np.random.default_rng(3), []
    for path, name, classes in zip(request["paths"], *_EXAMPLE, strict=True):
        domain = some_rows(rng, digits(), list(classes), 80)
        rows = rng.permutation(len(domain))
        codes, labels = domain.codes[rows], [str(domain.classes[c]) for c in domain.codes[rows]]
        if name == _EXAMPLE[0][1]:
            labelled = {int(i) for c in range(5) for i in np.flatnonzero(codes == c)[:2]}
            labels = [label if i in labelled else "" for i, label in enumerate(labels)]
        lines = [["scan", *(f"pixel{i // 8}{i % 8}" for i in range(64)), "digit"]]
        for i, (row, label) in enumerate(zip(domain.X[rows].tolist(), labels, strict=True)):
            lines.append([f"{name[0]}{i:04d}", *(f"{value:g}" for value in row), label])
        Path(path).write_text("\n".join(map(",".join, lines)) + "\n")
        files.append({"name": name, "preview": asdict(preview_file(path, label="digit"))})
    return {"files": files}


def _check_size(path: Path, format: str, limits: dict[str, int]) -> None:
    """Raise an error if a file would need too much memory when unpacked."""
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
                f"its first line has {cells} cells, but at most {most - _OTHER_COLUMNS} features are allowed"
            )
        while chunk := handle.read(2**20):
            size += len(chunk)
            _check_bytes(size, most_bytes)


def _parquet_bytes(path: Path) -> int:
    """Return the size of the columns that a parquet file declares."""
    try:
        from pyarrow.parquet import read_metadata
    except ImportError:
        return 0  # the reader raises a MissingExtraError
    metadata = read_metadata(path)
    packed = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    return int(max(packed, metadata.num_rows * metadata.num_columns * _BYTES))


def _check_bytes(size: int, most: int) -> None:
    if size > most:
        raise FileFormatError(f"must unpack to at most {most / 2**20:.0f} MiB, got more")
