"""Inserting rows with the arrays and domains they refer to, and deleting unreferenced ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import Column, ColumnElement, Connection, Table, and_, delete, literal, select
from sqlalchemy.dialects import postgresql, sqlite

from l2t.experiences.store.database import Conflict
from l2t.experiences.store.rows import Packed, Row
from l2t.experiences.store.schema import arrays, domains, metadata, runs, scores

T = TypeVar("T", int, str)
_BATCH = 500  # values of one statement
_SIDES = ("source", "target")
ARRAYS_OF_RUNS = ("W", "statistics", "source_features", "target_features")
_ARRAYS_OF_DOMAINS = ("X", "y", "labeled", "groups", "prepared")


def batches(values: Iterable[T], size: int = _BATCH) -> Iterator[Sequence[T]]:
    """Yield the sorted distinct values in batches for one statement; sorting avoids deadlocks."""
    ordered = sorted(set(values))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


def existing(connection: Connection, column: Column[str], values: Iterable[str]) -> set[str]:
    """Return the values that a column has."""
    present: set[str] = set()
    for batch in batches(values):
        present.update(connection.execute(select(column).where(column.in_(batch))).scalars())
    return present


def put_runs(connection: Connection, packed: Packed) -> set[str]:
    """Insert the new runs with their scores, domains and arrays, and return their keys."""
    new = packed.runs.keys() - existing(connection, runs.c.key, packed.runs)
    rows = [packed.runs[key] for key in sorted(new)]
    put_parts(connection, rows, packed)
    if insert_new(connection, runs, rows) < len(new):
        raise Conflict  # another writer added one of them at the same time, which PostgreSQL allows
    scored: list[Row] = []
    for batch in batches(new):
        query = select(runs.c.key, runs.c.id).where(runs.c.key.in_(batch))
        for key, number in connection.execute(query):
            scored += ({**score, "run": number} for score in packed.scores[key])
    insert_new(connection, scores, scored)
    return new


def put_parts(connection: Connection, rows: Sequence[Row], packed: Packed) -> None:
    """Insert the new domains and arrays that rows of runs or suggestions refer to."""
    sides = _values(rows, _SIDES)
    sides -= existing(connection, domains.c.fingerprint, sides)
    domain_rows = [packed.domains[side] for side in sorted(sides)]
    hashes = _values(rows, ARRAYS_OF_RUNS) | _values(domain_rows, _ARRAYS_OF_DOMAINS)
    hashes -= existing(connection, arrays.c.hash, hashes)
    insert_new(connection, arrays, [packed.arrays[hash] for hash in sorted(hashes)])
    insert_new(connection, domains, domain_rows)


def insert_new(connection: Connection, table: Table, rows: Sequence[Row]) -> int:
    """Insert rows whose keys do not exist, and return the number of inserted rows."""
    if not rows:
        return 0
    insert: Any = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    # Inline and with this option, since SQLAlchemy does not count inserted rows otherwise.
    statement = insert(table).on_conflict_do_nothing().inline()
    result = connection.execute(statement, rows, execution_options={"preserve_rowcount": True})
    return int(result.rowcount)


def delete_rows(connection: Connection, column: Column[str], keys: Iterable[str]) -> None:
    """Delete runs or suggestions by a column, and what becomes unreferenced."""
    for batch in batches(keys):
        connection.execute(delete(column.table).where(column.in_(batch)))
    delete_unreferenced(connection)


def delete_unreferenced(connection: Connection) -> None:
    """Delete unreferenced domains and arrays."""
    for key in (domains.c.fingerprint, arrays.c.hash):
        connection.execute(delete(key.table).where(unreferenced(key)))


def unreferenced(key: Column[str]) -> ColumnElement[bool]:
    """Return the condition that no column refers to a domain or an array."""
    tables = metadata.tables.values()
    columns = [column for table in tables for column in table.c if column.references(key)]
    # One subquery per column, each of which can use its index; an OR of them cannot.
    return and_(*(~select(literal(1)).where(column == key).exists() for column in columns))


def _values(rows: Iterable[Row], names: Iterable[str]) -> set[str]:
    return {row[name] for row in rows for name in names} - {None}
