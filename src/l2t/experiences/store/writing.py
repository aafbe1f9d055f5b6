"""Adding rows with the arrays and domains they refer to, and deleting what nothing refers to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Column, ColumnElement, Connection, Table, and_, delete, literal, select
from sqlalchemy.dialects import postgresql, sqlite

from l2t.experiences.store.database import Conflict
from l2t.experiences.store.rows import Packed, Row
from l2t.experiences.store.schema import arrays, domains, runs, scores, suggestions

__all__ = [
    "ARRAYS_OF_DOMAINS",
    "ARRAYS_OF_RUNS",
    "batches",
    "delete_rows",
    "insert_new",
    "present",
    "put_references",
    "put_runs",
    "unreferenced",
]

T = TypeVar("T", int, str)
_BATCH = 500  # values of one statement
_SIDES = ("source", "target")
ARRAYS_OF_RUNS = ("W", "statistics", "source_features", "target_features")
ARRAYS_OF_DOMAINS = ("X", "y", "labeled", "groups")
_TRANSFERS = (runs, suggestions)
#: The columns that refer to a domain, and to an array.
_TO_DOMAINS = [table.c[name] for table in _TRANSFERS for name in _SIDES]
_TO_ARRAYS = [table.c[name] for table in _TRANSFERS for name in ARRAYS_OF_RUNS]
_TO_ARRAYS += [domains.c[name] for name in ARRAYS_OF_DOMAINS]


def batches(values: Iterable[T], size: int = _BATCH) -> Iterator[Sequence[T]]:
    """Split distinct values into as many as one statement takes; sorted, to avoid deadlocks."""
    ordered = sorted(set(values))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


def present(connection: Connection, column: Column[Any], values: Iterable[str]) -> set[str]:
    """Return those of some values that a column has."""
    found: set[str] = set()
    for batch in batches(values):
        found.update(connection.execute(select(column).where(column.in_(batch))).scalars())
    return found


def put_runs(connection: Connection, packed: Packed) -> set[str]:
    """Add the runs that are new with all that they refer to, and return their keys.

    Raises
    ------
    Conflict
        Another writer added one of them at the same time, which PostgreSQL allows.
    """
    new = packed.runs.keys() - present(connection, runs.c.key, packed.runs)
    rows = [packed.runs[key] for key in sorted(new)]
    put_references(connection, rows, packed)
    if insert_new(connection, runs, rows) < len(new):
        raise Conflict
    scored: list[Row] = []
    for batch in batches(new):
        for key, number in connection.execute(
            select(runs.c.key, runs.c.id).where(runs.c.key.in_(batch))
        ):
            scored += ({**score, "run": number} for score in packed.scores[key])
    insert_new(connection, scores, scored)
    return new


def put_references(connection: Connection, rows: Iterable[Row], packed: Packed) -> None:
    """Add the domains and arrays that runs or suggestions refer to and the store does not have."""
    rows = list(rows)
    sides = _values(rows, _SIDES)
    sides -= present(connection, domains.c.fingerprint, sides)
    domain_rows = [packed.domains[side] for side in sorted(sides)]
    hashes = _values(rows, ARRAYS_OF_RUNS) | _values(domain_rows, ARRAYS_OF_DOMAINS)
    hashes -= present(connection, arrays.c.hash, hashes)
    insert_new(connection, arrays, [packed.arrays[hash] for hash in sorted(hashes)])
    insert_new(connection, domains, domain_rows)


def insert_new(connection: Connection, table: Table, rows: Sequence[Row]) -> int:
    """Insert rows unless there are such with the same keys, and return how many were inserted."""
    if not rows:
        return 0
    insert: Any = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    # Inline and with this option, since SQLAlchemy does not count inserted rows otherwise.
    statement = insert(table).on_conflict_do_nothing().inline()
    result = connection.execute(statement, rows, execution_options={"preserve_rowcount": True})
    return int(result.rowcount)


def delete_rows(connection: Connection, column: Column[Any], keys: Collection[str]) -> None:
    """Delete runs or suggestions by a column, then the domains and arrays that only they used."""
    sides: set[str] = set()
    hashes: set[str] = set()
    for batch in batches(keys):
        rows = _mappings(connection, column.table, column.in_(batch))
        sides |= _values(rows, _SIDES)
        hashes |= _values(rows, ARRAYS_OF_RUNS)
        connection.execute(delete(column.table).where(column.in_(batch)))
    for batch in batches(sides):
        unused = domains.c.fingerprint.in_(batch) & unreferenced(domains.c.fingerprint)
        hashes |= _values(_mappings(connection, domains, unused), ARRAYS_OF_DOMAINS)
        connection.execute(delete(domains).where(unused))
    for batch in batches(hashes):
        unused = arrays.c.hash.in_(batch) & unreferenced(arrays.c.hash)
        connection.execute(delete(arrays).where(unused))


def unreferenced(key: Column[Any]) -> ColumnElement[bool]:
    """Return the condition that nothing refers to a domain or to an array."""
    columns = _TO_DOMAINS if key.table is domains else _TO_ARRAYS
    # One subquery per column, each answered by its index; an OR of them is not.
    return and_(*(~select(literal(1)).where(each == key).exists() for each in columns))


def _mappings(connection: Connection, table: Any, where: Any) -> Sequence[Mapping[Any, Any]]:
    return connection.execute(select(table).where(where)).mappings().all()


def _values(rows: Iterable[Mapping[Any, Any]], names: Iterable[str]) -> set[str]:
    return {row[name] for row in rows for name in names} - {None}
