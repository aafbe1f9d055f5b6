"""Sheets from csv, xlsx and parquet files, which pandas reads.

For csv, here are its separator, its header, and the line of what is wrong.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from l2t.domains.domain import is_missing
from l2t.domains.files._columns import (
    MISSING,
    NUMBER,
    Columns,
    Names,
    header_of,
    option,
    refuse_twice,
)
from l2t.domains.files._formats import require, unpacked
from l2t.domains.files._sheet import ID_NAME, PADDED, Sheet
from l2t.exceptions import FileFormatError
from l2t.validation import check_memory

_PLACE = re.compile(rb'<(?:row|c)\s[^>]*?\br="([A-Z]*)([0-9]+)"')  # of a row or cell in xlsx
_SAMPLE = 20  # records that must agree on their width for a delimiter to be the right one


@dataclass(frozen=True)
class _Text:
    """A text file as records of cells; only for a few of them, pandas is much faster."""

    path: Path
    encoding: str
    delimiter: str = ","

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each record that is not blank, with the number of its last line."""
        with unpacked(self.path) as handle:
            text = io.TextIOWrapper(handle, encoding=self.encoding, newline="")
            reader = csv.reader(text, delimiter=self.delimiter, strict=True)
            try:
                for cells in reader:
                    if len(cells) > 1 or any(cell.strip() for cell in cells):
                        yield reader.line_num, cells
            except csv.Error as error:
                raise FileFormatError(f"line {reader.line_num}: {error}") from None

    def score(self) -> tuple[bool, bool, float, int]:
        """Return whether the first records are equally wide, their share of numbers and their width."""
        records: list[list[str]] = []
        with suppress(FileFormatError):  # which the right delimiter raises again
            records.extend(cells for _, cells in islice(self.records(), _SAMPLE))
        first = len(records[0]) if records else 0
        found = [bool(NUMBER.fullmatch(cell.strip())) for cells in records for cell in cells]
        equal = first > 1 and all(len(cells) == first for cells in records)
        return equal, first > 1, sum(found) / max(len(found), 1), first

    def lines(self, width: int, start: int = 0, stop: int | None = None) -> list[int]:
        """Return the lines of records, all of which must have the same width."""
        lines = []
        for line, cells in islice(self.records(), start, stop):
            if len(cells) != width:
                first, _ = next(self.records())
                raise FileFormatError(
                    f"line {line} has {len(cells)} cells, where line {first} has {width}"
                )
            lines.append(line)
        return lines


def read_csv(path: Path, names: Names) -> Sheet:
    """Read a table of text, separated by commas, semicolons or tabs."""
    with unpacked(path) as handle:
        marked = handle.read(2) in (b"\xff\xfe", b"\xfe\xff")  # by the mark of the byte order
    encoding = names.encoding or ("utf-16" if marked else "utf-8-sig")
    delimiters = ",;\t".replace(names.decimal, "")
    try:
        texts = [_Text(path, encoding, delimiter) for delimiter in delimiters]
        return _read(max(texts, key=_Text.score), names)
    except UnicodeError:
        raise FileFormatError(
            f"is not {encoding.removesuffix('-sig').upper()} text; say its encoding, such as "
            f"{option('encoding', 'cp1252')}"
        ) from None


def _read(text: _Text, names: Names) -> Sheet:
    _, first = next(text.records(), (0, None))
    if first is None:
        raise FileFormatError("has only blank lines")
    header = header_of(first, names)
    table = header or [str(position) for position in range(len(first))]
    columns = Columns.of(table, names)
    frame = _parsed(text, table, columns, names, header=header is not None)
    last = frame[table[-1]]
    if last.isna().any() or (last == "").any():
        text.lines(len(table))  # pandas takes cells that are not there for empty ones

    def line(row: int) -> str:
        at = row + (header is not None)
        (number,) = text.lines(len(table), at, at + 1)
        return f"line {number}"

    return Sheet(frame, columns, names, line, header=header is not None, untyped=True)


