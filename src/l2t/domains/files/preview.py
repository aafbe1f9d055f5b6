"""A first look at a file: its columns, the role that each seems to have, and how to read its cells."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from l2t.domains.domain import Domain
from l2t.domains.files._columns import Names
from l2t.domains.files._disk import as_path, reading
from l2t.domains.files._formats import format_to_read
from l2t.domains.files._sheet import LABEL_NAMES, Cells, Sheet
from l2t.domains.files.table import READERS, open_tables

Role = Literal["feature", "label", "labeled", "id", "ignore"]
_EXAMPLES = 3  # values of a column that are shown
_WORDS = 5  # different texts of a column of numbers that can mean a missing cell, at most


@dataclass(frozen=True)
class ColumnPreview:
    """A column, the role that it seems to have, and why.

    Attributes
    ----------
    name : str
        Its name.
    role : {"feature", "label", "labeled", "id", "ignore"}
        What it is for; "labeled" says which labels the user has.
    reason : str
        Why, in a few words.
    is_text : bool
        Whether it cannot be a feature.
    n_missing, n_distinct : int
        Cells without a value, and different values.
    examples : tuple of str
        Its first values.
    """

    name: str
    role: Role
    reason: str
    is_text: bool
    n_missing: int
    n_distinct: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Preview:
    """A file at first sight.

    Attributes
    ----------
    n_rows, n_features : int
        Rows, and columns that seem to be features.
    columns : tuple of ColumnPreview
        All columns in their order; none for npz, mat and svmlight, whose arrays have their roles by name.
    classes : tuple of str
        The labels of those formats.
    n_labelled : int
        Rows with a label in those formats.
    decimal : str
        The decimal mark of its numbers.
    missing : tuple of str
        Texts in columns of numbers that seem to mean a missing cell.
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
    r"""Look at a file, and guess the role of each column.

    Parameters
    ----------
    path : str or path
        The file, as for `read_domain`.
    label : str, optional
        The column of labels, where the file has it: that of a file which belongs to it.
    format : str, optional
        By default found from the content.

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
    ...     found = preview_file(path)
    >>> [each.role for each in found.columns], found.decimal
    (['id', 'ignore', 'feature', 'label'], ',')
    """
    file = as_path(path)
    with reading(file):
        format = format_to_read(file) if format is None else format
        if format not in ("csv", "xlsx", "parquet"):
            return _of_domain(open_tables([file], Names(), format=format)[0].domain)
        names = Names()
        sheet, cells = _opened(file, format, names)
        if format == "csv" and any(each.has_commas for each in cells.values()):
            names = replace(names, decimal=",")
            sheet, cells = _opened(file, format, names)
    found = {name: _words(each) for name, each in cells.items()}
    missing = tuple(dict.fromkeys(word for words in found.values() for word in words))
    names = replace(names, missing=missing)
    cells = {name: Cells.of(sheet.frame[name], names) for name in cells}
    columns = tuple(_columns(sheet, cells, label))
    features = sum(each.role == "feature" for each in columns)
    return Preview(len(sheet.frame), features, columns, (), 0, names.decimal, missing)


def _opened(path: Any, format: str, names: Names) -> tuple[Sheet, dict[str, Cells]]:
    sheet = READERS[format](path, names)
    assert isinstance(sheet, Sheet)  # of these formats
    sheet.refuse_empty()
    return sheet, {name: Cells.of(sheet.frame[name], names) for name in sheet.frame.columns}


def _of_domain(domain: Domain) -> Preview:
    known = domain.labeled_rows(default=domain.y is not None)
    classes = tuple(map(str, domain.classes))
    return Preview(len(domain), domain.n_features, (), classes, int(known.sum()))


def _words(cells: Cells) -> list[str]:
    """Return the few texts in a column of numbers, such as "unknown"."""
    if not cells.text or cells.is_text or not cells.wrong.any():
        return []
    words = sorted({cells.text[row] for row in np.flatnonzero(cells.wrong)})
    return words if len(words) <= _WORDS else []


def _columns(sheet: Sheet, cells: dict[str, Cells], label: str | None) -> list[ColumnPreview]:
    """Return all columns with their roles."""
    roles: dict[str, tuple[Role, str]] = {}
    for place, (name, each) in enumerate(cells.items()):
        roles[name] = _role(each, first=place == 0 and len(cells) > 1)
    chosen = _label(cells, roles, label)
    if chosen is not None:
        roles[chosen[0]] = "label", chosen[1]
    for name, (role, _) in roles.items():
        if role == "label" and (chosen is None or name != chosen[0]):
            roles[name] = "ignore", "another column has the labels"
    return [_column(sheet.frame[name], each, *roles[name]) for name, each in cells.items()]


def _role(cells: Cells, *, first: bool) -> tuple[Role, str]:
    """Return the role that a column has by itself, and why."""
    name = cells.name.casefold()
    if name == "labeled":
        return "labeled", "says which labels you have"
    if name in LABEL_NAMES:
        return "label", "by its name"
    if cells.missing.all():
        return "ignore", "every cell is missing"
    if cells.is_id(first=first):
        return "id", "all values differ"
    if cells.is_text:
        return "ignore", "text"
    if cells.wrong.any():
        return "ignore", f"has cells that are no numbers, such as {cells.first_wrong!r:.40}"
    if name in ("unnamed: 0", "groups"):
        return "ignore", "by its name"
    return "feature", "numbers"


def _label(
    cells: dict[str, Cells], roles: dict[str, tuple[Role, str]], label: str | None
) -> tuple[str, str] | None:
    """Return the column of labels, and why: as named, by its name, or the last text that repeats."""
    if label is not None and label in cells:
        return label, "the labels of the other file"
    for name, (role, why) in roles.items():
        if role == "label":
            return name, why
    for name in reversed(cells):
        gone, n = cells[name].missing, _distinct(cells[name])
        if roles[name][1] == "text" and n > 1 and (gone.any() or n < len(gone)):
            return name, "the last column of text"
    return None


def _distinct(cells: Cells) -> int:
    known = ~cells.missing
    if cells.text:
        return len({cells.text[row] for row in np.flatnonzero(known)})
    return len(np.unique(cells.numbers[known]))


def _column(values: Any, cells: Cells, role: Role, reason: str) -> ColumnPreview:
    shown = [str(each)[:40] for each in values[~cells.missing].head(_EXAMPLES)]
    usable = not cells.is_text and not cells.missing.all() and not cells.wrong.any()
    missing = int(cells.missing.sum())
    return ColumnPreview(
        cells.name, role, reason, not usable, missing, _distinct(cells), tuple(shown)
    )
