"""Tables: the user's own rows and columns of a file, and the domain in them.

Columns of files that are read together are matched by name.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from l2t.domains.domain import Domain, is_wide, position_note
from l2t.domains.encoding import TableEncoder
from l2t.domains.files import _tables, arrays
from l2t.domains.files._columns import (
    MISSING,
    Columns,
    DomainArguments,
    ReadOptions,
    closest_name,
    format_names,
    missing_name,
    option,
)
from l2t.domains.files._labels import labels, mask
from l2t.domains.files._sheet import NOT_IN_EVERY_FILE, Sheet
from l2t.domains.files._writing import TABLES, feature_columns, frame_of, write_frame
from l2t.domains.files.disk import as_path, reading, replacing, writing
from l2t.domains.files.formats import FORMATS, format_to_read, format_to_write
from l2t.domains.labels import infer_labels
from l2t.domains.pair import rename_columns
from l2t.exceptions import FileFormatError, InvalidInputError, MissingColumnError
from l2t.typing import AnyArray, Mask
from l2t.validation import one_of

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

#: The mask of rows that were kept, None for all, and notes.
_Imputed = tuple[AnyArray | None, list[str]]
#: Formats whose labels are text that may stand for numbers.
_UNTYPED = ("csv", "svmlight")
#: The reader of each format.
READERS: dict[str, Callable[[Path, ReadOptions], Sheet | DomainArguments]] = {
    "npz": arrays.read_npz,
    "csv": _tables.read_csv,
    "xlsx": _tables.read_xlsx,
    "parquet": _tables.read_parquet,
    "mat": arrays.read_mat,
}


@dataclass(frozen=True, eq=False)
class Table:
    """A file that was read: its domain, and all of its columns.

    Attributes
    ----------
    path : Path
        The file.
    domain : Domain
        The features and labels.
    roles : Columns
        Which columns are features, label, mask, groups and ids; `write` copies the others.
    notes : tuple of str
        What was imputed or left out, one sentence each.
    """

    path: Path
    domain: Domain
    roles: Columns
    notes: tuple[str, ...] = ()
    _frame: pd.DataFrame | None = None

    @cached_property
    def frame(self) -> pd.DataFrame:
        """All columns of the file as a DataFrame, in their order, with the rows of the domain.

        Without the features of a sparse matrix if these are very many.
        """
        if self._frame is not None:
            return self._frame
        label = self.roles.label or _free_label(self.domain)
        return frame_of(self.domain, label, features=not is_wide(self.domain.rows))

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        features: AnyArray | None = None,
        columns: Mapping[str, npt.ArrayLike] | None = None,
    ) -> None:
        """Write the user's own columns to a csv or parquet file; on an error no file is written.

        The features of a sparse matrix are left out if there are more than 4,096.

        Parameters
        ----------
        path : str or path
            The file; its extension gives the format.
        features : array of shape (n, u), optional
            Features ``x0``, ``x1``, ... that replace those of the file.
        columns : mapping from str to array-like of shape (n,), optional
            Columns to add at the end, by name.
        """
        import pandas as pd

        target = as_path(path)
        with writing(target):
            format = format_to_write(target, TABLES)
            self.check_free(columns or ())
            frame = self.frame if features is None else self._replace_features(features)
            if columns:
                added = pd.DataFrame(dict(columns), index=frame.index)
                frame = pd.concat([frame, added], axis="columns")
            with replacing(target) as handle:
                write_frame(frame, handle, format)

    def check_free(self, names: Iterable[str]) -> None:
        """Reject names of new columns that the file already has."""
        for name in (name for name in names if name in self.frame.columns):
            rule = f"must not have a column {name!r}, because the output adds one: rename it"
            raise InvalidInputError(f"{self.path}: {rule}")

    @property
    def labelled(self) -> Domain:
        """The domain; without a mask, all of its labels count as given."""
        domain = self.domain
        if domain.y is None or domain.labeled is not None:
            return domain
        return replace(domain, X=domain.rows, labeled=np.ones(len(domain), dtype=bool))

    def _replace_features(self, features: AnyArray) -> pd.DataFrame:
        """Return the frame with other features, at the position of the first feature of the file."""
        import pandas as pd

        own, old = list(self.frame.columns), set(self.roles.features)
        at = next((place for place, name in enumerate(own) if name in old), 0)
        after = [name for name in own[at:] if name not in old]
        prefix = "x"
        while any(f"{prefix}{i}" in (*own[:at], *after) for i in range(features.shape[1])):
            prefix += "_"
        names = [f"{prefix}{i}" for i in range(features.shape[1])]
        moved = pd.DataFrame(features, columns=names, index=self.frame.index)
        return pd.concat([self.frame[own[:at]], moved, self.frame[after]], axis="columns")


def open_tables(
    paths: Sequence[Path],
    options: ReadOptions | Sequence[ReadOptions],
    *,
    zero_based: bool | None = None,
    format: str | None = None,
    name: str | None = None,
    encoder: TableEncoder | None = None,
) -> list[Table]:
    """Read files with the same features; columns are matched by name, in the order of the last file.

    `options` apply to all files, and the label column may then be absent from some of them; or they are a
    sequence with the options of each file. If they say so, columns become features by the `encoder`, by
    default one that is fitted to all files.
    """
    formats = []
    per_file = [options] * len(paths) if isinstance(options, ReadOptions) else list(options)
    for path, own in zip(paths, per_file, strict=True):
        with reading(path):
            formats.append(format_to_read(path) if format is None else format)
        one_of("format", formats[-1], FORMATS)
        if not isinstance(options, ReadOptions):
            own.check_for(formats[-1:])
    if isinstance(options, ReadOptions) and formats:
        options.check_for(formats)
    sparse = [
        (path, own.missing)
        for path, own, kind in zip(paths, per_file, formats, strict=True)
        if kind == "svmlight"
    ]
    rows = iter(arrays.read_svmlight(sparse, zero_based))
    files: list[tuple[Path, Sheet | DomainArguments]] = []
    for i, (path, kind) in enumerate(zip(paths, formats, strict=True)):
        if isinstance(options, ReadOptions):
            mask = options.labeled if i == len(paths) - 1 else None
            per_file[i] = replace(options, optional=len(paths) > 1, labeled=mask)
        with reading(path):
            files.append(
                (path, next(rows) if kind == "svmlight" else READERS[kind](path, per_file[i]))
            )
    sheets = [(path, opened) for path, opened in files if isinstance(opened, Sheet)]
    for group in [sheets] if isinstance(options, ReadOptions) else [[sheet] for sheet in sheets]:
        own = options if isinstance(options, ReadOptions) else group[0][1].options
        _check_columns(group, own, only_sheets=len(sheets) == len(files))
    labelled = ("y" in opened for _, opened in files if not isinstance(opened, Sheet))
    if not any(labelled) and all(sheet.columns.label is None for _, sheet in sheets):
        for path, sheet in sheets:
            with reading(path):
                sheet.check_no_text()
    parts, used, imputed = _parts(files, per_file, encoder)
    _infer_types(parts, [kind in _UNTYPED for kind in formats])
    tables: list[Table] = []
    for (path, opened), own_parts, columns, done in zip(files, parts, used, imputed, strict=True):
        with reading(path):
            tables.append(_table(path, opened, own_parts, columns, done, name))
    return [*(_matched_by_position(table, tables[-1]) for table in tables[:-1]), *tables[-1:]]


def labelled_rows(
    rows: pa.Table, label: str, labeled: str | None = None, missing: Iterable[str] = ()
) -> Mask:
    """Return which rows of a table of pyarrow have a label, as in a file with these columns."""
    import pyarrow as pa

    name = label if labeled is None else labeled
    if name not in rows.column_names:
        raise missing_name("column", name, rows.column_names)
    column = rows[name].combine_chunks()
    if not pa.types.is_dictionary(column.type):  # few different cells have to be looked at
        column = column.dictionary_encode()
    cells = column.dictionary.to_pylist()
    if labeled is None:
        known = [cell is not None for cell in labels(cells, lambda _: f"column {name!r}", missing)]
    else:
        known = mask(cells, lambda _: f"column {name!r}").tolist()
    codes = column.indices.fill_null(len(cells)).to_numpy(zero_copy_only=False)
    return np.asarray(np.array([*known, False])[codes])


def features_of(
    frame: pd.DataFrame, *, encoder: TableEncoder | None = None, first_row: int = 0, **options: Any
) -> AnyArray:
    """Return the features in some rows of a table whose columns all are features.

    The result is that of reading a file with these `options`; errors count rows from `first_row`.
    """
    names = list(frame.columns)
    chosen = ReadOptions(features=names, encode=encoder is not None, **options)
    sheet = Sheet(frame, Columns(names), chosen, lambda row: f"row {first_row + row}")
    parts = sheet.parts(names, () if encoder is None else _text_columns([sheet], encoder))
    _impute(parts, chosen)
    if encoder is not None:
        _encode([parts], [names], [chosen], encoder)
    return np.asarray(parts["X"])


def _parts(
    files: Sequence[tuple[Path, Sheet | DomainArguments]],
    options: Sequence[ReadOptions],
    encoder: TableEncoder | None,
) -> tuple[list[DomainArguments], list[list[str]], list[_Imputed]]:
    """Return the arguments of `Domain` for each file, its columns that are features, and what was imputed."""
    sheets = [opened for _, opened in files if isinstance(opened, Sheet)]
    encode = len(sheets) == len(files) and all(own.encode for own in options)
    text = _text_columns(sheets, encoder) if encode else set()
    used = _feature_columns(files, text)
    parts: list[DomainArguments] = []
    imputed: list[_Imputed] = []
    for (path, opened), features, own in zip(files, used, options, strict=True):
        with reading(path):
            if isinstance(opened, Sheet):
                parts.append(opened.parts(features, text))
            else:
                parts.append(_select(opened, features))
            imputed.append(_impute(parts[-1], own))
    if encode and (encoder is not None or any(map(_is_incomplete, parts))):
        used = _encode(parts, used, options, encoder)
    return parts, used, imputed


def _infer_types(parts: Sequence[DomainArguments], untyped: Sequence[bool]) -> None:
    """Give the labels of all files one type, decided by those that are known, and so for the groups."""
    for role in ("y", "groups"):
        having = [place for place, fields in enumerate(parts) if role in fields]
        columns = [parts[place][role] for place in having]
        known: list[Mask] = []
        for place, column in zip(having, columns, strict=True):
            mask = parts[place].get("labeled") if role == "y" else None
            if mask is None or len(mask) != len(column):  # for the latter `Domain` raises an error
                mask = np.ones(len(column), dtype=bool)
            known.append(mask)
        inferred = infer_labels(columns, known, [untyped[place] for place in having])
        for place, column in zip(having, inferred, strict=True):
            parts[place][role] = column


def _check_columns(
    sheets: Sequence[tuple[Path, Sheet]], options: ReadOptions, *, only_sheets: bool
) -> None:
    """Reject a column that no file has, and a label column that a file has under a similar name."""
    columns = list(dict.fromkeys(name for _, sheet in sheets for name in sheet.frame.columns))
    for name in (*options.others, *options.keep):
        if name not in columns:
            where = ", ".join(str(path) for path, _ in sheets)
            raise MissingColumnError(f"{where}: {missing_name('column', name, columns)}")
    label = options.label
    having = [sheet.frame.columns for _, sheet in sheets if label in sheet.frame.columns]
    for path, own in ((path, list(sheet.frame.columns)) for path, sheet in sheets):
        if label is not None and label not in own:
            close = closest_name(label, own)
            if (only_sheets and not having) or (
                close and not any(close in columns for columns in having)
            ):
                raise MissingColumnError(f"{path}: {missing_name('column', label, own)}")


def _text_columns(sheets: Sequence[Sheet], encoder: TableEncoder | None) -> set[str]:
    """Return the columns that an encoder makes features of although they are not numbers."""
    if encoder is not None:
        return {column.name for column in encoder.columns if column.kind != "number"}
    return {
        name
        for sheet in sheets
        for name, cells in sheet.cells.items()
        if cells.is_text and sheet.passed_through.get(name) != "id"
    }


def _is_incomplete(parts: DomainArguments) -> bool:
    """Return whether features are not all numbers, or cells are missing."""
    X = parts["X"]
    return not isinstance(X, np.ndarray) or bool(np.isnan(X).any())


def _encode(
    parts: Sequence[DomainArguments],
    used: Sequence[list[str]],
    options: Sequence[ReadOptions],
    encoder: TableEncoder | None,
) -> list[list[str]]:
    """Replace the columns of all files by their features, and return the columns that are used."""
    import pandas as pd

    frames = []
    for fields, names in zip(parts, used, strict=True):
        X = fields["X"]
        frames.append(pd.DataFrame(X, columns=names) if isinstance(X, np.ndarray) else X)
    if encoder is None:
        keep = {name for own in options for name in (*own.keep, *own.columns)}
        encoder = TableEncoder.fit(frames, keep=keep, text_encoder=options[-1].text_encoder)
    for fields, frame in zip(parts, frames, strict=True):
        fields["X"] = encoder.transform(frame)
        fields |= {"feature_names": encoder.feature_names, "encoder": encoder}
    return [[name for name in names if name in encoder.names] for names in used]


def _feature_columns(
    files: Sequence[tuple[Path, Sheet | DomainArguments]], text: Collection[str] = ()
) -> list[list[str]]:
    """Return the names of the features of each file, without ids, and text but for that which is named.

    There are none for an unnamed array. If all files have names, the features are those that all of them
    have, in the order of the last file.
    """
    sheets = [(path, opened) for path, opened in files if isinstance(opened, Sheet)]
    passed: set[str] = set()
    for path, sheet in sheets:
        with reading(path):
            passed |= sheet.passed_through.keys() - text
    all_names = [(path, _names(opened)) for path, opened in files]
    own = [[name for name in names if name not in passed] for _, names in all_names]
    if all(map(_has_names, (opened for _, opened in files))):
        shared = set(own[-1]).intersection(*own)
        own = [[name for name in own[-1] if name in shared]] * len(own)
        if not own[-1] and len(files) > 1:
            columns = (f"{path} has {format_names(names)}" for path, names in all_names)
            raise FileFormatError(
                f"all files must have a feature column in common, by name; {'; '.join(columns)}"
            )
    for (path, opened), features in zip(files, own, strict=True):
        if isinstance(opened, Sheet) and not features:
            names = format_names(opened.columns.features)
            raise FileFormatError(f"{path}: must have a column of numbers, got {names}")
    return own


def _names(opened: Sheet | DomainArguments) -> list[str]:
    if isinstance(opened, Sheet):
        return opened.columns.features
    return list(opened.get("feature_names", ()))


def _has_names(opened: Sheet | DomainArguments) -> bool:
    """Return whether columns have distinct names, by which they can be matched."""
    if isinstance(opened, Sheet):
        return opened.header
    names = _names(opened)
    return 0 < len(names) == len(set(names)) and opened["X"].shape[1:] == (len(names),)


def _select(parts: DomainArguments, features: list[str]) -> DomainArguments:
    """Return the parts of an array with the features of these names, in their order."""
    if not _has_names(parts) or features == _names(parts):
        return parts
    X, place = parts["X"], {name: column for column, name in enumerate(_names(parts))}
    rows = X if isinstance(X, np.ndarray) else X.tocsr()
    chosen = rows[:, [place[name] for name in features]]
    return parts | {"X": chosen, "feature_names": features}


def _matched_by_position(source: Table, target: Table) -> Table:
    """Return a source with the names of the target's features and a note, if only one of them has names."""
    ours, theirs = source.domain.feature_names, target.domain.feature_names
    same = source.domain.n_features == target.domain.n_features  # or else an error follows
    if (ours is None) == (theirs is None) or not same:
        return source
    sides = ("the target", "this file") if ours is None else ("this file", "the target")
    notes = [f"{source.path}: {position_note(*sides)}"] if source.domain.n_features > 1 else []
    domain = rename_columns(source.domain, theirs)
    return replace(source, domain=domain, notes=(*source.notes, *notes))


