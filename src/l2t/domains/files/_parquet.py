"""parquet: the columns of csv with types, where a null means what a blank cell means there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from l2t.domains.domain import Domain
from l2t.domains.files._columns import Columns, feature_names, refuse_row_numbers
from l2t.domains.files._parts import Names, Parts, option, refuse_large
from l2t.domains.files._values import gather, plain, truth, without_missing
from l2t.exceptions import FileFormatError, MissingExtraError

__all__ = ["read", "write"]


def read(path: Path, names: Names) -> Parts:
    """Read a table of typed columns."""
    _pyarrow()
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        meta = file.metadata
        size = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
        schema = file.schema_arrow
        columns = Columns.of(schema.names, names, index=_pandas_index(schema))
        refuse_large(max(size, meta.num_rows * len(columns.features) * 8))
        others = [at for at in (columns.label, columns.labeled, columns.groups) if at is not None]
        table = file.read(columns=[schema.names[at] for at in {*columns.features, *others}])
    X = _features(table, [schema.names[at] for at in columns.features])
    refuse_row_numbers(X, schema.names, columns, names)
    labeled = groups = y = None
    if columns.labeled is not None:
        labeled = _mask(table, schema.names[columns.labeled])
    if columns.groups is not None:
        groups = gather(_groups(table, schema.names[columns.groups]))
    if columns.label is not None:
        found = gather(_values(table, schema.names[columns.label]))
        y, labeled = without_missing(found, labeled)
    named = tuple(schema.names[at] for at in columns.features)
    return Parts(X, y, labeled, groups, named)


def write(domain: Domain, handle: BinaryIO, label: str) -> None:
    """Write x0, x1, ..., the label, then labeled and groups where the domain has them."""
    pa = _pyarrow()
    import pyarrow.parquet

    table: dict[str, Any] = {
        name: pa.array(np.ascontiguousarray(domain.X[:, i]))
        for i, name in enumerate(feature_names(domain, label))
    }
    if domain.y is not None:
        table[label] = _column(plain(domain.y, "labels", optional=True))
    if domain.labeled is not None:
        table["labeled"] = pa.array(domain.labeled)
    if domain.groups is not None:
        table["groups"] = _column(plain(domain.groups, "groups"))
    pyarrow.parquet.write_table(pa.table(table), handle)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("parquet files", "parquet") from None
    return pyarrow


def _column(values: list[Any]) -> Any:
    pa = _pyarrow()
    known = [value for value in values if value is not None]
    beyond = bool(known) and type(known[0]) is int and max(known) >= 2**63
    return pa.array(values, type=pa.uint64() if beyond else None)


def _pandas_index(schema: Any) -> set[str]:
    """Return the columns that hold the index of a pandas frame."""
    said = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    return {column for column in said.get("index_columns", ()) if isinstance(column, str)}


def _features(table: Any, names: list[str]) -> npt.NDArray[Any]:
    arrays = [_numbers(table.column(name), name) for name in names]
    single = all(array.dtype in (np.float16, np.float32) for array in arrays)
    X = np.empty((table.num_rows, len(arrays)), dtype=np.float32 if single else np.float64)
    for column, array in enumerate(arrays):
        X[:, column] = array
    if not np.isfinite(X).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(X))[0])
        raise FileFormatError(
            f"column {names[column]!r}, row {row}: {X[row, column]} is not a finite number"
        )
    X.flags.writeable = False  # so that the domain need not copy it
    return X


def _numbers(column: Any, name: str) -> npt.NDArray[Any]:
    pa = _pyarrow()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    is_number = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    if not any(test(column.type) for test in is_number):
        raise FileFormatError(
            f"column {name!r} holds {column.type}, not numbers; if these are the labels, say "
            f"{option('label', name)}, if this is no feature, {option('ignore', name)}"
        )
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise FileFormatError(f"column {name!r}, row {row}: a feature is missing")
    array: npt.NDArray[Any] = column.to_numpy()
    return array


def _values(table: Any, name: str) -> list[Any]:
    """Return a column as Python values, None for a null; a date becomes its text."""
    pa = _pyarrow()
    column = table.column(name)
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.string())
    values: list[Any] = column.to_pylist()
    odd = [value for value in values if not isinstance(value, str | int | float | None)]
    if odd:
        raise FileFormatError(f"column {name!r} holds {column.type}, not labels")
    return values


def _groups(table: Any, name: str) -> list[Any]:
    values = _values(table, name)
    if None in values:
        raise FileFormatError(f"column {name!r}, row {values.index(None)}: a group is missing")
    return values


def _mask(table: Any, name: str) -> npt.NDArray[np.bool_]:
    values = _values(table, name)
    said = [truth(value) for value in values]
    if None in said:
        row = said.index(None)
        raise FileFormatError(
            f"column {name!r}, row {row}: {values[row]!r:.80} is not 0, 1, true or false"
        )
    return np.array(said, dtype=np.bool_)
