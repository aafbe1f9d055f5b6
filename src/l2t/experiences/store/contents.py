"""Putting runs in, with the arrays and domains they need, and taking out what nothing needs any more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    literal,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

from l2t.experiences.store.packing import Packed
from l2t.experiences.store.schema import arrays, domains, runs, scores

__all__ = [
    "ARRAYS_OF_DOMAINS",
    "ARRAYS_OF_RUNS",
    "Overtaken",
    "batches",
    "present",
    "put",
    "remove_runs",
    "unreferenced_arrays",
    "unreferenced_domains",
]

T = TypeVar("T", int, str)
_BATCH = 500
ARRAYS_OF_RUNS = (runs.c.W, runs.c.statistics, runs.c.source_features, runs.c.target_features)
ARRAYS_OF_DOMAINS = (domains.c.X, domains.c.y, domains.c.labeled, domains.c.groups)


def batches(values: Iterable[T], size: int = _BATCH) -> Iterator[Sequence[T]]:
    """Split values into as many as one statement takes; sorted, so that writers never deadlock."""
    ordered = sorted(set(values))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


def present(connection: Connection, column: Column[Any], values: Iterable[str]) -> set[str]:
    """Return those values that a column already has."""
    found: set[str] = set()
    for batch in batches(values):
        found.update(connection.execute(_among(column), {"values": batch}).scalars())
    return found


class Overtaken(Exception):
    """Another writer put in the same run at the same moment; nothing of the transaction may stay."""


def put(connection: Connection, packed: Packed) -> set[str]:
    """Put in those runs that are not there yet, with what they need, and return their keys.

    Raises
    ------
    Overtaken
        Another writer was putting in one of them at the same moment, which PostgreSQL allows.
    """
    new = packed.runs.keys() - present(connection, runs.c.key, packed.runs)
    run_rows = [packed.runs[key] for key in sorted(new)]
    sides = {row[name] for row in run_rows for name in ("source", "target")}
    sides -= present(connection, domains.c.fingerprint, sides)
    domain_rows = [packed.domains[side] for side in sorted(sides)]
    hashes = _hashes(run_rows, ARRAYS_OF_RUNS) | _hashes(domain_rows, ARRAYS_OF_DOMAINS)
    hashes -= present(connection, arrays.c.hash, hashes)
    # Sorted, as in `batches`.
    _insert(connection, arrays, [packed.arrays[hash] for hash in sorted(hashes)])
    _insert(connection, domains, domain_rows)
    if _insert(connection, runs, run_rows) < len(new):
        raise Overtaken
    scored: list[dict[str, Any]] = []
    for batch in batches(new):
        for key, number in connection.execute(_NUMBERS, {"keys": batch}):
            scored += ({"run": number, **score} for score in packed.scores[key])
    _insert(connection, scores, scored)
    return new


def _hashes(rows: Iterable[Mapping[str, Any]], columns: Iterable[Column[Any]]) -> set[str]:
    return {row[column.name] for row in rows for column in columns} - {None}


def _insert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
    """Insert rows unless there are such with the same keys, and return how many were inserted."""
    if not rows:
        return 0
    # Without the option SQLAlchemy does not keep the number of rows for inserts.
    result = connection.execute(
        _into(table, connection.dialect.name), rows, execution_options={"preserve_rowcount": True}
    )
    return int(result.rowcount)


# Statements are made once: SQLAlchemy takes longer to build one than SQLite to answer it.


@cache
def _among(column: Column[Any]) -> Select[Any]:
    return select(column).where(column.in_(bindparam("values", expanding=True)))


@cache
def _into(table: Table, dialect: str) -> Any:
    insert = postgresql.insert if dialect == "postgresql" else sqlite.insert
    # Inline, so that no id is asked for: with RETURNING the number of rows would not be known.
    return insert(table).on_conflict_do_nothing().inline()


_NUMBERS = select(runs.c.key, runs.c.id).where(runs.c.key.in_(bindparam("keys", expanding=True)))


def remove_runs(connection: Connection, keys: Collection[str]) -> None:
    """Delete runs, then the domains and arrays that only they referred to."""
    suspects: set[str] = set()
    sides: set[str] = set()
    for batch in batches(keys):
        chosen = runs.c.key.in_(batch)
        sides |= _values(connection, (runs.c.source, runs.c.target), chosen)
        suspects |= _values(connection, ARRAYS_OF_RUNS, chosen)
        connection.execute(delete(runs).where(chosen))
    for batch in batches(sides):
        unused = domains.c.fingerprint.in_(batch) & unreferenced_domains()
        suspects |= _values(connection, ARRAYS_OF_DOMAINS, unused)
        connection.execute(delete(domains).where(unused))
    for batch in batches(suspects):
        connection.execute(delete(arrays).where(arrays.c.hash.in_(batch) & unreferenced_arrays()))


def unreferenced_arrays() -> ColumnElement[bool]:
    """Return the condition that nothing refers to an array."""
    columns = (*ARRAYS_OF_RUNS, *ARRAYS_OF_DOMAINS)
    return and_(*(~_some(column, arrays.c.hash) for column in columns))


def unreferenced_domains() -> ColumnElement[bool]:
    """Return the condition that no run refers to a domain."""
    columns = (runs.c.source, runs.c.target)
    return and_(*(~_some(column, domains.c.fingerprint) for column in columns))


def _some(column: Column[Any], value: Column[Any]) -> ColumnElement[bool]:
    # One question a column, each answered by its index; an OR of them is not.
    return select(literal(1)).where(column == value).exists()


def _values(connection: Connection, columns: Sequence[Column[Any]], where: Any) -> set[str]:
    rows = connection.execute(select(*columns).where(where))
    return {value for row in rows for value in row if value is not None}
