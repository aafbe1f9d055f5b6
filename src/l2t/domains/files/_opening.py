"""Files that belong together: which columns are features of all of them, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from l2t.domains.domain import Domain
from l2t.domains.files import _arrays, _csv, _tables
from l2t.domains.files._columns import Columns, Names, close_to, listed, missing, option
from l2t.domains.files._disk import reading
from l2t.domains.files._formats import check_format, format_to_read
from l2t.domains.files._sheet import Sheet
from l2t.domains.files.table import Table
from l2t.exceptions import FileFormatError, MissingColumnError
from l2t.typing import AnyArray

__all__ = ["open_tables"]

_Parts = dict[str, Any]
_READERS: dict[str, Callable[[Path, Names], Sheet | _Parts]] = {
    "npz": _arrays.read_npz,
    "csv": _csv.read,
    "xlsx": _tables.read_xlsx,
    "parquet": _tables.read_parquet,
    "mat": _arrays.read_mat,
}


def open_tables(
    paths: Sequence[Path],
    names: Names,
    *,
    zero_based: bool | None = None,
    format: str | None = None,
    name: str | None = None,
) -> list[Table]:
    """Read files of the same features; columns are matched by name, in the order of the last file."""
    formats = [_format(path, format, names) for path in paths]
    sparse = [path for path, each in zip(paths, formats, strict=True) if each == "svmlight"]
    rows = dict(zip(sparse, _arrays.read_svmlight(sparse, zero_based), strict=True))
    files: list[tuple[Path, Sheet | _Parts]] = []
    for i, (path, each) in enumerate(zip(paths, formats, strict=True)):
        mask = names.labeled if i == len(paths) - 1 else None
        own = replace(names, optional=len(paths) > 1, labeled=mask)
        with reading(path):
            files.append((path, rows[path] if each == "svmlight" else _READERS[each](path, own)))
    sheets = [(path, each) for path, each in files if isinstance(each, Sheet)]
    _check_names(sheets, names, alone=len(sheets) == len(files))
    matched = len(sheets) == len(files) and all(sheet.header for _, sheet in sheets)
    if not any(_has_labels(each) for _, each in files):
        for path, sheet in sheets:
            with reading(path):
                sheet.refuse_text()
    features = iter(_feature_columns(sheets, matched=matched))
    tables = []
    for path, opened in files:
        with reading(path):
            columns = next(features) if isinstance(opened, Sheet) else []
            tables.append(_table(path, opened, columns, names, name))
    return tables


def _format(path: Path, format: str | None, names: Names) -> str:
    if format is None:
        with reading(path):
            format = format_to_read(path)
    check_format(format)
    names.check_for(format)
    return format


def _has_labels(opened: Sheet | _Parts) -> bool:
    return opened.columns.label is not None if isinstance(opened, Sheet) else "y" in opened


def _check_names(sheets: Sequence[tuple[Path, Sheet]], names: Names, *, alone: bool) -> None:
    """Reject a name that no file has, and a label that one of them has by a similar name."""
    columns = list(dict.fromkeys(name for _, sheet in sheets for name in sheet.frame.columns))
    for name in (*names.others, *names.keep):
        if name not in columns:
            where = ", ".join(str(path) for path, _ in sheets)
            raise MissingColumnError(f"{where}: {missing('column', name, columns)}")
    label = names.label
    having = [sheet.frame.columns for _, sheet in sheets if label in sheet.frame.columns]
    for path, own in ((path, list(sheet.frame.columns)) for path, sheet in sheets):
        if label is not None and label not in own:
            close = close_to(label, own)
            if (alone and not having) or (close and not any(close in each for each in having)):
                raise MissingColumnError(f"{path}: {missing('column', label, own)}")


def _feature_columns(sheets: Sequence[tuple[Path, Sheet]], *, matched: bool) -> list[list[str]]:
    """Return the features of every sheet: no text and no ids, and where `matched` those of all sheets."""
    passed: set[str] = set()
    for path, sheet in sheets:
        with reading(path):
            passed |= sheet.passed_through.keys()
    own = [[name for name in sheet.columns.features if name not in passed] for _, sheet in sheets]
    if matched:
        shared = set(own[-1]).intersection(*own)
        own = [[name for name in own[-1] if name in shared]] * len(own)
    for (path, sheet), features in zip(sheets, own, strict=True):
        if not features:
            rule = f"must have a column of numbers{' that all files have' if len(own) > 1 else ''}"
            raise FileFormatError(f"{path}: {rule}, got {listed(sheet.columns.features)}")
    return own


def _table(
    path: Path, opened: Sheet | _Parts, features: list[str], names: Names, name: str | None
) -> Table:
    """Return the table of what was read from a file."""
    parts = opened.parts(features) if isinstance(opened, Sheet) else opened
    kept, notes = _impute(parts, names.impute)
    domain = Domain(**parts, name=path.stem if name is None else name)
    if isinstance(opened, Sheet):
        notes += opened.notes(features)
        frame = opened.frame if kept is None else opened.frame[kept].reset_index(drop=True)
        ids = tuple(each for each, kind in opened.passed_through.items() if kind == "id")
        roles = replace(opened.columns, features=features, ids=(*opened.columns.ids, *ids))
    else:
        columns = list(domain.feature_names or [f"x{i}" for i in range(domain.n_features)])
        roles, frame = Columns(columns, None if domain.y is None else "label"), None
    return Table(path, domain, roles, tuple(f"{path}: {note}" for note in notes), frame)


def _impute(parts: _Parts, how: str | None) -> tuple[AnyArray | None, list[str]]:
    """Fill missing numbers or drop their rows; return the mask of rows that are kept, and a sentence."""
    X = parts["X"]
    usable = how is not None and isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.ndim == 2
    if not usable or not (gone := np.isnan(X)).any():
        return None, []
    if how == "drop":
        kept = np.asarray(~gone.any(axis=1))
        if not kept.any():
            raise FileFormatError(
                f"impute must leave a row: say {option('impute', 'median')}, got drop"
            )
        for role in parts.keys() - {"feature_names"}:
            parts[role] = parts[role][kept]
        return kept, [f"rows left out, as they have missing cells: {(~kept).sum()} of {len(kept)}"]
    if gone.all(axis=0).any():
        raise FileFormatError(f"X must have a number in column {int(gone.all(axis=0).argmax())}")
    fill = (np.nanmean if how == "mean" else np.nanmedian)(X, axis=0)
    parts["X"] = np.where(gone, fill.astype(X.dtype), X)
    where = f"{gone.sum()} in {gone.any(axis=0).sum()} columns"
    return None, [f"missing cells filled with the {how} of their column: {where}"]
