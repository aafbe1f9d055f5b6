"""Versions of the function that an agent learned from the runs of a store, and which runs it has used.

Versions are numbered from 1 and never changed. Whoever has made the next one puts it in under the next
number, together with the runs that it used, in one transaction; who comes second finds the number taken
and keeps nothing. So nobody holds a lock while learning, and nothing is left behind by a process that dies.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from l2t.exceptions import StoreCorruptError
from l2t.experiences.store.contents import Overtaken, batches, put
from l2t.experiences.store.packing import Packed
from l2t.experiences.store.records import EPOCH, microseconds
from l2t.experiences.store.schema import functions, runs

__all__ = [
    "FunctionVersion",
    "Origin",
    "Use",
    "complete",
    "function_problems",
    "last_number",
    "put_function",
    "row_of_function",
    "unused",
    "used",
    "version_of",
]

#: Where a version comes from.
Origin = Literal["given", "learned", "refined", "recent", "gone back"]
#: What the agent does with a run: learn from it, or judge what was learned from others.
Use = Literal["learning", "judging"]


@dataclass(frozen=True)
class FunctionVersion:
    """A version of the agent's function.

    Attributes
    ----------
    number, parent : int, int or None
        Its number from 1, and that of the version it was made from.
    origin : {"given", "learned", "refined", "recent", "gone back"}
        What the agent began with; learned from all runs; its parent refined by new runs; learned from the
        newest runs alone; or a version of before, taken up again.
    n_runs : int
        The runs of the store that it has learned from.
    n_judged : int
        Held-out runs that it was judged on.
    error, incumbent_error : float or None
        The mean error of log ratios predicted there, and that of the version in use until then.
    took_over : bool
        Whether it was better, and is in use from then on.
    content : str
        The function as JSON.
    created_at : datetime
        When (UTC).
    """

    number: int
    parent: int | None
    origin: Origin
    n_runs: int
    n_judged: int
    error: float | None
    incumbent_error: float | None
    took_over: bool
    content: str = field(repr=False)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))


_SEALED = tuple(each.name for each in fields(FunctionVersion))


def row_of_function(version: FunctionVersion) -> dict[str, Any]:
    """Return the row of a version, sealed."""
    row = {name: getattr(version, name) for name in _SEALED}
    row["created_at"] = microseconds(version.created_at, "created_at")
    return row | {"seal": _seal(row)}


def version_of(row: Any) -> FunctionVersion:
    """Return the version of a row that is what it was."""
    content = {name: getattr(row, name) for name in _SEALED}
    if _seal(content) != row.seal or row.origin not in get_args(Origin):
        raise StoreCorruptError(
            f"version {row.number} of the agent's function is not what it was: its row has changed; "
            "all runs and other versions are readable"
        )
    content["created_at"] = EPOCH + timedelta(microseconds=row.created_at)
    return FunctionVersion(**content)


def function_problems(connection: Connection) -> list[str]:
    """Return a sentence for each version that is damaged."""
    found = []
    for row in connection.execute(select(functions).order_by(functions.c.number)):
        try:
            version_of(row)
        except StoreCorruptError as error:
            found.append(str(error))
    return found


def last_number(connection: Connection) -> int:
    """Return the number of the newest version; 0 where there is none."""
    query = select(functions.c.number).order_by(functions.c.number.desc()).limit(1)
    return connection.execute(query).scalar() or 0


def put_function(
    connection: Connection, version: FunctionVersion, use: Mapping[Use, Sequence[str]]
) -> None:
    """Put in a version, and note which runs were used for what.

    Raises
    ------
    Overtaken
        There is a version of that number already, or it is not the next one.
    """
    if version.number != last_number(connection) + 1:
        raise Overtaken
    try:
        connection.execute(insert(functions), row_of_function(version))
    except IntegrityError:  # PostgreSQL lets two come this far
        raise Overtaken from None
    for purpose, keys in use.items():
        for batch in batches(keys):
            statement = update(runs).where(runs.c.key.in_(batch)).values(used_for=purpose)
            connection.execute(statement)


def unused(connection: Connection, limit: int) -> list[str]:
    """Return the keys of the oldest runs that were done and that the agent has not used."""
    query = select(runs.c.key).where(runs.c.used_for.is_(None), runs.c.status == "done")
    ordered = query.order_by(runs.c.created_at, runs.c.key).limit(limit)
    return list(connection.execute(ordered).scalars())


def used(connection: Connection, purpose: Use, limit: int) -> list[str]:
    """Return the keys of the newest runs that the agent uses for something."""
    query = select(runs.c.key).where(runs.c.used_for == purpose, runs.c.status == "done")
    ordered = query.order_by(runs.c.created_at.desc(), runs.c.key.desc()).limit(limit)
    return list(connection.execute(ordered).scalars())


def complete(connection: Connection, packed: Packed) -> bool:
    """Put a run that was done in the place of the same run that was asked for, if that still waits."""
    (key,) = packed.runs
    waiting = delete(runs).where(runs.c.key == key, runs.c.status == "asked")
    if connection.execute(waiting).rowcount != 1:
        return False
    put(connection, packed)
    return True


def _seal(row: Mapping[str, Any]) -> str:
    content = [row[name] for name in _SEALED]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