def _table(
    path: Path,
    opened: Sheet | DomainArguments,
    parts: DomainArguments,
    features: list[str],
    imputed: _Imputed,
    name: str | None,
) -> Table:
    """Return the table of a file that was read; `imputed` are the rows that were kept, and notes."""
    kept, notes = imputed
    domain = Domain(**parts, name=path.stem if name is None else name)
    notes += _label_notes(domain)
    if isinstance(opened, Sheet):
        notes += opened.notes(features)
        frame = opened.frame if kept is None else opened.frame[kept].reset_index(drop=True)
        ids = tuple(column for column, kind in opened.passed_through.items() if kind == "id")
        roles = replace(opened.columns, features=features, ids=(*opened.columns.ids, *ids))
    else:
        if left_out := [name for name in _names(opened) if name not in features]:
            notes.append(NOT_IN_EVERY_FILE.format(format_names(left_out)))
        label = _free_label(domain)
        roles = Columns(feature_columns(domain, label), None if domain.y is None else label)
        frame = None
    return Table(path, domain, roles, tuple(f"{path}: {note}" for note in notes), frame)


def _free_label(domain: Domain) -> str:
    """Return a name for the label column of a file of arrays that no feature has."""
    label = "label"
    while label in (domain.feature_names or ()):
        label += "_"
    return label


