"""The predicted rows of a table in a small SQLite file, so that a page of many rows is found at once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import numpy as np

from l2t.domains import Table
from l2t.prediction import Prediction
from l2t.typing import JsonObject

#: Columns of the user that are shown and searched, and characters of a cell.
_COLUMNS, _CHARACTERS = 8, 300
#: Rows of a page.
PAGE = 25
Order = Literal["row", "probability", "-probability"]
_ORDERS = {"row": "id", "probability": "probability, id", "-probability": "probability DESC, id"}
_SCHEMA = """
CREATE TABLE columns (names TEXT NOT NULL);
CREATE TABLE rows (
    id INTEGER PRIMARY KEY, cells TEXT NOT NULL, text TEXT NOT NULL, predicted TEXT NOT NULL,
    probability REAL NOT NULL, second TEXT, second_probability REAL, label TEXT, disagrees INTEGER NOT NULL,
    nearest TEXT NOT NULL
);
"""


def write_rows(
    path: Path, prediction: Prediction, table: Table, nearest: Sequence[str] | None = None
) -> None:
    """Write the rows of a prediction with their cells to a new file, and the labels nearest to each."""
    names, cells = _cells(table)
    P, classes = prediction.probabilities, list(map(str, prediction.classes.tolist()))
    order = np.argsort(-P, axis=1, kind="stable")[:, :2].tolist()
    labels: list[str | None] = [None] * len(P)
    if prediction.target.y is not None:
        for row in np.flatnonzero(prediction.given).tolist():
            labels[row] = str(prediction.target.y[row])

    def record(row: int) -> tuple[Any, ...]:
        first, second = order[row][0], order[row][-1]
        own = [column[row] for column in cells]
        label, predicted = labels[row], classes[first]
        text = "\n".join([*own, predicted, label or ""]).casefold()
        other = (None, None) if first == second else (classes[second], float(P[row, second]))
        probability = float(P[row, first])
        wrong = label is not None and label != predicted
        near = "" if nearest is None else nearest[row]
        return row, json.dumps(own), text, predicted, probability, *other, label, int(wrong), near

    with closing(sqlite3.connect(path)) as file, file:
        file.executescript(_SCHEMA)
        file.execute("INSERT INTO columns VALUES (?)", [json.dumps(names)])
        rows = map(record, range(len(P)))
        file.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        file.execute("CREATE INDEX by_probability ON rows (probability)")


def read_rows(
    path: Path,
    *,
    search: str = "",
    predicted: str | None = None,
    disagrees: bool = False,
    order: Order = "row",
    page: int = 1,
) -> JsonObject:
    """Return a page of rows, how many there are in all, and the columns that are shown."""
    conditions, values = ["1"], list[Any]()
    if search:
        conditions.append("instr(text, ?)")
        values.append(search.casefold())
    if predicted is not None:
        conditions.append("predicted = ?")
        values.append(predicted)
    if disagrees:
        conditions.append("disagrees")
    where = " AND ".join(conditions)
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
        file.row_factory = sqlite3.Row
        (names,) = file.execute("SELECT names FROM columns").fetchone()
        (total,) = file.execute(f"SELECT count(*) FROM rows WHERE {where}", values).fetchone()
        rows = file.execute(
            "SELECT id AS row, cells, predicted, probability, second, second_probability, label, disagrees, "
            f"nearest FROM rows WHERE {where} ORDER BY {_ORDERS[order]} LIMIT ? OFFSET ?",
            [*values, PAGE, (page - 1) * PAGE],
        ).fetchall()
    items = [dict(row) | {"cells": json.loads(row["cells"])} for row in rows]
    return {"columns": json.loads(names), "total": total, "page_size": PAGE, "items": items}


def _cells(table: Table) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns that are shown, ids and texts first, and their cells as texts."""
    roles, frame = table.roles, table.frame
    names = [name for name in frame if name not in (roles.label, roles.labeled)]
    numeric = {name for name in names if frame[name].dtype.kind in "fiub"}
    names.sort(key=lambda name: (name not in roles.ids, name in numeric))  # stable
    shown = names[:_COLUMNS]
    columns = [frame[name].astype(object) for name in shown]
    texts = [
        column.where(column.notna(), "").astype(str).str.slice(0, _CHARACTERS).tolist()
        for column in columns
    ]
    return list(map(str, shown)), texts
