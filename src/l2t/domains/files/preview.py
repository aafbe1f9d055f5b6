"""Previews: the columns of a file, the likely role of each, and how to parse the cells."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from l2t.domains.domain import Domain
from l2t.domains.files._columns import ReadOptions
from l2t.domains.files._sheet import Cells, Sheet
from l2t.domains.files.disk import as_path, reading
from l2t.domains.files.formats import format_to_read
from l2t.domains.files.table import READERS, open_tables
from l2t.domains.labels import LABEL_NAMES

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

Role = Literal["feature", "label", "labeled", "id", "ignore"]
_EXAMPLES = 3  # values of each column that are shown
_MAX_CLASSES = 10  # distinct values of a column with labels in a few rows, if each may occur once
_MAX_WORDS = 3  # of the name of a class; longer texts are remarks
_MAX_TEXTS = 5  # distinct texts in a numeric column that are proposed as missing, at most


@dataclass(frozen=True)
class ColumnPreview:
    """A column and its likely role.

    Attributes
    ----------
    name : str
        The name of the column.
    role : {"feature", "label", "labeled", "id", "ignore"}
        The likely role; "labeled" is a mask of the labels that the user has.
    reason : str
        Why, in a few words.
    is_unusable : bool
        Whether it cannot be a feature.
    n_missing, n_distinct : int
        The number of missing cells, and of distinct values.
    examples : tuple of str
        The first values.
    """

    name: str
    role: Role
    reason: str
    is_unusable: bool
    n_missing: int
    n_distinct: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Preview:
    """The preview of a file.

    Attributes
    ----------
    n_rows, n_features : int
        The number of rows, and of columns that are likely features.
    columns : tuple of ColumnPreview, default=()
        All columns in their order; empty for npz, mat and svmlight, whose roles are fixed.
    classes : tuple of str, default=()
        npz, mat and svmlight: the classes.
    n_labelled : int, default=0
        npz, mat and svmlight: the number of rows with a label.
    decimal : str, default="."
        The decimal mark of the numbers.
    missing : tuple of str, default=()
        Texts in numeric columns, except that of labels, that probably mean a missing cell.
    """

    n_rows: int
    n_features: int
    columns: tuple[ColumnPreview, ...] = ()
    classes: tuple[str, ...] = ()
    n_labelled: int = 0
    decimal: str = "."
    missing: tuple[str, ...] = ()


def preview_file(
    path: str | os.PathLike[str], *, label: str | None = None, format: str | None = None
) -> Preview:
    r"""Read a file and infer the role of each column.

    Parameters
    ----------
    path : str or path
        The file, as for `read_domain`.
    label : str, optional
        The label column of another file of the same data, used if this file has it.
    format : str, optional
        The format, by default detected from the content.

    Returns
    -------
    Preview

    Examples
    --------
    >>> import pathlib, tempfile
    >>> text = "id;site;weight;species\nA1;north;1,5;lynx\nA2;north;?;\nA3;south;2,5;cat"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "cats.csv")
    ...     _ = path.write_text(text)
    ...     preview = preview_file(path)
    >>> [column.role for column in preview.columns], preview.decimal
    (['id', 'feature', 'feature', 'label'], ',')
    """
    file = as_path(path)
    with reading(file):
        format = format_to_read(file) if format is None else format
        if format not in ("csv", "xlsx", "parquet"):
            return _preview_domain(open_tables([file], ReadOptions(), format=format)[0].domain)
        options = ReadOptions()
        sheet, cells = _read_cells(file, format, options)
        if format == "csv" and any(column.has_commas for column in cells.values()):
            options = replace(options, decimal=",")
            sheet, cells = _read_cells(file, format, options)
    texts = {name: _missing_texts(column) for name, column in cells.items()}
    numbers = replace(options, missing_numbers=[text for some in texts.values() for text in some])
    columns = _columns(sheet, {name: Cells.of(sheet.frame[name], numbers) for name in cells}, label)
    for place, column in enumerate(columns):
        if column.role != "label":
            continue
        texts.pop(column.name)  # such a text is a class there
        if format == "csv" and column.n_missing:  # "NA" was read as a missing number
            with reading(file):
                sheet, cells = _read_cells(file, format, replace(options, label=column.name))
        columns[place] = _label_column(column, sheet.frame[column.name], cells[column.name])
    missing = tuple(dict.fromkeys(text for some in texts.values() for text in some))
    features = sum(column.role == "feature" for column in columns)
    return Preview(len(sheet.frame), features, tuple(columns), (), 0, options.decimal, missing)


def _read_cells(path: Path, format: str, options: ReadOptions) -> tuple[Sheet, dict[str, Cells]]:
    sheet = READERS[format](path, options)
    assert isinstance(sheet, Sheet)  # for csv, xlsx and parquet
    sheet.check_not_empty()
    return sheet, {name: Cells.of(sheet.frame[name], options) for name in sheet.frame.columns}


def _preview_domain(domain: Domain) -> Preview:
    known = domain.labeled_rows(default=domain.y is not None)
    classes = tuple(map(str, domain.classes))
    return Preview(len(domain), domain.n_features, (), classes, int(known.sum()))


def _missing_texts(cells: Cells) -> list[str]:
    """Return the texts in a numeric column that probably mean a missing cell, such as "unknown"."""
    if not cells.text or cells.is_text or not cells.wrong.any():
        return []
    texts = sorted({cells.text[row] for row in np.flatnonzero(cells.wrong)})
    return texts if len(texts) <= _MAX_TEXTS else []


def _columns(sheet: Sheet, cells: dict[str, Cells], label: str | None) -> list[ColumnPreview]:
    """Return the previews of all columns."""
    roles: dict[str, tuple[Role, str]] = {}
    for place, (name, column) in enumerate(cells.items()):
        roles[name] = _role(column, first=place == 0 and len(cells) > 1)
    chosen = _label(cells, roles, label)
    if chosen is not None:
        roles[chosen[0]] = "label", chosen[1]
    for name, (role, _) in roles.items():
        if role == "label" and (chosen is None or name != chosen[0]):
            roles[name] = "ignore", "another column has the labels"
    return [_column(sheet.frame[name], column, *roles[name]) for name, column in cells.items()]


def _role(cells: Cells, *, first: bool) -> tuple[Role, str]:
    """Return the role of a column regardless of the others, and why."""
    name = cells.name.casefold()
    if name == "labeled":
        return "labeled", "marks the labels you have"
    if name in LABEL_NAMES:
        return "label", "by its name"
    if cells.missing.all():
        return "ignore", "every cell is missing"
    if cells.is_id(first=first):
        return "id", "all values are distinct"
    if cells.is_text:
        return "feature", "text"
    if cells.wrong.any():
        return "ignore", f"has cells that are not numbers, such as {cells.first_wrong!r:.40}"
    if name in ("unnamed: 0", "groups"):
        return "ignore", "by its name"
    return "feature", "numbers"


def _label(
    cells: dict[str, Cells], roles: dict[str, tuple[Role, str]], label: str | None
) -> tuple[str, str] | None:
    """Return the label column and why: as given, by its name, or the last text column with repeats.

    A column with few names or whole numbers in a minority of the rows has the labels of a target, so that it
    comes before other text, and before a column of another file that is complete here. Numbers come last.
    """
    texts, mostly_empty, numbers = [], [], []
    for name in reversed(cells):
        missing, n = cells[name].missing, _distinct(cells[name])
        if roles[name][1] == "text" and n > 1 and (missing.any() or n < len(missing)):
            texts.append((name, "the last column of text"))
            if _has_few_names(cells[name]):
                mostly_empty.append((name, "text in a few rows"))
        elif roles[name][0] == "feature" and _has_few_whole_numbers(cells[name]):
            numbers.append((name, "whole numbers in a few rows"))
    mostly_empty += numbers
    if label in cells and (cells[label].missing.any() or not mostly_empty):
        return label, "the labels of the other file"
    for name, (role, why) in roles.items():
        if role == "label":
            return name, why
    return next(iter(mostly_empty + texts), None)


def _has_few_names(cells: Cells) -> bool:
    """Return whether a minority of the cells has texts that repeat, or few of as many words each."""
    known, n = ~cells.missing, _distinct(cells)
    if not n <= known.sum() < cells.missing.sum():
        return False
    words = {len(cells.text[row].split()) for row in np.flatnonzero(known)}
    return bool(
        n < known.sum() or (n <= _MAX_CLASSES and len(words) == 1 and max(words) <= _MAX_WORDS)
    )


def _has_few_whole_numbers(cells: Cells) -> bool:
    """Return whether a minority of the cells has whole numbers, of which few are distinct."""
    known = ~cells.missing
    numbers = cells.numbers[known]
    is_small = 2 <= len(np.unique(numbers)) <= _MAX_CLASSES
    return bool(
        is_small and known.sum() < cells.missing.sum() and (numbers == np.floor(numbers)).all()
    )


def _distinct(cells: Cells) -> int:
    known = ~cells.missing
    if cells.text:
        return len({cells.text[row] for row in np.flatnonzero(known)})
    return len(np.unique(cells.numbers[known]))


def _label_column(column: ColumnPreview, values: pd.Series, cells: Cells) -> ColumnPreview:
    """Return the preview of a label column, where only an empty cell is missing."""
    if cells.text:
        cells = replace(cells, blank=np.array([not text for text in cells.text]))
    label = _column(values, cells, column.role, column.reason)
    return replace(label, is_unusable=column.is_unusable)


def _column(values: pd.Series, cells: Cells, role: Role, reason: str) -> ColumnPreview:
    shown = [str(value)[:40] for value in values[~cells.missing].head(_EXAMPLES)]
    usable = not cells.missing.all() and (cells.is_text or not cells.wrong.any())
    missing = int(cells.missing.sum())
    return ColumnPreview(
        cells.name, role, reason, not usable, missing, _distinct(cells), tuple(shown)
    )
