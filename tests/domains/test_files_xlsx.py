"""xlsx: the first sheet of a workbook, and a missing openpyxl."""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from l2t.domains import Domain, read_domain, write_domain
from l2t.domains.files import _tables
from l2t.domains.files._columns import ReadOptions
from l2t.domains.files._load import sheet_rows
from l2t.exceptions import FileFormatError, InvalidInputError, MissingExtraError

X = [[1.0, 2.5], [3.0, 4.0], [5.0, 6.0]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.xlsx"


def save(path: Path, index: bool = False, **columns: Any) -> Path:
    pd.DataFrame({"a": [1, 3, 5], "b": [2.5, 4.0, 6.0]} | columns).to_excel(path, index=index)
    return path


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize(
    "labels", [["u", "v", "u"], [1, 2, 1], ["u", None, "v"], [1, None, 2], [True, False, True]]
)
def test_what_pandas_writes(path: Path, labels: list[Any], index: bool) -> None:
    domain = read_domain(save(path, index, kind=labels), label="kind")
    assert domain == Domain(X, labels)
    assert domain.feature_names == ("a", "b")


def test_a_sheet_without_a_header(path: Path) -> None:
    pd.DataFrame([[1.5, 2.5, "u"], [3.5, 4.5, "v"]]).to_excel(path, index=False, header=False)
    domain = read_domain(path, label="2")
    assert domain == Domain([[1.5, 2.5], [3.5, 4.5]], ["u", "v"])
    assert domain.feature_names is None


def test_dates_are_labels_by_their_text(path: Path) -> None:
    day = datetime.datetime(2020, 1, 2)
    assert read_domain(save(path, label=[day] * 3)).classes == ("2020-01-02",)


def test_errors_name_the_row_of_the_sheet(path: Path) -> None:
    for columns, sentence in (
        (
            {"c": [1, "x", 3]},
            "features must be finite numbers, got 'x' in column 'c', row 3; if 'x' means",
        ),
        ({"c": [1, 2, None]}, ".* got 1 missing cell in column 'c', row 4; fill missing cells"),
        ({"label": [None] * 3, "labeled": [1, 0, 1]}, "column 'labeled' must have a role"),
    ):
        with pytest.raises(FileFormatError, match=f"book.xlsx: {sentence}"):
            read_domain(save(path, **columns))
    pd.DataFrame().to_excel(path)
    with pytest.raises(FileFormatError, match=r"book.xlsx: has no cells on its first sheet$"):
        read_domain(path)
    path.write_bytes(save(path).read_bytes()[:-40])
    with pytest.raises(FileFormatError, match=r"book.xlsx: is damaged"):
        read_domain(path)


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LAST_ROW = {
    "double quotes": "<row r='1'><c r='A1'><v>1</v></c></row><row r=\"1048576\"><c><v>2</v></c></row>",
    "single quotes": "<row r='1'><c r='A1'><v>1</v></c></row><row r='1048576'><c><v>2</v></c></row>",
    "references": "<row><c><v>1</v></c></row><row r='&#49;04857&#x36;'><c><v>2</v></c></row>",
    "a number": "<row><c><v>1</v></c></row><row r='1048576.0'><c><v>2</v></c></row>",
    "columns": "<row><c r='A1'><v>1</v></c></row><row r='1048576'><c r='A1'><v>2</v></c><c r='XFD1'/></row>",
}


def with_rows(path: Path, rows: str, prefix: str = "") -> Path:
    """Replace the sheet of a workbook by one of the given rows."""
    book = {}
    with zipfile.ZipFile(save(path)) as archive:
        book = {name: archive.read(name) for name in archive.namelist()}
    if prefix:
        rows = re.sub(r"<(/?)(\w)", rf"<\1{prefix}:\2", rows)
    mark, name = (f"{prefix}:", f"xmlns:{prefix}") if prefix else ("", "xmlns")
    sheet = f"<{mark}sheetData>{rows}</{mark}sheetData>"
    book["xl/worksheets/sheet1.xml"] = (
        f"<{mark}worksheet {name}='{MAIN}'>{sheet}</{mark}worksheet>".encode()
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in book.items():
            archive.writestr(name, content)
    return path


READ = """
import resource, sys
from pathlib import Path

import openpyxl, pandas  # not part of what the files take

from l2t.domains import Domain, read_domain

own = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (own + 2**28,) * 2)
for path in sys.argv[1:]:
    assert read_domain(path) == Domain([[1.0], [2.0]])
"""


@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
def test_empty_rows_and_columns_take_no_memory(tmp_path: Path, proves: Any) -> None:
    """Whatever the spelling of the row number: pandas would build all rows before it."""
    paths = [
        with_rows(tmp_path / f"{name} {prefix}.xlsx", rows, prefix)
        for name, rows in LAST_ROW.items()
        for prefix in ("", "x")
    ]
    assert max(path.stat().st_size for path in paths) < 10_000
    done = subprocess.run(
        [sys.executable, "-c", READ, *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    proves("The empty rows and columns of a workbook take no memory", len(paths), "workbooks")


def test_rows_beyond_those_of_a_sheet(path: Path) -> None:
    rows = "<row r='99999999999'><c><v>2</v></c></row>"
    with pytest.raises(FileFormatError, match="a sheet has at most 1048576 rows"):
        read_domain(with_rows(path, rows))


def test_a_large_workbook_is_read_as_a_small_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of its own reads it."""
    day = datetime.datetime(2020, 1, 2, 3)
    save(
        path,
        e=[1e300, -0.5, 7],
        kind=["u", None, "\u20ac\n"],
        flag=[True, False, None],
        day=[day] * 3,
    )
    small = _tables.read_xlsx(path, ReadOptions())
    monkeypatch.setattr(_tables, "_SMALL_WORKBOOK", 0)
    large = _tables.read_xlsx(path, ReadOptions())
    pd.testing.assert_frame_equal(small.frame, large.frame)
    monkeypatch.setattr("l2t.domains.files.formats._SMALL", 100)
    monkeypatch.setattr("l2t.domains.files.formats._LARGEST_RATIO", 3)
    with pytest.raises(
        FileFormatError, match=r"book.xlsx: needs more memory than a file of its size"
    ):
        read_domain(path)


def test_without_openpyxl(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'l2t\[excel\]'"):
        read_domain(path)


def test_workbooks_are_only_read(path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"format must be one of npz, csv, .* got 'xlsx'$"):
        write_domain(Domain(X), path)


def test_empty_cells_before_the_last_column_are_bounded(path: Path) -> None:
    """A row with a cell in the last column has 16,384 cells, all of which are visited."""
    rows = "".join(f"<row r='{i}'><c r='XFD{i}'><v>{i}</v></c></row>" for i in range(1, 101))
    with_rows(path, rows)
    places = 100 * 2**14
    assert len(list(sheet_rows(str(path), 32 * places))) == 100
    with pytest.raises(MemoryError):
        list(sheet_rows(str(path), 32 * places - 1))
