"""Reading a MATLAB file or a workbook, also as a script that writes its content to stdout.

As a script it runs in its own process with limited memory, because scipy and pyarrow may crash on a damaged
file, and the parts of a small workbook may unpack to far more; on an error it exits with code 2. It imports
nothing from l2t, to start fast. A MATLAB file becomes npz, a workbook one line of JSON per `SheetRow`; of a
parquet file, only the declared sizes are checked.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import datetime
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

_MAX_SECONDS = 300  # of processor time; scipy may not terminate on a damaged file
_MAX_SHEET_ROWS = 2**20  # of a sheet, by the format
#: Bytes that a sheet takes per cell of the table, per cell that is not empty and per character of its texts.
_PLACE, _CELL, _CHARACTER = 32, 200, 4
TOO_LARGE = (
    "needs more memory than a file of its size may take, or than half of what is free ({} MiB)"
)

#: The number of a row, and the column, value and type of its cells.
SheetRow = tuple[int, list[tuple[int, Any, str]]]


def main(format: str, path: str, most: str) -> None:
    """Read a file and write its content to stdout, with at most `most` bytes of memory."""
    import_module(
        {"mat": "scipy.io", "xlsx": "openpyxl", "parquet": "pyarrow.parquet"}[format]
    )  # not part of what the file takes
    with suppress(ImportError, OSError, ValueError):  # Windows has no such limits
        import resource

        if format == "mat":
            resource.setrlimit(resource.RLIMIT_CPU, (_MAX_SECONDS, _MAX_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        own = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (own + int(most),) * 2)
    try:
        if format == "mat":
            _write_mat(path)
        elif format == "parquet":
            _check_lists(path, int(most))
        else:
            for row in sheet_rows(path, int(most)):
                line = json.dumps(row, ensure_ascii=False) + "\n"
                sys.stdout.buffer.write(line.encode("utf-8", "replace"))
    except MemoryError:
        sys.stderr.write(TOO_LARGE.format(int(most) >> 20))
        sys.exit(2)
    except Exception as error:
        kind = "not a MATLAB file (save it with -v7)" if format == "mat" else "of another format"
        sys.stderr.write(f"is damaged or {kind}: {str(error).split(chr(10))[0][:200]}")
        sys.exit(2)


def _write_mat(path: str) -> None:
    import numpy as np
    from scipy.io import loadmat

    with Path(path).open("rb") as file:
        variables = loadmat(file)
    arrays = {name: _plain(value) for name, value in variables.items() if not name.startswith("__")}
    with zipfile.ZipFile(sys.stdout.buffer, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _plain(value: Any) -> Any:
    """Return a variable as an array without Python objects; dtype V1 marks one that cannot be converted."""
    import numpy as np
    from scipy import sparse

    if sparse.issparse(value):
        value.check_format(full_check=True)
        return value.toarray()
    if value.dtype != object:
        return value if value.dtype.names is None else np.zeros(1, "V1")
    cells = [cell.ravel().tolist() for cell in value.ravel() if isinstance(cell, np.ndarray)]
    first = [cell[0] if cell else None for cell in cells]
    kinds = {type(cell) for cell in first if cell is not None}
    if len(cells) < value.size or any(len(cell) > 1 for cell in cells):
        return np.zeros(1, "V1")
    if kinds <= {str}:
        return np.array([cell or "" for cell in first], dtype=np.str_)
    if kinds <= {int, float}:
        return np.array([np.nan if cell is None else cell for cell in first], dtype=np.float64)
    return np.zeros(1, "V1")


def _check_lists(path: str, most: int) -> None:
    """Reject a parquet file whose columns, with all values of their lists, need more than `most` bytes."""
    from pyarrow.parquet import read_metadata

    declared = read_metadata(path)
    for number, column in product(range(declared.num_row_groups), range(declared.num_columns)):
        width = max(8, declared.schema.column(column).length)
        most -= width * declared.row_group(number).column(column).num_values
    if most < 0:
        raise MemoryError


def sheet_rows(path: str, most: int) -> Iterator[SheetRow]:
    """Yield the rows of the first sheet that are not empty; their table must take at most `most` bytes."""
    from openpyxl import load_workbook  # type: ignore[import-untyped]

    book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
    with closing(book):
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # what a sheet declares may be wrong
        n_rows = n_cells = n_characters = n_places = 0
        columns: set[int] = set()
        for number, row in enumerate(
            sheet.rows, 1
        ):  # with an empty row for each that a number skips
            if number > _MAX_SHEET_ROWS:
                raise ValueError(f"a sheet has at most {_MAX_SHEET_ROWS} rows")
            # openpyxl fills a row with empty cells up to its last one, and each takes time.
            n_places += len(row)
            if _PLACE * n_places > most:
                raise MemoryError
            if not row or not (cells := list(_cells(row))):
                continue
            n_rows, n_cells = n_rows + 1, n_cells + len(cells)
            columns.update(column for column, *_ in cells)
            n_characters += sum(len(value) for _, value, _ in cells if isinstance(value, str))
            size = _PLACE * n_rows * len(columns) + _CELL * n_cells + _CHARACTER * n_characters
            if size > most:
                raise MemoryError
            yield number, cells


def _cells(row: Any) -> Iterator[tuple[int, Any, str]]:
    """Yield the column, value and type of each cell that is neither empty nor an error."""
    for column, cell in enumerate(row):
        value = cell.value
        if value is None or value == "" or cell.data_type == "e":
            continue
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, datetime):
            yield column, value.isoformat(), "date"
        else:
            yield column, value if isinstance(value, int | float | str) else str(value), ""


if __name__ == "__main__":
    main(*sys.argv[1:])
