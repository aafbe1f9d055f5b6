"""Reading csv, xlsx and parquet files with pandas.

For csv, this module finds the delimiter, the header, and the line of an error.
"""

from __future__ import annotations

import csv
import io
import json
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from l2t.domains.files._columns import (
    MISSING,
    NUMBER,
    Columns,
    ReadOptions,
    check_unique,
    header_of,
    option,
)
from l2t.domains.files._load import TOO_LARGE, SheetRow, sheet_rows
from l2t.domains.files._sheet import ID_NAME, PADDED, Sheet, rounds_numbers
from l2t.domains.files.formats import check_table, load_in_child, memory_for, require, unpacked
from l2t.domains.labels import is_missing
from l2t.exceptions import FileFormatError
from l2t.validation import check_memory

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyarrow.parquet import FileMetaData

_CHARACTER = 4  # bytes of memory per byte of a text: twice in pyarrow, in pandas, and as an object
_BATCH = 2**16  # rows of which texts are measured at a time
_SMALL_WORKBOOK = (
    2**23
)  # unpacked bytes up to which a workbook is read in this process, which starts faster
_SAMPLE = 20  # records that are read to choose the delimiter


@dataclass(frozen=True)
class _CsvText:
    """A csv file as records of cells, for the first few or the invalid ones; pandas is much faster."""

    path: Path
    encoding: str
    delimiter: str = ","

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of the last line and the cells of each record that is not blank."""
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
        """Return a key to compare delimiters by the first records: equal widths, share of numbers, width."""
        records: list[list[str]] = []
        with suppress(FileFormatError):  # raised again when the file is read
            records.extend(cells for _, cells in islice(self.records(), _SAMPLE))
        first = len(records[0]) if records else 0
        is_number = [bool(NUMBER.fullmatch(cell.strip())) for cells in records for cell in cells]
        equal = first > 1 and all(len(cells) == first for cells in records)
        return equal, first > 1, sum(is_number) / max(len(is_number), 1), first

    def lines(self, width: int, start: int = 0, stop: int | None = None) -> list[int]:
        """Return the line numbers of some records; reject one that does not have `width` cells."""
        lines = []
        for line, cells in islice(self.records(), start, stop):
            if len(cells) != width:
                first, _ = next(self.records())
                raise FileFormatError(
                    f"line {line} has {len(cells)} cells, where line {first} has {width}"
                )
            lines.append(line)
        return lines


def read_csv(path: Path, options: ReadOptions) -> Sheet:
    """Read a text table delimited by commas, semicolons or tabs."""
    with unpacked(path) as handle:
        marked = handle.read(2) in (b"\xff\xfe", b"\xfe\xff")  # the byte order mark
    encoding = options.encoding or ("utf-16" if marked else "utf-8-sig")
    delimiters = ",;\t".replace(options.decimal, "")
    try:
        texts = [_CsvText(path, encoding, delimiter) for delimiter in delimiters]
        return _read(max(texts, key=_CsvText.score), options)
    except UnicodeError:
        raise FileFormatError(
            f"is not {encoding.removesuffix('-sig').upper()} text; pass its encoding, such as "
            f"{option('encoding', 'cp1252')}"
        ) from None


def _read(text: _CsvText, options: ReadOptions) -> Sheet:
    _, first = next(text.records(), (0, None))
    if first is None:
        raise FileFormatError("has only blank lines")
    header = header_of(first, options)
    table = header or [str(position) for position in range(len(first))]
    columns = Columns.of(table, options)
    frame = _parsed(text, table, columns, options, header=header is not None)
    last = frame[table[-1]]
    if last.isna().any() or (last == "").any():
        text.lines(len(table))  # pandas reads absent cells as empty ones

    def line(row: int) -> str:
        at = row + (header is not None)
        (number,) = text.lines(len(table), at, at + 1)
        return f"line {number}"

    return Sheet(frame, columns, options, line, header=header is not None)


def _parsed(
    text: _CsvText, table: list[str], columns: Columns, options: ReadOptions, *, header: bool
) -> pd.DataFrame:
    """Return the DataFrame; labels, ids and cells that are not numbers stay text.

    So do numbers with a thousands mark, which pandas would drop anywhere in a cell: `Cells` checks its place.
    """
    import pandas as pd

    sample = zip(*(cells for _, cells in islice(text.records(), _SAMPLE)), strict=False)
    padded = {
        name
        for name, cells in zip(table, sample, strict=False)
        if ID_NAME.fullmatch(name) or any(map(PADDED.fullmatch, cells))
    }
    numbers = [name for name in columns.features if name not in padded]
    engine: dict[str, Any] = {"low_memory": False}
    if rounds_numbers():  # a keyword that is deprecated where the default is exact
        engine["float_precision"] = "round_trip"
        if any("\0" in cell for _, cells in text.records() for cell in cells):
            engine = {"engine": "python"}  # the other one ends a cell there
    with unpacked(text.path) as handle, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # a first row with too many cells
        try:
            return pd.read_csv(
                handle,
                sep=text.delimiter,
                encoding=text.encoding,
                header=0 if header else None,
                names=table,
                index_col=False,
                dtype=dict.fromkeys(set(table) - set(numbers), str),
                decimal=options.decimal,
                keep_default_na=False,
                na_values={name: ["", *MISSING] for name in numbers},
                dtype_backend="numpy_nullable",
                **engine,
            )
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            text.lines(len(table))
            raise FileFormatError(f"cannot be parsed: {error}") from None


def read_parquet(path: Path, options: ReadOptions) -> Sheet:
    """Read a table of typed columns; a null is a missing cell."""
    require("pyarrow", "parquet")
    import pandas as pd
    from pyarrow.parquet import read_metadata, read_table

    with path.open("rb") as handle:
        declared = read_metadata(handle)
        check_unique(declared.schema.to_arrow_schema().names)  # the error of pandas is less clear
        widths = [declared.schema.column(i).length for i in range(declared.num_columns)]
        check_memory("the table", declared.num_rows * sum(max(8, width) for width in widths))
        _check_texts(path, handle, declared)
        handle.seek(0)
        table = read_table(handle, page_checksum_verification=True)
    if table.num_rows != declared.num_rows:  # no checksum covers the number of rows
        declares = f"it declares {declared.num_rows} rows and has {table.num_rows}"
        raise FileFormatError(f"is damaged: {declares}")
    frame = as_frame(table, self_destruct=True)  # pyarrow frees its memory column by column
    own = set(map(str, frame.columns))
    if not isinstance(frame.index, pd.RangeIndex) or frame.index.name is not None:
        frame = frame.reset_index()
    frame.columns = list(map(str, frame.columns))
    index = set(frame.columns) - own
    return Sheet(frame, Columns.of(list(frame), options, index=index), options, "row {}".format)


def as_frame(table: pa.Table, **options: Any) -> pd.DataFrame:
    """Return a table of pyarrow as a frame; floats are numpy columns without a mask."""
    import pandas as pd
    import pyarrow as pa

    whole = [f"{kind}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)]
    types = {pa.type_for_alias(name.lower()): pd.array([], name).dtype for name in whole}
    types |= {pa.bool_(): pd.BooleanDtype(), pa.null(): pd.Int64Dtype()}
    types |= dict.fromkeys((pa.string(), pa.large_string()), pd.StringDtype())
    return table.to_pandas(types_mapper=types.get, split_blocks=True, **options)


def _check_texts(path: Path, handle: BinaryIO, declared: FileMetaData) -> None:
    """Reject a parquet file whose texts take too much memory: any number of cells may refer to one text."""
    from pyarrow.parquet import ParquetFile

    columns = [declared.schema.column(i) for i in range(declared.num_columns)]
    if any(column.max_repetition_level for column in columns):
        # Only a chunk declares how long its lists are; pyarrow may abort the process that asks a damaged one.
        load_in_child("parquet", path, memory_for(path))
    texts = [
        column.path
        for column in columns
        if column.physical_type == "BYTE_ARRAY" and column.logical_type.type != "DECIMAL"
    ]
    if not texts:
        return

    def check(n_rows: int, dictionaries: list[str]) -> None:
        size = 0
        file = ParquetFile(handle, read_dictionary=dictionaries, page_checksum_verification=True)
        for batch in file.iter_batches(n_rows, columns=texts):
            size += sum(map(_text_size, batch.columns))
            check_table(path, _CHARACTER * size)

    try:
        check(_BATCH, texts)
    except (
        OSError
    ):  # pyarrow builds no dictionary of texts that are stored by their common beginnings
        groups = map(declared.row_group, range(declared.num_row_groups))
        longest = max(group.total_byte_size for group in groups)  # of a row
        check(min(max(memory_for(path) // (_CHARACTER * max(longest, 1)), 1), _BATCH), [])


def _text_size(array: pa.Array) -> int:
    """Return the bytes of the texts in an array of pyarrow, counting each as often as it is referred to."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(array.type):
        lengths = pc.binary_length(array.dictionary).take(array.indices)
        return int(pc.sum(lengths).as_py() or 0)
    if pa.types.is_nested(array.type):
        parts = array.flatten()
        return sum(map(_text_size, parts if isinstance(parts, list) else [parts]))
    return int(array.nbytes)


