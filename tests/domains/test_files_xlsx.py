"""xlsx: the first sheet of a workbook, and a missing openpyxl."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from l2t.domains import Domain, read_domain, write_domain
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
    assert read_domain(save(path, label=[day] * 3)).classes == ("2020-01-02 00:00:00",)


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


def test_without_openpyxl(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'l2t\[excel\]'"):
        read_domain(path)


def test_workbooks_are_only_read(path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"format must be one of npz, csv, .* got 'xlsx'$"):
        write_domain(Domain(X), path)
