"""Collections in progress: one row each, which its writer keeps up to date."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from l2t.experiences.store.records import microseconds, moment
from l2t.experiences.store.schema import collections

__all__ = ["CollectionProgress", "latest_collections", "note_collection"]

_TIMES = ("started_at", "updated_at", "ended_at")


@dataclass(frozen=True)
class CollectionProgress:
    """How far a collection is.

    Attributes
    ----------
    id : str
        Which collection.
    host, pid : str, int
        Where it runs.
    started_at, updated_at : datetime
        When it began, and when it was last heard of.
    total : int or None
        Runs that were asked for, where that is known beforehand.
    done, failed, already_there : int
        Runs so far, by how they ended.
    latest : str
        What was run last.
    ended_at, outcome : datetime or None, str
        When it ended and how, "finished" or why not; None and empty while it works.
    """

    id: str
    host: str
    pid: int
    started_at: datetime
    updated_at: datetime
    total: int | None = None
    done: int = 0
    failed: int = 0
    already_there: int = 0
    latest: str = ""
    ended_at: datetime | None = None
    outcome: str = ""


_FIELDS = tuple(field.name for field in fields(CollectionProgress))


def note_collection(connection: Connection, progress: CollectionProgress) -> None:
    """Put the row of a collection in, or bring it up to date."""
    row: dict[str, Any] = dict(zip(_FIELDS, astuple(progress), strict=True))
    for name in _TIMES:
        row[name] = None if row[name] is None else microseconds(row[name], name)
    here = collections.c.id == progress.id
    if connection.execute(update(collections).where(here).values(row)).rowcount == 0:
        connection.execute(insert(collections).values(row))


def latest_collections(connection: Connection, limit: int) -> list[CollectionProgress]:
    """Return the collections that began last, the newest first."""
    query = select(collections).order_by(collections.c.started_at.desc()).limit(limit)
    found = []
    for row in connection.execute(query):
        values: dict[str, Any] = {name: getattr(row, name) for name in _FIELDS}
        times = {name: moment(values[name]) for name in _TIMES if values[name] is not None}
        found.append(CollectionProgress(**values | times))
    return found
