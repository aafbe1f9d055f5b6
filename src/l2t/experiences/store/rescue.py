"""What is left of a damaged SQLite file.

SQLite refuses a file that is shorter than it should be as a whole, though most of its pages may be there.
Here a copy is opened without that question and read row by row past whatever is missing. Every run that is
still whole, and proves itself by its hashes, is taken over into another store, and so are the versions of the
agent's function.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, insert, select, update
from sqlalchemy.exc import IntegrityError

from l2t.exceptions import InvalidInputError, StoreCorruptError, StoreError
from l2t.experiences.store.address import Address
from l2t.experiences.store.functions import last_number, row_of_function, version_of
from l2t.experiences.store.schema import arrays, domains, functions, runs, scores
from l2t.experiences.store.store import ExperienceStore

__all__ = ["rescue_store"]

_GAP = 10_000  # so many unreadable rows on end: there are no more


def rescue_store(url: str | os.PathLike[str], into: ExperienceStore) -> int:
    """Take over every run that can still be read from a damaged SQLite store.

    Parameters
    ----------
    url : str or path
        The damaged store; it is left as it is.
    into : ExperienceStore
        Where the runs go, such as a new store.

    Returns
    -------
    int
        How many runs were taken over.
    """
    address = Address.of(url)
    path = address.path
    if path is None:
        raise InvalidInputError(f"only SQLite stores are rescued, got {address.shown!r}")
    if not path.is_file():
        raise StoreError(f"there is no store at {address.shown}")
    taken = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        for ending in ("", "-wal"):
            if (part := path.with_name(path.name + ending)).exists():
                shutil.copyfile(part, copy.with_name(copy.name + ending))
        _cut_to_pages(copy)
        with ExperienceStore(Path(folder) / "sound.db") as sound:
            with sound._database.writing() as connection, closing(sqlite3.connect(copy)) as old:
                _salvage(old, connection)
            for key in sorted(sound.keys()):
                try:
                    taken += into.add(sound.run(key))
                except StoreCorruptError:
                    continue
            _take_versions(sound, into)
    return taken


def _take_versions(sound: ExperienceStore, into: ExperienceStore) -> None:
    """Take over the agent's versions that prove themselves, where there are none yet."""
    with sound._database.reading() as connection:
        rows = connection.execute(select(functions).order_by(functions.c.number)).all()
        marked = connection.execute(select(runs.c.key, runs.c.used_for)).all()
    whole = []
    for row in rows:
        try:
            whole.append(row_of_function(version_of(row)))
        except StoreCorruptError:
            continue
    with into._database.writing(alone=True) as connection:
        if not whole or last_number(connection):
            return
        connection.execute(insert(functions), whole)
        for key, purpose in marked:
            connection.execute(update(runs).where(runs.c.key == key).values(used_for=purpose))


def _cut_to_pages(path: Path) -> None:
    """Take half a page away: the rows of its other half would be read as nothing."""
    with path.open("r+b") as file:
        size = int.from_bytes(file.read(18)[16:18], "big") or 2**16
        if size == 1:
            size = 2**16
        file.truncate(path.stat().st_size // size * size)


def _salvage(old: sqlite3.Connection, new: Connection) -> None:
    """Copy the rows that can be read and refer to nothing that is lost."""
    old.row_factory = sqlite3.Row
    old.execute("PRAGMA writable_schema = ON").close()  # the one way past the size of the file
    for table in (arrays, domains, runs, functions):
        for row in _rows(old, table):
            try:
                query = f"SELECT * FROM {scores.name} WHERE run = ?"
                scored = (
                    [dict(each) for each in old.execute(query, (row["id"],))]
                    if table is runs
                    else []
                )
                new.execute(insert(table), row)
                if scored:
                    new.execute(insert(scores), scored)
            except (IntegrityError, sqlite3.DatabaseError):
                continue


def _rows(old: sqlite3.Connection, table: Table) -> Iterator[dict[str, Any]]:
    """Yield rows in order of their numbers, without any index."""
    number = lost = 0
    query = f"SELECT rowid AS place, * FROM {table.name} WHERE rowid > ? ORDER BY rowid LIMIT 1"
    while lost < _GAP:
        try:
            row = old.execute(query, (number,)).fetchone()
        except sqlite3.DatabaseError:
            lost += 1
            number += 1
            continue
        if row is None:
            return
        number, lost = row["place"], 0
        yield {key: row[key] for key in row.keys() if key != "place"}  # noqa: SIM118 (a Row)
