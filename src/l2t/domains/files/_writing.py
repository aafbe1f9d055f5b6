"""Writing of domains and data frames to npz, csv and parquet files."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from l2t.domains.domain import Domain
from l2t.domains.files.formats import require
from l2t.domains.labels import is_missing
from l2t.exceptions import InvalidInputError
from l2t.typing import AnyArray

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

#: The table formats that can be written, and all formats that can be.
TABLES = ("csv", "parquet")
WRITTEN = ("npz", *TABLES)
_LARGE = 1_000_000  # cells from which pyarrow is used to write csv, which is several times as fast
_RESERVED = ("labeled", "groups")


def write(domain: Domain, handle: IO[bytes], label: str, format: str) -> None:
    """Write a domain; numbers in csv are read back as exactly the same float64."""
    if format == "npz":
        _write_npz(domain, handle, label)
    else:
        write_frame(
            frame_of(domain, label, np.float64 if format == "csv" else None), handle, format
        )


def write_frame(frame: pd.DataFrame, handle: IO[bytes], format: str) -> None:
    """Write the columns of a frame; csv text is quoted, because a carriage return would end its line."""
    if format == "parquet":
        require("pyarrow", "parquet")
        frame.to_parquet(handle, engine="pyarrow", index=False, write_page_checksum=True)
        return
    frame = frame.rename(columns={"Unnamed: 0": ""})
    if frame.size > _LARGE:
        with suppress(ImportError, TypeError, ValueError):  # the latter two: columns of mixed types
            from pyarrow import Table
            from pyarrow.csv import write_csv

            table = Table.from_pandas(frame, preserve_index=False)
            write_csv(table, handle)
            return
    frame.to_csv(handle, index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")


def frame_of(
    domain: Domain, label: str, dtype: npt.DTypeLike | None = None, *, features: bool = True
) -> pd.DataFrame:
    """Return a domain as a DataFrame: the features, the label, then labeled and groups if it has them."""
    import pandas as pd

    if features:
        frame = pd.DataFrame(np.asarray(domain.X, dtype), columns=feature_columns(domain, label))
    else:
        frame = pd.DataFrame(index=pd.RangeIndex(len(domain)))
    columns: dict[str, list[Any]] = {}
    if domain.y is not None:
        columns[label] = _plain(domain.y, "labels", optional=True)
    if domain.labeled is not None:
        columns["labeled"] = domain.labeled.tolist()
    if domain.groups is not None:
        columns["groups"] = _plain(domain.groups, "groups")
    for name, values in columns.items():
        known = [value for value in values if value is not None]
        for value in known:
            if isinstance(value, str) and not value.strip():
                rule = f"column {name!r} must not hold blank text in csv and parquet files"
                raise InvalidInputError(f"{rule}, got {value!r}")
        kind = "object"
        if known and type(known[0]) is int:  # pyarrow reads at most 63 bits from objects
            kind = "UInt64" if max(known) >= 2**63 else "Int64"
        frame[name] = pd.array(values, dtype=kind)
    return frame


def feature_columns(domain: Domain, label: str) -> list[str]:
    """Return the columns of the features: their names, or x0, x1, ... where these cannot be used.

    The label must not have one of these names.
    """
    if not isinstance(label, str) or not label or label != label.strip():
        raise InvalidInputError(f"label must be a name for a column, got {label!r}")
    columns = domain.feature_names or ()
    usable = all(name and name == name.strip() and name not in _RESERVED for name in columns)
    if not columns or not usable or len(set(columns)) < len(columns):
        columns = tuple(f"x{column}" for column in range(domain.n_features))
    if label in (*_RESERVED, *columns) or re.fullmatch("x[0-9]+", label):
        raise InvalidInputError(f"label must not be the name of another column, got {label!r}")
    return list(columns)


def _write_npz(domain: Domain, handle: IO[bytes], label: str) -> None:
    """Write X, and if the domain has them y with classes, labeled, groups and feature_names."""
    if label not in ("label", "y"):
        raise InvalidInputError(f"label is always y in npz files, got {label!r}")
    arrays: dict[str, AnyArray] = {"X": domain.X}
    if domain.y is not None:
        arrays["y"] = domain.codes.astype(np.int32)
        arrays["classes"] = _storable(domain.classes, "labels")
    if domain.labeled is not None:
        arrays["labeled"] = domain.labeled
    if domain.groups is not None:
        arrays["groups"] = _storable(domain.groups, "groups")
    if domain.feature_names is not None:
        arrays["feature_names"] = _storable(domain.feature_names, "feature_names")
    np.savez_compressed(handle, allow_pickle=False, **arrays)


def _plain(values: Iterable[object], what: str, *, optional: bool = False) -> list[Any]:
    """Return labels or groups as str, int, float or bool, all of one type; None if missing."""
    items = [value.item() if isinstance(value, np.generic) else value for value in values]
    items = [None if is_missing(value) else value for value in items]
    if not optional and None in items:
        raise InvalidInputError(f"{what} must not be missing, got None at row {items.index(None)}")
    types = {type(value) for value in items if value is not None}
    if len(types) > 1 or not types <= {str, int, float, bool}:
        got = " and ".join(sorted(kind.__name__ for kind in types))
        raise InvalidInputError(f"{what} must be all str, int, float or bool in a file, got {got}")
    return items


def _storable(values: Iterable[object], what: str) -> AnyArray:
    """Return labels or groups, none missing, as an array without Python objects."""
    items = _plain(values, what)
    if any(isinstance(item, str) and item.endswith("\0") for item in items):
        raise InvalidInputError(f"{what} must not end with a zero character in npz files")
    if not items or type(items[0]) is not int:
        return np.array(items) if items else np.empty(0, dtype="U1")
    try:
        return np.array(items, dtype=np.uint64 if max(items) >= 2**63 else np.int64)
    except OverflowError:
        largest = max(items, key=abs)
        raise InvalidInputError(f"{what} must fit into 64 bits, got {largest}") from None
