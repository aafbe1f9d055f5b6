"""Copying one store into another without duplicates, in one transaction.

Rows are copied as they are after their content was checked; what is damaged in the source is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Column, Connection, delete, select, update

from l2t.exceptions import StoreCorruptError
from l2t.experiences.store.agent_records import last_number
from l2t.experiences.store.arrays import decode
from l2t.experiences.store.checking import verify, verify_domain
from l2t.experiences.store.database import Database
from l2t.experiences.store.failures import store_errors
from l2t.experiences.store.rows import Packed, Row
from l2t.experiences.store.schema import (
    arrays,
    collections,
    domains,
    functions,
    runs,
    scores,
    suggestions,
)
from l2t.experiences.store.writing import batches, insert_new, present, put_runs, unreferenced

__all__ = ["Merged", "merge"]

_BATCH = 50  # rows in memory at a time


@dataclass(frozen=True)
class Merged:
    """What a merge did: how many runs and suggestions were new, and what was damaged, in sentences."""

    runs: int
    suggestions: int
    damaged: tuple[str, ...]


def merge(target: Database, source: Database) -> Merged:
    """Copy the runs, suggestions, functions and collections that the target does not have."""
    with source.reading() as old, target.writing(alone=True) as new:
        copy = _Copy(source, old, new)
        # Two histories of one function cannot be joined: the target keeps its own, if it has one.
        adopt = last_number(new) == 0
        for rows in copy.missing(arrays.c.hash, decode):
            insert_new(new, arrays, rows)
        for rows in copy.missing(domains.c.fingerprint, lambda row: verify_domain(new, row)):
            insert_new(new, domains, rows)
        n_runs = n_suggestions = 0
        for rows in copy.missing(runs.c.key, lambda row: verify(new, row)):
            n_runs += len(put_runs(new, copy.packed(rows, adopt)))
        for rows in copy.missing(suggestions.c.id, lambda row: verify(new, row)):
            n_suggestions += insert_new(new, suggestions, [row | {"run": None} for row in rows])
        copy.outcomes()
        for key in (collections.c.id, *((functions.c.number,) if adopt else ())):
            for rows in copy.missing(key, lambda row: None):
                insert_new(new, key.table, rows)
        for key in (domains.c.fingerprint, arrays.c.hash):  # those of damaged runs
            new.execute(delete(key.table).where(unreferenced(key)))
    return Merged(n_runs, n_suggestions, tuple(copy.damaged))


@dataclass(frozen=True, eq=False)
class _Copy:
    source: Database
    old: Connection
    new: Connection
    damaged: list[str] = field(default_factory=list)

    def read(self, query: Any) -> list[Any]:
        with store_errors(self.source.address):
            return list(self.old.execute(query).all())

    def missing(self, key: Column[Any], check: Callable[[Any], Any]) -> Iterator[list[Row]]:
        """Yield batches of the sound rows of a table that the target does not have."""
        keys = {row[0] for row in self.read(select(key))}
        for batch in batches(keys - present(self.new, key, keys), _BATCH):
            sound = []
            for row in self.read(select(key.table).where(key.in_(batch))):
                try:
                    check(row)
                    sound.append(dict(row._mapping))
                except StoreCorruptError as error:
                    self.damaged.append(str(error))
            yield sound

    def packed(self, rows: list[Row], adopt: bool) -> Packed:
        """Return runs with their scores; all that they refer to was copied before."""
        packed = Packed()
        for row in rows:
            found = self.read(select(scores).where(scores.c.run == row.pop("id")))
            packed.scores[row["key"]] = [dict(score._mapping) for score in found]
            packed.runs[row["key"]] = row if adopt else row | {"used_for": None}
        return packed

    def outcomes(self) -> None:
        """Note the runs that suggestions became in the source."""
        became = select(suggestions.c.id, suggestions.c.run).where(suggestions.c.run.is_not(None))
        found = self.read(became)
        known = present(self.new, runs.c.key, (row.run for row in found))
        for row in found:
            if row.run in known:
                is_open = (suggestions.c.id == row.id) & suggestions.c.run.is_(None)
                self.new.execute(update(suggestions).where(is_open).values(run=row.run))
