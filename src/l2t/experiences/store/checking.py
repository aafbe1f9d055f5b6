"""Check that everything in a store can be read and has the content of its hash."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Connection, select, text

from l2t.exceptions import L2TError, StoreCorruptError
from l2t.experiences.experience import content_key
from l2t.experiences.store.reading import array_reader
from l2t.experiences.store.rows import domain_of, statistics_of
from l2t.experiences.store.schema import arrays, domains, functions, runs, suggestions
from l2t.experiences.store.writing import batches, present, unreferenced

__all__ = ["problems", "verify", "verify_domain"]


def problems(connection: Connection) -> Iterator[str]:
    """Yield a sentence for everything that is wrong."""
    if connection.dialect.name == "sqlite":
        for (message,) in connection.execute(text("PRAGMA integrity_check(20)")):
            if message != "ok":
                yield f"SQLite finds the file damaged: {message.splitlines()[0]}"
        for table, _row, parent, _key in connection.execute(text("PRAGMA foreign_key_check")):
            yield f"a row of {table} refers to a row of {parent} that is missing"
    damaged: set[str] = set()
    for row in connection.execute(select(domains)).all():
        try:
            verify_domain(connection, row)
        except StoreCorruptError as error:
            damaged.add(row.fingerprint)
            yield str(error)
    for key in (runs.c.key, suggestions.c.id):
        for batch in batches(connection.execute(select(key)).scalars()):
            for row in connection.execute(select(key.table).where(key.in_(batch))).all():
                try:
                    verify(connection, row, damaged)
                except StoreCorruptError as error:
                    yield str(error)
    for number, content in connection.execute(select(functions.c.number, functions.c.content)):
        try:
            json.loads(content)
        except ValueError as error:
            yield f"version {number} of the agent's function is damaged: {error}"
    for key in (arrays.c.hash, domains.c.fingerprint):
        for value in connection.execute(select(key).where(unreferenced(key))).scalars():
            yield f"{value:.12} of {key.table.name} is not used by any run or suggestion"


def verify_domain(connection: Connection, row: Any) -> None:
    """Raise a StoreCorruptError unless a domain can be read and has its fingerprint."""
    domain = domain_of(row, array_reader(connection))
    shape = (row.n_rows, row.n_features)
    if domain.fingerprint != row.fingerprint or domain.X.shape != shape:
        raise StoreCorruptError(
            f"domain {row.fingerprint:.12} is damaged: its content has another fingerprint"
        )


def verify(connection: Connection, row: Any, damaged: Collection[str] = ()) -> None:
    """Raise a StoreCorruptError unless a run or suggestion, whose domains were verified, is sound."""
    is_run = hasattr(row, "key")
    try:
        if is_run:
            _verify_work(row)
        sides = {row.source, row.target}
        lost = sides - present(connection, domains.c.fingerprint, sides) | sides.intersection(
            damaged
        )
        if lost:
            raise ValueError(f"its domain {lost.pop():.12} is missing or damaged")
        array = array_reader(connection)
        for hash in (row.source_features, row.target_features):
            if hash is not None:
                json.loads(array(hash).tobytes())
        if row.W is not None and array(row.W).ndim != 2:
            raise ValueError("its W is no matrix")
        if row.statistics is not None:
            statistics_of(row, array(row.statistics))
    except (ValueError, TypeError, L2TError) as error:
        name = f"run {row.key:.12}" if is_run else f"suggestion {row.id}"
        raise StoreCorruptError(f"{name} is damaged: {error}") from None


def _verify_work(row: Any) -> None:
    work = [json.loads(getattr(row, name)) for name in ("params", "random_state", "protocol")]
    if content_key(row.source, row.target, row.algorithm, *work) != row.key:
        raise ValueError("its content has another key")
    failed = row.status == "failed"
    known = row.status in ("done", "failed")
    if not known or failed != bool(row.reason) or failed != (row.W is None):
        raise ValueError(f"its status is {row.status!r:.20} and its reason {row.reason!r:.80}")
