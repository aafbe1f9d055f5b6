"""Sheets from xlsx and parquet files, and domains as frames."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import IO, Any

import numpy as np

from l2t.domains.domain import Domain, is_missing
from l2t.domains.files._columns import (
    MISSING,
    Columns,
    Names,
    feature_names,
    header_of,
    refuse_twice,
)
from l2t.domains.files._labels import plain
from l2t.domains.files._sheet import Sheet
from l2t.exceptions import FileFormatError, InvalidInputError, MissingExtraError

__all__ = ["frame_of", "read_parquet", "read_xlsx", "write_frame", "write_parquet"]


def read_parquet(path: Path, names: Names) -> Sheet:
    """Read a table of typed columns; a null means what an empty cell means in csv."""
    _require("pyarrow", "parquet")
    import pandas as pd
    from pyarrow.parquet import read_schema

    with path.open("rb") as handle:
        refuse_twice(read_schema(handle).names)  # pandas says less
        handle.seek(0)
        frame = pd.read_parquet(handle, engine="pyarrow", dtype_backend="numpy_nullable")
    index: list[str] = []
    if not isinstance(frame.index, pd.RangeIndex) or frame.index.name is not None:
        before = set(frame.columns)
        frame = frame.reset_index()
        index = [name for name in frame.columns if name not in before]
    columns = Columns.of(list(map(str, frame.columns)), names, index=index)
    frame.columns = list(map(str, frame.columns))
    return Sheet(frame, columns, names, lambda row: f"row {row}")


def read_xlsx(path: Path, names: Names) -> Sheet:
    """Read the first sheet of a workbook."""
    _require("openpyxl", "excel")
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and extensions that openpyxl does not know
        cells = pd.read_excel(
            path, header=None, dtype=object, engine="openpyxl", keep_default_na=False, na_values=""
        )
    cells = cells.dropna(how="all").dropna(how="all", axis="columns")
    if cells.empty:
        raise FileFormatError("holds nothing on its first sheet")
    first = ["" if is_missing(cell) else str(cell) for cell in cells.iloc[0]]
    header = header_of(first, names)
    cells.columns = header or [str(position) for position in range(len(first))]
    columns = Columns.of(list(cells.columns), names, index=["Unnamed: 0"])
    frame = cells if header is None else cells.iloc[1:]
    rows = frame.index + 1
    frame = frame.reset_index(drop=True).convert_dtypes()
    return Sheet(frame, columns, names, lambda row: f"row {rows[row]}", header=header is not None)


def frame_of(domain: Domain, label: str, dtype: Any = None) -> Any:
    """Return a domain as a frame: x0, x1, ..., the label, then labeled and groups if it has them."""
    import pandas as pd

    frame = pd.DataFrame(np.asarray(domain.X, dtype), columns=feature_names(domain, label))
    columns: dict[str, list[Any]] = {}
    if domain.y is not None:
        columns[label] = plain(domain.y, "labels", optional=True)
    if domain.labeled is not None:
        columns["labeled"] = domain.labeled.tolist()
    if domain.groups is not None:
        columns["groups"] = plain(domain.groups, "groups")
    for name, values in columns.items():
        known = [value for value in values if value is not None]
        _refuse_missing(known, name, ("", *MISSING) if name == label else ("",))
        kind = "object"
        if known and type(known[0]) is int:  # pyarrow reads no more than 63 bits from objects
            kind = "UInt64" if max(known) >= 2**63 else "Int64"
        frame[name] = pd.array(values, dtype=kind)
    return frame


def _refuse_missing(values: list[Any], name: str, texts: tuple[str, ...]) -> None:
    """Reject a text that would be read as a missing one."""
    for value in values:
        if isinstance(value, str) and value.strip() in texts:
            raise InvalidInputError(
                f"column {name!r} must not hold blank texts or such as mean a missing label (NA, ?, ...) "
                f"in csv and parquet files, got {value!r}"
            )


def write_parquet(domain: Domain, handle: IO[bytes], label: str) -> None:
    """Write a table of typed columns."""
    write_frame(frame_of(domain, label), handle)


def write_frame(frame: Any, handle: IO[bytes]) -> None:
    """Write the columns of a frame."""
    _require("pyarrow", "parquet")
    frame.to_parquet(handle, engine="pyarrow", index=False)


def _require(package: str, extra: str) -> None:
    try:
        __import__(package)
    except ImportError:
        raise MissingExtraError(f"{extra} files", extra) from None
