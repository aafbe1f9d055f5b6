"""Is all that a store holds still what it was? Every array is hashed again, every row read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, or_, select, text

from l2t.exceptions import StoreCorruptError
from l2t.experiences.store.arrays import decode
from l2t.experiences.store.contents import (
    ARRAYS_OF_DOMAINS,
    ARRAYS_OF_RUNS,
    batches,
    unreferenced_arrays,
    unreferenced_domains,
)
from l2t.experiences.store.functions import function_problems
from l2t.experiences.store.records import domain_of, verify_run
from l2t.experiences.store.schema import arrays, domains, runs, scores

__all__ = ["problems"]

_SHOWN = 3


def problems(connection: Connection) -> Iterator[str]:
    """Yield a sentence for each thing that is wrong."""
    if connection.dialect.name == "sqlite":
        yield from _sqlite(connection)
    shapes: dict[str, tuple[int, ...]] = {}
    for hash in connection.execute(select(arrays.c.hash)).scalars().all():
        row = connection.execute(select(arrays).where(arrays.c.hash == hash)).one()
        try:
            decode(row)
            shapes[hash] = tuple(json.loads(row.shape))
        except StoreCorruptError as error:
            yield f"{error} ({_users(connection, hash)})"
    yield from _domains(connection, shapes)
    yield from _runs(connection, shapes)
    yield from function_problems(connection)
    for hash in connection.execute(select(arrays.c.hash).where(unreferenced_arrays())).scalars():
        yield f"array {hash:.12} belongs to nothing"
    query = select(domains.c.fingerprint).where(unreferenced_domains())
    for fingerprint in connection.execute(query).scalars():
        yield f"domain {fingerprint:.12} belongs to no run"


def _sqlite(connection: Connection) -> Iterator[str]:
    for (said,) in connection.execute(text("PRAGMA integrity_check(20)")):
        if said != "ok":
            yield f"SQLite finds the file damaged: {said.splitlines()[0]}"
    for table, _row, parent, _key in connection.execute(text("PRAGMA foreign_key_check")):
        yield f"a row of {table} refers to one of {parent} that is missing"


def _domains(connection: Connection, shapes: dict[str, tuple[int, ...]]) -> Iterator[str]:
    def array(hash: str) -> npt.NDArray[Any]:
        return decode(connection.execute(select(arrays).where(arrays.c.hash == hash)).one())

    for row in connection.execute(select(domains)).all():
        parts = {getattr(row, column.name) for column in ARRAYS_OF_DOMAINS} - {None}
        if parts <= shapes.keys():  # a damaged array has been told of
            try:
                domain_of(row, array)
            except StoreCorruptError as error:
                yield str(error)


def _runs(connection: Connection, shapes: dict[str, tuple[int, ...]]) -> Iterator[str]:
    def shaped(hash: str) -> npt.NDArray[Any]:
        return np.broadcast_to(np.float64(0), shapes[hash])  # the content has been checked

    numbers = connection.execute(select(runs.c.id)).scalars().all()
    for batch in batches(numbers):
        scored: dict[int, list[Any]] = {}
        for score in connection.execute(select(scores).where(scores.c.run.in_(batch))):
            scored.setdefault(score.run, []).append(score)
        for row in connection.execute(select(runs).where(runs.c.id.in_(batch))):
            parts = {getattr(row, column.name) for column in ARRAYS_OF_RUNS} - {None}
            if parts <= shapes.keys():
                try:
                    verify_run(row, scored.get(row.id, ()), shaped)
                except StoreCorruptError as error:
                    yield str(error)


def _users(connection: Connection, hash: str) -> str:
    """Tell which runs an array belongs to, directly or as a part of a domain."""
    parts = select(domains.c.fingerprint).where(or_(*(each == hash for each in ARRAYS_OF_DOMAINS)))
    query = select(runs.c.key).where(
        or_(
            *(each == hash for each in ARRAYS_OF_RUNS),
            runs.c.source.in_(parts),
            runs.c.target.in_(parts),
        )
    )
    keys = connection.execute(query).scalars().all()
    shown = ", ".join(keys[:_SHOWN])
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return f"it belongs to run {shown}{more}" if keys else "it belongs to no run"
