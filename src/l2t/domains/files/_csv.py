"""csv: one row a line, columns by name, separated by a comma, a semicolon or a tab.

One pass of the csv module reads labels and numbers together, so each error knows its line. That
costs what a pass for the labels and ``numpy.loadtxt`` for the numbers cost (measured on 5,000 x
1,280 and 1,000,000 x 3 cells), and there is one grammar instead of two that may disagree.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

import numpy as np
import numpy.typing as npt

from l2t.domains.domain import Domain
from l2t.domains.files._columns import Columns, feature_names, refuse_row_numbers
from l2t.domains.files._parts import Names, Parts, option
from l2t.domains.files._values import gather, infer, plain, truth, without_missing
from l2t.exceptions import FileFormatError, InvalidInputError

__all__ = ["read", "write"]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?", re.IGNORECASE)
_BLOCK = 2**18  # numbers held as Python objects at a time
_SAMPLE = 20  # records that must agree on their width for a delimiter to be the right one


class _Record(NamedTuple):
    line: int
    cells: list[str]


def read(path: Path, names: Names) -> Parts:
    """Read a table of text."""
    try:
        with _open(path) as handle:
            delimiter = _delimiter(handle)
            handle.seek(0)
            return _read(_records(handle, delimiter), names)
    except UnicodeDecodeError:
        raise FileFormatError(f"line {_first_undecodable(path)} is not UTF-8 text") from None


def _read(records: Iterator[_Record], names: Names) -> Parts:
    first = next(records, None)
    if first is None:
        raise FileFormatError("holds nothing but blank lines")
    header = _is_header(first.cells, names)
    table = _column_names(first.cells) if header else [str(i) for i in range(len(first.cells))]
    # pandas and R number the rows in a first column without a name, which pandas reads back as this one.
    index = table[:1] if header and first.cells[0].strip() in ("", "Unnamed: 0") else ()
    columns = Columns.of(table, names, index=index)
    rows = records if header else chain([first], records)
    X, others, lines = _collect(rows, first, table, columns)
    if header:
        refuse_row_numbers(X, table, columns, names)
    labeled = groups = y = None
    if columns.labeled is not None:
        labeled = _mask(others[columns.labeled], lines, table[columns.labeled])
    if columns.groups is not None:
        groups = _groups(others[columns.groups], lines, table[columns.groups])
    if columns.label is not None:
        cells = [cell if cell.strip() else None for cell in others[columns.label]]
        _refuse_padded(cells, lines, table[columns.label])
        y, labeled = without_missing(gather(infer(cells)), labeled)
    named = tuple(table[at] for at in columns.features) if header else None
    return Parts(X, y, labeled, groups, named)


def _collect(
    rows: Iterator[_Record], first: _Record, table: list[str], columns: Columns
) -> tuple[npt.NDArray[np.float64], dict[int, list[str]], list[int]]:
    """Return the feature matrix, the text of the other columns, and the line of each row."""
    pick = _picker(columns.features)
    others: dict[int, list[str]] = {
        at: [] for at in (columns.label, columns.labeled, columns.groups) if at is not None
    }
    blocks: list[npt.NDArray[np.float64]] = []
    lines: list[int] = []
    numbers: list[float] = []
    for line, cells in rows:
        if len(cells) != len(table):
            raise FileFormatError(
                f"line {line} has {len(cells)} cells, where line {first.line} has {len(table)}"
            )
        wanted = pick(cells)
        try:
            numbers.extend(map(float, wanted))
        except ValueError:
            raise _not_a_number(line, cells, table, columns, above=bool(lines)) from None
        if "_" in "".join(wanted):  # float takes 1_000 for 1000
            raise _not_a_number(line, cells, table, columns, above=bool(lines))
        for position, texts in others.items():
            texts.append(cells[position])
        lines.append(line)
        if len(numbers) >= _BLOCK:
            blocks.append(np.array(numbers))
            numbers.clear()
    if not lines:
        raise FileFormatError("has a header but no rows")
    flat = np.concatenate([*blocks, np.array(numbers)])
    flat.flags.writeable = False  # so that the domain need not copy it
    X = flat.reshape(len(lines), len(columns.features))
    if not np.isfinite(X).all():
        row, at = (int(i) for i in np.argwhere(~np.isfinite(X))[0])
        where = f"column {table[columns.features[at]]!r}, line {lines[row]}"
        raise FileFormatError(f"{where}: {X[row, at]} is not a finite number")
    return X, others, lines


def write(domain: Domain, handle: BinaryIO, label: str) -> None:
    """Write x0, x1, ..., the label, then labeled and groups where the domain has them."""
    header = feature_names(domain, label)
    extra: list[list[Any]] = []
    if domain.y is not None:
        header.append(label)
        extra.append(_text(plain(domain.y, "labels", optional=True), "labels"))
    if domain.labeled is not None:
        header.append("labeled")
        extra.append(domain.labeled.astype(int).tolist())
    if domain.groups is not None:
        header.append("groups")
        extra.append(_text(plain(domain.groups, "groups"), "groups"))
    text = io.TextIOWrapper(handle, encoding="utf-8", newline="")
    # Text is quoted, as R does: the csv module would leave a lone carriage return bare. Numbers are
    # written by repr of the float64 of the same value, which reads back to that very value.
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(header)
    for row, *others in zip(domain.X, *extra, strict=True):
        writer.writerow(row.tolist() + others)
    text.detach()


def _open(path: Path) -> TextIO:
    return path.open(encoding="utf-8-sig", newline="")


def _records(handle: TextIO, delimiter: str) -> Iterator[_Record]:
    reader = csv.reader(handle, delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if cells:
                yield _Record(reader.line_num, cells)
    except csv.Error as error:
        raise FileFormatError(f"line {reader.line_num}: {error}") from None


def _delimiter(handle: TextIO) -> str:
    """Return the separator under which the first records are equally wide, and widest."""

    def score(delimiter: str) -> tuple[bool, int]:
        handle.seek(0)
        widths: list[int] = []
        with suppress(FileFormatError):  # which the right one will raise again
            for _, cells in islice(_records(handle, delimiter), _SAMPLE):
                widths.append(len(cells))
        first = widths[0] if widths else 0
        return first > 1 and len(set(widths)) == 1, first

    return max(",;\t", key=score)


def _is_header(cells: Sequence[str], names: Names) -> bool:
    """Return whether the first record names columns.

    Names are not numbers, but for those that pandas gives by default: 0, 1, 2, ... So few as 0 and
    1 may well be data, unless the caller's names or the index column of pandas are beside them.
    """
    text = [cell.strip() for cell in cells]
    numbers = [cell for cell in text if _NUMBER.fullmatch(cell)]
    if numbers != [str(i) for i in range(len(numbers))] or not any(text):
        return False
    asked = {"label", names.label, names.labeled, names.groups, *(names.features or ())}
    beside = (asked | {""}) & (set(text) - set(numbers))
    return not numbers or len(numbers) > 2 or bool(beside)


def _column_names(cells: Sequence[str]) -> list[str]:
    return [cell.strip() or f"(unnamed {position})" for position, cell in enumerate(cells)]


def _picker(positions: tuple[int, ...]) -> Any:
    """Return the function that takes some cells of a record, by one slice where they adjoin."""
    start, stop = positions[0], positions[-1] + 1
    if positions == tuple(range(start, stop)):
        return itemgetter(slice(start, stop))
    return itemgetter(*positions)


def _not_a_number(
    line: int, cells: Sequence[str], table: list[str], columns: Columns, *, above: bool
) -> FileFormatError:
    """Return the error of a cell; `above` says whether there are numbers in the lines before."""
    at = next(at for at in columns.features if not _is_number(cells[at]))
    cell, where = cells[at], f"column {table[at]!r}, line {line}"
    out = option("ignore", table[at])
    if not cell.strip():
        return FileFormatError(f"{where}: a feature is missing; fill it, or leave it out: {out}")
    told = f"{where}: {cell!r:.80} is not a number"
    if _is_number(cell.replace(",", ".", 1)):
        return FileFormatError(f"{told}; write decimals with a point")
    if above:
        return FileFormatError(f"{told}; put one there, or leave the column out: {out}")
    if columns.label is None:
        label = option("label", table[at])
        return FileFormatError(f"{told}; if these are the labels, say {label}, else {out}")
    return FileFormatError(f"{told}; if this is no feature, say {out}")


def _refuse_padded(cells: Sequence[str | None], lines: list[int], name: str) -> None:
    """Refuse labels that differ in blanks around them alone: nobody means two classes by that."""
    seen: dict[str, tuple[str, int]] = {}
    for cell, line in zip(cells, lines, strict=True):
        if cell is not None:
            other, above = seen.setdefault(cell.strip(), (cell, line))
            if other != cell:
                raise FileFormatError(
                    f"column {name!r}: the labels {other!r:.60} (line {above}) and {cell!r:.60} (line "
                    f"{line}) differ in blanks alone: write them the same way"
                )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _mask(cells: list[str], lines: list[int], name: str) -> npt.NDArray[np.bool_]:
    said = [truth(cell) for cell in cells]
    if None in said:
        row = said.index(None)
        raise FileFormatError(
            f"column {name!r}, line {lines[row]}: {cells[row]!r:.80} is not 0, 1, true or false"
        )
    return np.array(said, dtype=np.bool_)


def _groups(cells: list[str], lines: list[int], name: str) -> npt.NDArray[Any]:
    for cell, line in zip(cells, lines, strict=True):
        if not cell.strip():
            raise FileFormatError(f"column {name!r}, line {line}: a group is missing")
    return gather(infer(cells))


def _text(values: list[Any], what: str) -> list[Any]:
    if any(isinstance(value, str) and not value.strip() for value in values):
        raise InvalidInputError(f"{what} must not be blank in csv files, where that means missing")
    return values


def _first_undecodable(path: Path) -> int:
    with path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 1
