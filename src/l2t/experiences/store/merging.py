"""Copying one store into another without duplicates; what is damaged in the source is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Column, Connection, select, update

from l2t.exceptions import StoreCorruptError
from l2t.experiences.records import Merged
from l2t.experiences.store import schema, writing
from l2t.experiences.store.agent_records import last_number
from l2t.experiences.store.checking import verify
from l2t.experiences.store.database import Database, store_errors
from l2t.experiences.store.rows import Packed, Row
from l2t.experiences.store.schema import arrays, domains, functions, runs, suggestions

__all__ = ["merge"]


def merge(target: Database, source: Database) -> Merged:
    """Copy the runs, suggestions, functions and collections that the target does not have."""
    with source.reading() as old, target.writing(alone=True) as new:
        copy = _Copy(source, old, new)
        # Two histories of one function cannot be joined: the target keeps its own, if it has one.
        adopt = last_number(new) == 0
        for key in (arrays.c.hash, domains.c.fingerprint):
            copy.table(key)
        n_runs = 0
        for rows in copy.missing(runs.c.key):
            n_runs += len(writing.put_runs(new, copy.packed(rows, adopt)))
        n_suggestions = copy.table(suggestions.c.id, run=None)
        copy.outcomes()
        copy.table(schema.collections.c.id)
        if adopt:
            copy.table(functions.c.number)
        writing.delete_unreferenced(new)  # what only damaged runs refer to
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

    def missing(self, key: Column[Any]) -> Iterator[list[Row]]:
        """Yield batches of the sound rows of a table that the target does not have."""
        keys = {row[0] for row in self.read(select(key))}
        for batch in writing.batches(keys - writing.present(self.new, key, keys), size=50):
            sound = []
            for row in self.read(select(key.table).where(key.in_(batch))):
                try:
                    verify(self.new, key, row)  # what it refers to was copied before
                    sound.append(dict(row._mapping))
                except StoreCorruptError as error:
                    self.damaged.append(str(error))
            yield sound

    def table(self, key: Column[Any], **changes: Any) -> int:
        """Copy the rows of a table, and return how many were new."""
        copied = ([row | changes for row in rows] for rows in self.missing(key))
        return sum(writing.insert_new(self.new, key.table, rows) for rows in copied)

    def packed(self, rows: list[Row], adopt: bool) -> Packed:
        """Return runs with their scores; all else that they refer to was copied before."""
        packed, scores = Packed(), schema.scores
        for row in rows:
            found = self.read(select(scores).where(scores.c.run == row.pop("id")))
            packed.scores[row["key"]] = [dict(score._mapping) for score in found]
            packed.runs[row["key"]] = row if adopt else row | {"used_for": None}
        return packed

    def outcomes(self) -> None:
        """Note the runs that suggestions became in the source."""
        became = select(suggestions.c.id, suggestions.c.run).where(suggestions.c.run.is_not(None))
        for row in self.read(became):
            if writing.present(self.new, runs.c.key, [row.run]):
                is_open = (suggestions.c.id == row.id) & suggestions.c.run.is_(None)
                self.new.execute(update(suggestions).where(is_open).values(run=row.run))
