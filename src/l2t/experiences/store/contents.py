"""Putting runs in, with the arrays and domains they need, and taking out what nothing needs any more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Table,
    and_,
    delete,
    insert,
    literal,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

from l2t.experiences.store.arrays import encode
from l2t.experiences.store.records import Record
from l2t.experiences.store.schema import arrays, domains, runs, scores

__all__ = [
    "ARRAYS_OF_DOMAINS",
    "ARRAYS_OF_RUNS",
    "batches",
    "present",
    "put_domain",
    "put_run",
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
        found.update(connection.execute(select(column).where(column.in_(batch))).scalars())
    return found


def put_domain(connection: Connection, record: Record, packed: dict[str, dict[str, Any]]) -> None:
    """Put a domain with its arrays; `packed` has rows of arrays that are already compressed."""
    _put_arrays(connection, record, packed)
    _put(connection, domains, record.row)


def put_run(connection: Connection, record: Record, packed: dict[str, dict[str, Any]]) -> bool:
    """Put a run with its arrays and scores; False where it was already there."""
    _put_arrays(connection, record, packed)
    if not _put(connection, runs, record.row):
        return False
    if record.scores:
        number = connection.execute(
            select(runs.c.id).where(runs.c.key == record.row["key"])
        ).scalar_one()
        connection.execute(insert(scores), [{"run": number, **score} for score in record.scores])
    return True


def _put_arrays(connection: Connection, record: Record, packed: dict[str, dict[str, Any]]) -> None:
    known = present(connection, arrays.c.hash, record.arrays)
    for hash in sorted(record.arrays.keys() - known):
        row = packed.get(hash) or encode(hash, record.arrays[hash])
        _put(connection, arrays, row)


def _put(connection: Connection, table: Table, row: dict[str, Any]) -> bool:
    """Insert a row unless there is one with the same key, also one that comes at the same moment."""
    dialect: Callable[[Table], Any] = (
        postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    )
    # Inline, so that no id is asked for: with RETURNING the number of rows would not be known, and
    # without the option SQLAlchemy does not keep it for inserts.
    query = dialect(table).values(row).on_conflict_do_nothing().inline()
    result = connection.execute(query, execution_options={"preserve_rowcount": True})
    return bool(result.rowcount == 1)


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