def read_xlsx(path: Path, options: ReadOptions) -> Sheet:
    """Read the first sheet of a workbook."""
    require("openpyxl", "excel")
    import pandas as pd

    # Not by pandas: a row number, in any spelling, would make it build all rows before it.
    rows = {number: dict(map(_cell, row)) for number, row in _sheet_rows(path)}
    used = sorted({column for row in rows.values() for column in row})
    cells = pd.DataFrame(
        [[row.get(column) for column in used] for row in rows.values()], list(rows), dtype=object
    )
    if cells.empty:
        raise FileFormatError("has no cells on its first sheet")
    first = ["" if is_missing(cell) else str(cell) for cell in cells.iloc[0]]
    header = header_of(first, options)
    cells.columns = header or [str(position) for position in range(len(first))]
    columns = Columns.of(list(cells.columns), options)
    frame = cells if header is None else cells.iloc[1:]
    numbers = frame.index
    frame = frame.reset_index(drop=True).convert_dtypes()
    return Sheet(
        frame, columns, options, lambda row: f"row {numbers[row]}", header=header is not None
    )


def _sheet_rows(path: Path) -> list[SheetRow]:
    """Return the rows of the first sheet of a workbook that are not empty, within the memory for the file."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    check_table(path, size)
    most = memory_for(path)
    if size > _SMALL_WORKBOOK:  # its strings and styles may take far more than it
        return list(map(json.loads, load_in_child("xlsx", path, most).splitlines()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about unsupported styles and extensions
        try:
            return list(sheet_rows(str(path), most))
        except MemoryError:
            raise FileFormatError(TOO_LARGE.format(most >> 20)) from None


def _cell(cell: tuple[int, Any, str]) -> tuple[int, Any]:
    """Return the column and value of a cell as `_load.py` writes it."""
    column, value, kind = cell
    return column, datetime.fromisoformat(value) if kind == "date" else value
