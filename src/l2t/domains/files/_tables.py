"""A table of pandas as a domain and back, for csv, xlsx and parquet."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from l2t.domains.domain import Domain, is_missing
from l2t.domains.files._columns import (
    Columns,
    Names,
    feature_names,
    header_of,
    option,
    refuse_row_numbers,
    refuse_twice,
)
from l2t.domains.files._labels import groups, infer, labels, mask, plain
from l2t.exceptions import FileFormatError, MissingExtraError
from l2t.typing import AnyArray

__all__ = ["Table", "frame_of", "read_parquet", "read_xlsx", "write_parquet"]

_NOT_FINITE = ("nan", "inf", "infinity")


@dataclass(frozen=True)
class Table:
    """A frame, the roles of its columns, and a function that tells a person where a row is."""

    frame: Any
    columns: Columns
    names: Names
    line: Callable[[int], str]

    def parts(self, *, text: bool = False) -> dict[str, Any]:
        """Return the arguments of `Domain`; `text` where the type of labels must be inferred."""
        if self.frame.empty:
            raise FileFormatError("has a header but no rows")
        columns = self.columns
        parts: dict[str, Any] = {"X": self._features(), "feature_names": columns.features}
        if columns.labeled is not None:
            parts["labeled"] = mask(*self._column(columns.labeled, text=False))
        for role, name, check in (("groups", columns.groups, groups), ("y", columns.label, labels)):
            if name is not None:
                parts[role] = check(*self._column(name, text=text))
        return parts

    def _column(self, name: str, *, text: bool) -> tuple[list[Any], Callable[[int], str]]:
        values = self.frame[name].astype(object).tolist()
        if text:
            self._refuse_padded(values, name)
            values = infer(values)
        return values, lambda row: f"column {name!r}, {self.line(row)}"

    def _features(self) -> AnyArray:
        from pandas.api.types import is_numeric_dtype

        frame = self.frame[self.columns.features]
        if not all(map(is_numeric_dtype, frame.dtypes)):
            frame = frame.apply(self._numbers)
        single = all(str(kind).lower() in ("float16", "float32") for kind in frame.dtypes)
        X: AnyArray = frame.to_numpy(np.float32 if single else np.float64, na_value=np.nan)
        wrong = ~np.isfinite(X)
        if wrong.any():
            row, column = (int(i) for i in np.argwhere(wrong)[0])
            raise self._not_a_number(row, self.columns.features[column])
        if self.columns.features[0] == self.frame.columns[0]:
            refuse_row_numbers(X, self.columns.features, self.names)
        return X

    def _numbers(self, column: Any) -> Any:
        """Return a column as numbers, NaN where a cell is none."""
        import pandas as pd

        if pd.api.types.is_numeric_dtype(column):
            return column
        decimal, thousands = self.names.decimal, self.names.thousands or ""
        cells = [
            cell.replace(thousands, "").replace(decimal, ".").strip()
            if isinstance(cell, str)
            else cell
            for cell in column
        ]
        try:
            return pd.to_numeric(pd.Series(cells, column.index, dtype=object), errors="coerce")
        except TypeError:  # lists and the like
            return pd.Series(np.nan, column.index)

    def _not_a_number(self, row: int, name: str) -> FileFormatError:
        cell = self.frame[name].iloc[row]
        where, out = f"column {name!r}, {self.line(row)}", option("ignore", name)
        text = "" if is_missing(cell) else str(cell).strip()
        wrong, advice = f"{cell!r:.80} is not a number", f"if this is no feature, say {out}"
        if not text:
            wrong, advice = "a feature is missing", f"fill it, or leave it out: {out}"
        elif text.lower().lstrip("+-") in _NOT_FINITE:
            return FileFormatError(f"{where}: {float(cell)} is not a finite number")
        elif re.fullmatch(r"[-+0-9.,]*[0-9],[0-9][-+0-9.,]*", text):
            advice = f"if its comma is the decimal mark, say {option('decimal', ',')}, "
            advice += f"if it separates thousands, {option('thousands', ',')}"
        elif row > 0:  # numbers above it
            advice = f"put one there, or leave the column out: {out}"
        elif self.columns.label is None:
            advice = f"if these are the labels, say {option('label', name)}, else {out}"
        return FileFormatError(f"{where}: {wrong}; {advice}")

    def _refuse_padded(self, cells: Sequence[str], name: str) -> None:
        """Reject labels that differ only in the blanks around them: nobody means two classes."""
        seen: dict[str, tuple[str, int]] = {}
        for row, cell in enumerate(cells):
            other, above = seen.setdefault(cell.strip(), (cell, row))
            if other != cell and cell.strip():
                raise FileFormatError(
                    f"column {name!r}: {other!r:.60} ({self.line(above)}) and {cell!r:.60} "
                    f"({self.line(row)}) differ in blanks alone: write them the same way"
                )


def read_parquet(path: Path, names: Names) -> dict[str, Any]:
    """Read a table of typed columns; a null means what an empty cell means in csv."""
    _require("pyarrow", "parquet")
    import pandas as pd
    from pyarrow.parquet import read_schema

    with path.open("rb") as handle:
        refuse_twice(read_schema(handle).names)  # pandas says less
        handle.seek(0)
        frame = pd.read_parquet(handle, engine="pyarrow", dtype_backend="numpy_nullable")
    index = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(level=index) if index else frame
    columns = Columns.of(list(map(str, frame.columns)), names, index=index)
    frame.columns = list(map(str, frame.columns))
    return Table(frame, columns, names, lambda row: f"row {row}").parts()


def read_xlsx(path: Path, names: Names) -> dict[str, Any]:
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
    parts = Table(frame, columns, names, lambda row: f"row {frame.index[row] + 1}").parts()
    return parts if header else parts | {"feature_names": None}


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
        kind = "object"
        if known and type(known[0]) is int:  # pyarrow reads no more than 63 bits from objects
            kind = "UInt64" if max(known) >= 2**63 else "Int64"
        frame[name] = pd.array(values, dtype=kind)
    return frame


def write_parquet(domain: Domain, handle: IO[bytes], label: str) -> None:
    """Write a table of typed columns."""
    _require("pyarrow", "parquet")
    frame_of(domain, label).to_parquet(handle, engine="pyarrow", index=False)


def _require(package: str, extra: str) -> None:
    try:
        __import__(package)
    except ImportError:
        raise MissingExtraError(f"{extra} files", extra) from None
