"""parquet: typed columns, what pandas writes, and a missing pyarrow."""

from __future__ import annotations

import datetime
import decimal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from l2t.domains import Domain, read_domain, read_tables, write_domain
from l2t.domains.files._columns import Columns, ReadOptions
from l2t.domains.files._sheet import Sheet
from l2t.exceptions import FileFormatError, InvalidInputError, MissingExtraError

X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.parquet"


def table(path: Path, **columns: Any) -> Path:
    parquet.write_table(pa.table(columns), path)
    return path


def refused(path: Path, sentence: str, **named: Any) -> None:
    with pytest.raises(FileFormatError, match=sentence) as caught:
        read_domain(path, **named)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("index", [None, ["p", "q", "r"]])
def test_what_pandas_writes(path: Path, index: list[str] | None) -> None:
    frame = pd.DataFrame(X, index=index)
    frame.columns = ["a.b", "c"]
    frame["kind"] = pd.Categorical(["u", None, "v"])
    frame.to_parquet(path)
    domain = Domain(X, ["u", None, "v"], labeled=[True, False, True])
    assert read_domain(path, label="kind") == domain
    frame.index.name = "number"
    frame.to_parquet(path)
    assert read_domain(path, label="kind") == domain
    if index is not None:
        assert read_domain(path, label="kind", groups="number").groups is not None


def test_pandas_reads_what_is_written(path: Path) -> None:
    domain = Domain(np.float32(X), [1, 2, 1], labeled=[True, False, True])
    frame = pd.read_parquet(write_domain(domain, path, label="kind"))
    assert list(frame.columns) == ["x0", "x1", "kind", "labeled"]
    assert frame["x0"].dtype == np.float32


@pytest.mark.parametrize(
    ("types", "dtype"),
    [
        ((pa.float32(), pa.float32()), np.float32),
        ((pa.float16(), pa.float32()), np.float32),
        ((pa.float32(), pa.float64()), np.float64),
        ((pa.int8(), pa.uint64()), np.float64),
        ((pa.decimal128(5, 2), pa.float32()), np.float64),
    ],
)
def test_types_of_features(path: Path, types: tuple[Any, Any], dtype: Any) -> None:
    columns = {}
    for name, type, values in zip("ab", types, ([1, 3, 5], [2, 4, 6]), strict=True):
        if pa.types.is_decimal(type):
            values = [decimal.Decimal(value) for value in values]
        if pa.types.is_float16(type):
            values = [np.float16(value) for value in values]
        columns[name] = pa.array(values, type=type)
    domain = read_domain(table(path, **columns))
    assert domain.X.dtype == dtype
    assert domain.X.tolist() == X


def test_truths_and_categories_as_features(path: Path) -> None:
    codes = pa.array([7, 8]).dictionary_encode()
    assert read_domain(table(path, a=[True, False], b=codes)) == Domain([[1.0, 7.0], [0.0, 8.0]])


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        (pa.array(["a", None, "b"]), ["a", None, "b"]),
        (pa.array(["a", "a", "b"]).dictionary_encode(), ["a", "a", "b"]),
        (pa.array([1, None, 3]), [1, None, 3]),
        (pa.array([1.5, float("nan"), None]), [1.5, None, None]),
        (pa.array([True, False, True]), [True, False, True]),
        (pa.nulls(3), [None, None, None]),
        (pa.array([datetime.date(2020, 1, 2)] * 3), ["2020-01-02"] * 3),
        (pa.array(["1", "2", "3"]), ["1", "2", "3"]),
    ],
)
def test_types_of_labels(path: Path, column: Any, labels: list[Any]) -> None:
    domain = read_domain(table(path, a=[1.0, 3.0, 5.0], b=[2.0, 4.0, 6.0], label=column))
    known = [label is not None for label in labels]
    assert domain == Domain(X, labels, labeled=None if all(known) else known)


def test_errors_know_their_place(path: Path) -> None:
    table(
        path,
        a=[1.0, None],
        b=["u", "v"],
        c=[1.0, float("inf")],
        d=[[1], [2]],
        e=[2, 1],
        f=["g", None],
    )
    refused(path, "got 1 missing cell in column 'a', row 1; fill missing cells", features="a")
    refused(path, "got 'u' and 1 more like it in column 'b', row 0", features="b")
    refused(path, "got inf in column 'c', row 1$", features="c")
    refused(path, r"got '\[1\]' and 1 more like it in column 'd', row 0", features="d")
    refused(path, r"column 'd', row 0: array\(\[1\]\) is not a label$", features="e", label="d")
    refused(path, "'f', row 0: 'g' is not 0, 1, true or false$", features="e", labeled="f")
    refused(path, "column 'f', row 1: a group is missing$", features="e", groups="f")
    refused(path, "has no column 'z'; its columns are 'a', 'b', 'c', 'd', 'e', 'f'$", label="z")
    table(path, a=[1.0], labeled=[True])
    refused(path, "column 'labeled' must have a role")
    parquet.write_table(pa.Table.from_arrays([pa.array([1.0])] * 2, names=["a", "a"]), path)
    refused(path, "has more than one column 'a'$")
    table(path, a=pa.array([], type=pa.float64()))
    refused(path, "has a header but no rows$")


def test_a_damaged_file(path: Path) -> None:
    whole = table(path, a=[1.0, 2.0]).read_bytes()
    path.write_bytes(whole[:-2])
    refused(path, "is damaged or of another format: Parquet magic bytes not found")


def test_without_pyarrow(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Domain([[1.0]], ["a"])
    write_domain(domain, path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        MissingExtraError, match=r"parquet files needs .* pip install 'l2t\[parquet\]'"
    ):
        read_domain(path)
    with pytest.raises(MissingExtraError, match="parquet"):
        write_domain(domain, path)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_cannot_be_written(path: Path) -> None:
    for label in (np.array(["\ud800"], dtype=object), [2**64], [-(2**70)]):
        with pytest.raises(InvalidInputError, match=r"data.parquet: "):
            write_domain(Domain([[1.0]], label), path)
    assert list(path.parent.iterdir()) == []


def test_wide_tables_are_read_in_linear_time(path: Path) -> None:
    """Every name of a column is compared about as often as in a table of half the width."""
    compared = []

    class Name(str):
        def __hash__(self) -> int:
            compared.append(self)
            return super().__hash__()

    for width in (50, 100):
        names = [Name(f"x{i}") for i in range(width)]
        sheet = Sheet(
            pd.DataFrame(np.eye(2, width) + 0.5, columns=names), Columns(names), ReadOptions(), str
        )
        compared.clear()
        sheet.notes(names)
        assert len(compared) < 20 * width


def test_what_is_written_has_the_types_of_the_file(path: Path, tmp_path: Path) -> None:
    table(
        path,
        a=pa.array([1.0, 2.0, None], type=pa.float32()),
        b=[1, None, 3],
        c=["u", None, "w"],
    )
    read = read_tables([path], impute="mean", ignore=["b", "c"])[0]
    read.write(tmp_path / "out.parquet", columns={"p": [0.5, 0.5, 1.0]})
    written = parquet.read_table(tmp_path / "out.parquet")
    kinds = [str(kind).removeprefix("large_") for kind in written.schema.types]  # pandas chooses
    assert kinds == ["float", "int64", "string", "double"]
    assert written.column("a").to_pylist() == [1.0, 2.0, None]
    assert written.column("b").to_pylist() == [1, None, 3]
