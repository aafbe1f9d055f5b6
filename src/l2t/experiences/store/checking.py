"""Check that everything in a store can be read and has the content of its key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from sqlalchemy import Column, Connection, or_, select, text

from l2t.exceptions import StoreCorruptError
from l2t.experiences.experience import content_key
from l2t.experiences.store.arrays import decode
from l2t.experiences.store.reading import naming, read_array
from l2t.experiences.store.rows import domain_of, statistics_of
from l2t.experiences.store.schema import arrays, domains, functions, runs, suggestions
from l2t.experiences.store.writing import batches, present, unreferenced

__all__ = ["problems", "verify"]


def problems(connection: Connection) -> Iterator[str]:
    """Yield a sentence for everything that is wrong."""
    if connection.dialect.name == "sqlite":
        for (message,) in connection.execute(text("PRAGMA integrity_check(20)")):
            if message != "ok":
                yield f"SQLite finds the file damaged: {message.splitlines()[0]}"
        for table, _row, parent, _key in connection.execute(text("PRAGMA foreign_key_check")):
            yield f"a row of {table} refers to a row of {parent} that is missing"
    for key in (domains.c.fingerprint, runs.c.key, suggestions.c.id, functions.c.number):
        for batch in batches(connection.execute(select(key)).scalars()):
            for row in connection.execute(select(key.table).where(key.in_(batch))).all():
                try:
                    verify(connection, key, row)
                except StoreCorruptError as error:
                    yield f"{error}{_users(connection, row) if key.table is domains else ''}"
    for key in (arrays.c.hash, domains.c.fingerprint):
        for value in connection.execute(select(key).where(unreferenced(key))).scalars():
            yield f"{value:.12} of {key.table.name} is not used by any run or suggestion"


def verify(connection: Connection, key: Column[Any], row: Any) -> None:
    """Raise a StoreCorruptError unless a row, but for its domains, has the content of its key."""
    noun = key.table.name.removeprefix("l2t_").removesuffix("s")
    with naming(f"{noun} {row._mapping[key.name]!s:.12}"):
        if key.table is arrays:
            decode(row)
        elif key.table is domains:
            domain, shape = (
                domain_of(row, partial(read_array, connection)),
                (row.n_rows, row.n_features),
            )
            if domain.fingerprint != row.fingerprint or domain.X.shape != shape:
                raise ValueError("its content has another fingerprint")
        elif key.table is functions:
            json.loads(row.content)
        elif key.table in (runs, suggestions):
            if key.table is runs:
                _verify_work(row)
            _verify_references(connection, row)


def _verify_work(row: Any) -> None:
    work = [json.loads(getattr(row, name)) for name in ("params", "random_state", "protocol")]
    if content_key(row.source, row.target, row.algorithm, *work) != row.key:
        raise ValueError("its content has another key")
    failed, known = row.status == "failed", row.status in ("done", "failed")
    if not known or failed != bool(row.reason) or failed != (row.W is None):
        raise ValueError(f"its status is {row.status!r:.20}, its reason {row.reason!r:.80}")


def _verify_references(connection: Connection, row: Any) -> None:
    array: Any = partial(read_array, connection)
    sides = {row.source, row.target}
    if present(connection, domains.c.fingerprint, sides) != sides:
        raise ValueError("its source or target is missing")
    for hash in (row.source_features, row.target_features):
        if hash is not None:
            json.loads(array(hash).tobytes())
    if row.W is not None and array(row.W).ndim != 2:
        raise ValueError("its W is no matrix")
    statistics_of(row, array(row.statistics))


def _users(connection: Connection, domain: Any) -> str:
    using = or_(*(side == domain.fingerprint for side in (runs.c.source, runs.c.target)))
    keys = connection.execute(select(runs.c.key).where(using)).scalars()
    return f", used by {', '.join(f'run {key:.12}' for key in keys) or 'no run'}"
