"""Results on standard output: a table for people, json or csv for programs."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from l2t.interfaces.cli.formats import Format

__all__ = ["show_record", "show_rows"]


def show_rows(rows: Sequence[Mapping[str, Any]], format: Format, *, title: str = "") -> None:
    """Print rows that have the same fields."""
    if format is Format.json:
        print(json.dumps([dict(row) for row in rows], indent=2))
    elif format is Format.csv:
        writer = csv.DictWriter(sys.stdout, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        table = Table(title=title or None, box=box.SIMPLE_HEAD, pad_edge=False)
        for name in rows[0] if rows else ():
            numbers = all(isinstance(row[name], int | float | None) for row in rows)
            table.add_column(name.replace("_", " "), justify="right" if numbers else "left")
        for row in rows:
            table.add_row(*(_told(value) for value in row.values()))
        Console().print(table, highlight=False)


def show_record(record: Mapping[str, Any], format: Format) -> None:
    """Print one record: a line a field, or as json or csv."""
    if format is Format.json:
        print(json.dumps(dict(record), indent=2))
    elif format is Format.csv:
        show_rows([record], format)
    else:
        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in record.items():
            table.add_row(name.replace("_", " "), _told(value))
        Console().print(table, highlight=False)


def _told(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