def _parsed(text: _Text, table: list[str], columns: Columns, names: Names, *, header: bool) -> Any:
    """Return the frame; text stays as it is in columns of labels and ids, and where it is no number."""
    import pandas as pd

    sample = zip(*(cells for _, cells in islice(text.records(), _SAMPLE)), strict=False)
    padded = {
        name
        for name, cells in zip(table, sample, strict=False)
        if ID_NAME.fullmatch(name) or any(map(PADDED.fullmatch, cells))
    }
    numbers = [name for name in columns.features if name not in padded]
    with unpacked(text.path) as handle, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # a first row that is too long
        try:
            return pd.read_csv(
                handle,
                sep=text.delimiter,
                encoding=text.encoding,
                header=0 if header else None,
                names=table,
                index_col=False,
                dtype=dict.fromkeys(set(table) - set(numbers), str),
                decimal=names.decimal,
                thousands=names.thousands,
                keep_default_na=False,
                na_values={name: ["", *MISSING] for name in numbers},
                dtype_backend="numpy_nullable",
                low_memory=False,
            )
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            text.lines(len(table))
            raise FileFormatError(f"cannot be parsed: {error}") from None


def read_parquet(path: Path, names: Names) -> Sheet:
    """Read a table of typed columns; a null means what an empty cell means in csv."""
    require("pyarrow", "parquet")
    import pandas as pd
    import pyarrow as pa
    from pyarrow.parquet import read_metadata, read_table

    with path.open("rb") as handle:
        declared = read_metadata(handle)
        refuse_twice(declared.schema.to_arrow_schema().names)  # pandas says less
        check_memory("the table", 8 * declared.num_rows * declared.num_columns)
        handle.seek(0)
        table = read_table(handle, page_checksum_verification=True)
    if table.num_rows != declared.num_rows:  # which no checksum covers
        declares = f"it declares {declared.num_rows} rows and has {table.num_rows}"
        raise FileFormatError(f"is damaged: {declares}")
    # Floats stay those of numpy, which need no mask; memory is given back column by column.
    whole = [f"{kind}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)]
    types = {pa.type_for_alias(each.lower()): pd.array([], each).dtype for each in whole}
    types |= {pa.bool_(): pd.BooleanDtype(), pa.null(): pd.Int64Dtype()}
    types |= dict.fromkeys((pa.string(), pa.large_string()), pd.StringDtype())
    frame = table.to_pandas(types_mapper=types.get, split_blocks=True, self_destruct=True)
    own = set(map(str, frame.columns))
    if not isinstance(frame.index, pd.RangeIndex) or frame.index.name is not None:
        frame = frame.reset_index()
    frame.columns = list(map(str, frame.columns))
    index = set(frame.columns) - own
    return Sheet(frame, Columns.of(list(frame), names, index=index), names, "row {}".format)


def read_xlsx(path: Path, names: Names) -> Sheet:
    """Read the first sheet of a workbook."""
    require("openpyxl", "excel")
    import pandas as pd

    _check_sheets(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and extensions that openpyxl does not know
        cells = pd.read_excel(
            path, header=None, dtype=object, engine="openpyxl", keep_default_na=False, na_values=""
        )
    cells = cells.dropna(how="all").dropna(how="all", axis="columns")
    if cells.empty:
        raise FileFormatError("has nothing on its first sheet")
    first = ["" if is_missing(cell) else str(cell) for cell in cells.iloc[0]]
    header = header_of(first, names)
    cells.columns = header or [str(position) for position in range(len(first))]
    columns = Columns.of(list(cells.columns), names)
    frame = cells if header is None else cells.iloc[1:]
    rows = frame.index + 1
    frame = frame.reset_index(drop=True).convert_dtypes()
    return Sheet(frame, columns, names, lambda row: f"row {rows[row]}", header=header is not None)


def _check_sheets(path: Path) -> None:
    """Reject a workbook whose last row and column span more cells than fit into memory."""
    with zipfile.ZipFile(path) as archive:
        check_memory("the unpacked file", sum(each.file_size for each in archive.infolist()))
        for name in (each for each in archive.namelist() if each.startswith("xl/worksheets/")):
            places = _PLACE.findall(archive.read(name))
            row = max((int(digits[-9:]) for _, digits in places), default=0)
            last = max(
                (letters[-3:] for letters, _ in places), key=lambda a: (len(a), a), default=b""
            )
            column = sum((each - 64) * 26**i for i, each in enumerate(reversed(last)))
            check_memory("the sheet", 8 * row * column)
