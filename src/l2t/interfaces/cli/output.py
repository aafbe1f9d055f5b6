"""Results on standard output, as a table, JSON or csv."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import typer

from l2t.display import csv_cell, escape_controls

if TYPE_CHECKING:
    from rich.console import Console

    from l2t.typing import JsonObject

#: Digits of a number of a few after the point.
SHOWN_DIGITS = 3
#: Attributes of stored objects whose columns have another name.
_ATTRIBUTES = {"source": "source_name", "target": "target_name", "choice": "algorithm"}
_ATTRIBUTES |= {"labels": "n_labels", "before": "accuracy_before", "after": "accuracy_after"}
_ATTRIBUTES |= {"error_before": "standard_error_before", "error_after": "standard_error_after"}
_ATTRIBUTES |= {"ratio": "improvement_ratio", "created": "created_at"}
_ATTRIBUTES |= {"run": "key", "seed": "random_state", "seconds": "duration"}


class Format(StrEnum):
    """The output format."""

    table = "table"
    json = "json"
    csv = "csv"


def select_columns(item: object, columns: str) -> JsonObject:
    """Return the named columns of a stored object; None for NaN and "", dates as text."""
    row = {name: getattr(item, _ATTRIBUTES.get(name, name)) for name in columns.split()}
    if "created" in row:
        row["created"] = row["created"].isoformat(timespec="seconds")
    return {name: None if value != value or value == "" else value for name, value in row.items()}


def print_note(text: str, quiet: bool = False) -> None:
    """Print a note to standard error."""
    if not quiet:
        typer.echo(escape_controls(text), err=True)


def show_rows(rows: Sequence[Mapping[str, object]], format: Format) -> None:
    """Print rows that have the same fields."""
    if format is Format.json:
        print(json.dumps([dict(row) for row in rows], indent=2))
    elif format is Format.csv:
        writer = csv.DictWriter(sys.stdout, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: csv_cell(value) for name, value in row.items()} for row in rows)
    else:
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in rows[0] if rows else ():
            numbers = all(isinstance(row[name], int | float | None) for row in rows)
            side: Literal["left", "right"] = "right" if numbers else "left"
            table.add_column(name.replace("_", " "), justify=side)
        for row in rows:
            table.add_row(*(_cell(value) for value in row.values()))
        if _console(width=10**6).measure(table).minimum <= _console().width:
            _console().print(table)
            return
        for row in rows:  # it does not fit, and cutting cells would lose their content
            show_record(row, format)
            print()


def show_record(record: Mapping[str, object], format: Format) -> None:
    """Print one record: one line per field, or as JSON or csv."""
    if format is Format.json:
        print(json.dumps(dict(record), indent=2))
    elif format is Format.csv:
        show_rows([record], format)
    else:
        from rich.table import Table

        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_column(no_wrap=True, style="cyan")
        table.add_column(overflow="fold")
        for name, value in record.items():
            table.add_row(name.replace("_", " "), _cell(value))
        _console().print(table)


def show_sentence(sentence: str, record: Mapping[str, object], format: Format) -> None:
    """Print a sentence or, in other formats than a table, the record behind it."""
    if format is Format.table:
        print(escape_controls(sentence))
    else:
        show_record(record, format)


def _console(width: int | None = None) -> Console:
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, width=width)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.{SHOWN_DIGITS}f}" if abs(value) < 10 else f"{value:.1f}"
    return escape_controls(str(value))