def _label_notes(domain: Domain) -> list[str]:
    """Return a note on labels that are classes here, and mean a missing label elsewhere."""
    known = domain.labeled_rows(default=True)
    counts = Counter([] if domain.y is None else domain.y[known].tolist())
    unclear = [text for text in MISSING if text in counts]
    if not unclear:
        return []
    shown = ", ".join(f"{text!r} ({counts[text]} rows)" for text in unclear)
    how = option("missing", *unclear)
    return [f"labels counted as classes: {shown}; if they mark rows without a label, pass {how}"]


def _fill(values: Any, names: Sequence[str] | None) -> Any:
    """Return the value to fill each column with, None for those of the file; NaN for an unknown name."""
    if not isinstance(values, Mapping):
        return values
    return list(values.values() if names is None else (values.get(name, np.nan) for name in names))


def _impute(parts: DomainArguments, options: ReadOptions) -> _Imputed:
    """Fill missing numbers or drop their rows; return the mask of kept rows (None for all) and a note."""
    X, how = parts["X"], options.impute
    if options.encode and how == "median":
        return None, []  # by the encoder
    if not isinstance(X, np.ndarray) and how is not None and hasattr(X, "select_dtypes"):
        return _impute_frame(parts, how)
    fill = _fill(options.fill, parts.get("feature_names"))
    usable = how is not None and isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.ndim == 2
    if not usable or not (empty := np.isnan(X)).any():
        return None, []
    if how == "drop":
        kept = np.asarray(~empty.any(axis=1))
        if not kept.any():
            rule = f"impute='drop' leaves no row: pass {option('impute', 'median')}"
            raise FileFormatError(rule)
        for role in parts.keys() - {"feature_names"}:
            parts[role] = parts[role][kept]
        return kept, [f"rows left out because of missing cells: {(~kept).sum()} of {len(kept)}"]
    if fill is None and empty.all(axis=0).any():
        raise FileFormatError(f"X must have a number in column {int(empty.all(axis=0).argmax())}")
    of = "their column" if fill is None else "the rows that the model was fitted on"
    if fill is None:
        fill = (np.nanmean if how == "mean" else np.nanmedian)(X, axis=0)
    parts["X"] = np.where(empty, np.asarray(fill, dtype=X.dtype), X)
    where = f"{empty.sum()} in {empty.any(axis=0).sum()} columns"
    return None, [f"missing cells filled with the {how} of {of}: {where}"]


def _impute_frame(parts: DomainArguments, how: str) -> _Imputed:
    """Do the same for the numbers of a frame with other columns, whose mean is filled in."""
    X = parts["X"]
    numbers = X.select_dtypes("number")
    empty = numbers.isna()
    if not empty.any(axis=None):
        return None, []
    if how == "mean":
        parts["X"] = X.assign(**numbers.fillna(numbers.mean()))
        where = f"{int(empty.sum().sum())} in {int(empty.any().sum())} columns"
        return None, [f"missing cells filled with the mean of their column: {where}"]
    kept = ~empty.any(axis=1).to_numpy()
    if not kept.any():
        raise FileFormatError(f"impute='drop' leaves no row: pass {option('impute', 'median')}")
    for role in parts.keys() - {"feature_names"}:
        parts[role] = parts[role][kept]
    return kept, [f"rows left out because of missing cells: {(~kept).sum()} of {len(kept)}"]
