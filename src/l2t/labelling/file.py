"""The file of labels beside a target: one line per label, appended and synced to disk at once.

::

    row,label,time,action,content,n_labels,expected,low,high
    12,cat,2026-11-18T19:00:00+00:00,label,r3f0c9d1a2b4e,,,,

Rows are counted from 1. `content` is a hash of the row's cells, by which labels of other rows are recognised.
An action is "label", "skip", "undo" (of the last label or skip that was not undone) or "estimate" (the
accuracy to expect with `n_labels` labels, and its 90 % interval).
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from l2t.domains.files.disk import check_replaceable, writing
from l2t.exceptions import FileFormatError

Action = Literal["label", "skip", "undo", "estimate"]


@dataclass(frozen=True)
class Record:
    """One line of a file of labels; `row` is counted from 0."""

    row: int | None
    label: str
    time: str
    action: Action
    content: str = ""
    n_labels: int | None = None
    expected: float | None = None
    low: float | None = None
    high: float | None = None

    def line(self) -> str:
        """Return the line of the file."""
        values = asdict(self) | {"row": None if self.row is None else self.row + 1}
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(values.values())
        return text.getvalue()


NAMES = tuple(field.name for field in fields(Record))
HEADER = ",".join(NAMES)


class LabelFile:
    """The records of a file of labels; the file is created with the first record.

    Several processes may append to one file: each reads what others have written before it appends.

    Parameters
    ----------
    path : Path
        The file.
    n_rows : int
        The number of rows of the target.
    content : callable
        From the index of a row to the hash of its cells.

    Attributes
    ----------
    records : list of Record
        The complete lines of the file, in their order.

    Raises
    ------
    FileFormatError
        If the file has another form, or belongs to other rows.
    """

    def __init__(self, path: Path, n_rows: int, content: Callable[[int], str]) -> None:
        self.path, self.n_rows, self.records = path, n_rows, list[Record]()
        self._content = content
        self._size = self._lines = 0
        self.refresh()

    def refresh(self) -> None:
        """Read the lines that were appended since the last time; a line without an end is not read."""
        try:
            with self.path.open("rb") as handle:
                handle.seek(self._size)
                new = handle.read()
        except FileNotFoundError:
            return
        except OSError as error:
            reason = error.strerror or error
            raise FileFormatError(f"{self.path}: cannot be read: {reason}") from None
        complete = new[: new.rfind(b"\n") + 1]
        if not (self._lines or complete or HEADER.encode().startswith(new)):
            complete = new  # not a file of labels: this is reported below
        lines = (
            complete.decode("utf-8", "replace").removesuffix("\n").split("\n") if complete else []
        )
        records = [self._record(line.removesuffix("\r")) for line in lines]
        self.records += [record for record in records if record is not None]
        self._size += len(complete)

    def append(
        self, action: Action, row: int | None = None, label: str = "", **values: Any
    ) -> None:
        """Append a record; when this returns, it is on the disk."""
        self.refresh()
        content = "" if row is None else self._content(row)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        text = Record(row, label, now, action, content, **values).line()
        with writing(self.path):
            place = check_replaceable(self.path)
            fresh = not place.exists()
            with place.open("ab") as handle:
                before = handle.tell()
                if not self._lines:  # a process was killed while it wrote the first line
                    handle.truncate(0)
                    before = 0
                if not before:
                    text = f"{HEADER}\n{text}"
                elif before > self._size:  # ... or the last line
                    text = f"\n{text}"
                try:
                    handle.write(text.encode())
                    handle.flush()
                    os.fsync(handle.fileno())
                except OSError:  # no space is left, for example
                    with suppress(OSError):
                        os.truncate(place, before)
                    raise
            if fresh:
                _sync_folder(place.parent)
        self.refresh()

    def _record(self, line: str) -> Record | None:
        """Return the record of a line, after a check; None for the header and for an incomplete line."""
        self._lines += 1
        cells = next(csv.reader([line]), [])
        if self._lines == 1:
            if cells != list(NAMES):
                raise self._error("is not a file of labels", f"its first line must be {HEADER!r}")
            return None
        if len(cells) != len(NAMES):
            return None
        named = dict(zip(NAMES, cells, strict=True))
        try:
            row = int(named["row"]) - 1 if named["row"] else None
            n_labels = int(named["n_labels"]) if named["n_labels"] else None
            numbers = [float(named[name]) if named[name] else None for name in NAMES[-3:]]
        except ValueError:
            raise self._error("has a damaged line", f"{line!r:.80} has no numbers") from None
        action: Any = named["action"]
        if action not in get_args(Action):
            raise self._error("has a damaged line", f"{action!r:.80} is no action")
        if row is not None and (
            not 0 <= row < self.n_rows or self._content(row) != named["content"]
        ):
            raise self._error(
                "belongs to other rows",
                f"row {row + 1} of the target has other cells than when it was labelled; move the file away, "
                "or restore the target",
            )
        label, time, content = named["label"], named["time"], named["content"]
        return Record(row, label, time, action, content, n_labels, *numbers)

    def _error(self, what: str, why: str) -> FileFormatError:
        return FileFormatError(f"{self.path}: {what}: line {self._lines}: {why}")


def _sync_folder(folder: Path) -> None:
    """Sync the name of a new file to disk, where the system can (Windows cannot)."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
