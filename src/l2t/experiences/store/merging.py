"""Verification of a store, and copying it into another without duplicates and damaged parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Column, Connection, select, text, update

from l2t.exceptions import StoreCorruptError
from l2t.experiences.experience import sha256
from l2t.experiences.records import Merged
from l2t.experiences.store import schema, writing
from l2t.experiences.store.database import Database, store_errors
from l2t.experiences.store.reading import as_corrupt, read_array, scores_of
from l2t.experiences.store.record_keeper import read_suggestion
from l2t.experiences.store.rows import Packed, Row, decode, domain_of, verify_content
from l2t.experiences.store.schema import ResultRow, arrays, domains, runs, suggestions
from l2t.experiences.store.writing import ARRAYS_OF_RUNS, batches, existing, unreferenced

if TYPE_CHECKING:
    from sqlalchemy import Executable


def find_problems(connection: Connection) -> Iterator[str]:
    """Yield a sentence for each problem of a store."""
    if connection.dialect.name == "sqlite":
        for (message,) in connection.execute(text("PRAGMA integrity_check(20)")):
            if message != "ok":
                yield f"SQLite reports a damaged file: {message.splitlines()[0]}"
        for table, _row, parent, _key in connection.execute(text("PRAGMA foreign_key_check")):
            yield f"a row of {table} refers to a row of {parent} that is missing"
    for key in (domains.c.fingerprint, runs.c.key, suggestions.c.id, schema.rehearsals.c.key):
        for batch in batches(connection.execute(select(key)).scalars()):
            for row in connection.execute(select(key.table).where(key.in_(batch))).all():
                scored = connection.execute(scores_of(row.id)).all() if key.table is runs else ()
                try:
                    _verify(connection, key, row, scored)
                except StoreCorruptError as error:
                    yield f"{error}{_runs_using(connection, row) if key.table is domains else ''}"
    for key in (arrays.c.hash, domains.c.fingerprint):
        for value in connection.execute(select(key).where(unreferenced(key))).scalars():
            yield f"{value:.12} of {key.table.name} is not used by any run or suggestion"


def _verify(
    connection: Connection, key: Column[str], row: ResultRow, scored: Sequence[ResultRow] = ()
) -> None:
    """Raise a StoreCorruptError if the content of a row, or the scores of a run, do not match its key."""
    noun = key.table.name.removeprefix("l2t_").removesuffix("s")
    with as_corrupt(f"{noun} {row._mapping[key.name]!s:.12}"):
        if key.table is arrays:
            decode(row)
        elif key.table is domains:
            domain_of(row, partial(read_array, connection))
        elif key.table is schema.rehearsals:
            json.loads(row.outcome)
            if sha256(row.work) != row.key:
                raise ValueError("its content does not match its key")
        elif key.table is suggestions:
            read_suggestion(connection, row)
        elif key.table is runs:
            verify_content(row, scored)
            sides = {row.source, row.target}
            if existing(connection, domains.c.fingerprint, sides) != sides:
                raise ValueError("its source or target is missing")
            for name in ARRAYS_OF_RUNS:
                read_array(connection, getattr(row, name))


def _runs_using(connection: Connection, domain: ResultRow) -> str:
    using = (runs.c.source == domain.fingerprint) | (runs.c.target == domain.fingerprint)
    keys = connection.execute(select(runs.c.key).where(using)).scalars()
    return f", used by {', '.join(f'run {key:.12}' for key in keys) or 'no run'}"


def merge(target: Database, source: Database) -> Merged:
    """Copy the runs, suggestions, rehearsals and collections that the target does not have."""
    with source.reading() as old, target.writing(exclusive=True) as new:
        copy = _Copy(source, old, new)
        for key in (arrays.c.hash, domains.c.fingerprint):
            copy.table(key)
        packed_runs = map(copy.packed, copy.missing(runs.c.key))
        n_runs = sum(len(writing.put_runs(new, packed)) for packed in packed_runs)
        n_suggestions = copy.table(suggestions.c.id, run=None)
        copy.outcomes()
        copy.table(schema.collections.c.id)
        copy.table(schema.rehearsals.c.key)
        writing.delete_unreferenced(new)  # copied parts of damaged runs
    return Merged(n_runs, n_suggestions, tuple(copy.damaged))


@dataclass(frozen=True, eq=False)
class _Copy:
    source: Database
    old: Connection
    new: Connection
    damaged: list[str] = field(default_factory=list)

    def read(self, query: Executable) -> list[ResultRow]:
        with store_errors(self.source.address):
            return list(self.old.execute(query).all())

    def missing(self, key: Column[str]) -> Iterator[list[Row]]:
        """Yield batches of the undamaged rows of a table that the target does not have."""
        keys = {row[0] for row in self.read(select(key))}
        for batch in batches(keys - existing(self.new, key, keys), size=50):
            valid = []
            for row in self.read(select(key.table).where(key.in_(batch))):
                scored = self.read(scores_of(row.id)) if key.table is runs else []
                try:
                    _verify(self.new, key, row, scored)  # the rows it refers to were copied before
                    valid.append(dict(row._mapping))
                except StoreCorruptError as error:
                    self.damaged.append(str(error))
            yield valid

    def table(self, key: Column[str], **changes: object) -> int:
        """Copy the rows of a table with some values changed, and return the number of new rows."""
        copied = ([row | changes for row in rows] for rows in self.missing(key))
        return sum(writing.insert_new(self.new, key.table, rows) for rows in copied)

    def packed(self, rows: list[Row]) -> Packed:
        """Return runs with their scores; their domains and arrays were copied before."""
        packed = Packed()
        for row in rows:
            scored = self.read(scores_of(row.pop("id")))
            packed.scores[row["key"]] = [dict(score._mapping) for score in scored]
            packed.runs[row["key"]] = row
        return packed

    def outcomes(self) -> None:
        """Copy the outcomes of suggestions that are open in the target."""
        query = select(suggestions.c.id, suggestions.c.run).where(suggestions.c.run.is_not(None))
        for row in self.read(query):
            if existing(self.new, runs.c.key, [row.run]):
                is_open = (suggestions.c.id == row.id) & suggestions.c.run.is_(None)
                self.new.execute(update(suggestions).where(is_open).values(run=row.run))
