"""Records besides runs: suggestions, versions of the agent's function, rehearsals and collections."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, TypeVar

from sqlalchemy import Connection, delete, func, insert, select, update

from l2t.exceptions import UnknownSuggestionError
from l2t.experiences.experience import Run, canonical_json, sha256
from l2t.experiences.records import CollectionProgress, FunctionVersion, SuggestionRecord, Use
from l2t.experiences.store import schema
from l2t.experiences.store.database import Conflict, Database
from l2t.experiences.store.reading import as_corrupt, read_run, row_by_prefix
from l2t.experiences.store.rows import Row, pack
from l2t.experiences.store.schema import TRANSFER, functions, runs, suggestions
from l2t.experiences.store.writing import batches, delete_rows, insert_new, put_parts, put_runs

Record = TypeVar("Record", FunctionVersion, SuggestionRecord, CollectionProgress)
_UNMEASURED = {"status": "done", "reason": "", "origin": "reported", "protocol": "{}"}
_TIMES = ("created_at", "started_at", "updated_at", "ended_at")


class RecordKeeper:
    """The part of a store that keeps records; each method is one transaction."""

    _database: Database

    def add_suggestion(self, record: SuggestionRecord, run: Run) -> bool:
        """Add a suggestion and its run without an outcome; return False if its id exists."""
        packed = pack([run])
        row = {name: packed.runs[run.key][name] for name in TRANSFER} | _row(record)
        with suppress(Conflict), self._database.writing() as connection:
            put_parts(connection, [row], packed)
            if not insert_new(connection, suggestions, [row]):
                raise Conflict
            return True
        return False

    def suggestion(self, id: str) -> SuggestionRecord:
        """Return a suggestion by its id or a prefix of the id."""
        with self._database.reading() as connection:
            row = row_by_prefix(connection, suggestions.c.id, id, UnknownSuggestionError)
            return _record(SuggestionRecord, row)

    def suggested_run(self, id: str) -> Run:
        """Return the run of a suggestion, with its pair and W, without scores."""
        with self._database.reading() as connection:
            row = row_by_prefix(connection, suggestions.c.id, id, UnknownSuggestionError)
            return read_suggestion(connection, row)

    def open_suggestions(self) -> list[SuggestionRecord]:
        """Return the suggestions without an outcome, newest first."""
        query = select(suggestions).where(suggestions.c.run.is_(None))
        query = query.order_by(suggestions.c.created_at.desc(), suggestions.c.id)
        return self._records(SuggestionRecord, query)

    def complete_suggestion(self, id: str, run: Run) -> bool:
        """Add the run with the outcome of a suggestion; return False if it has an outcome."""
        packed, this = pack([run]), suggestions.c.id == id

        def complete(connection: Connection) -> bool:
            query = select(suggestions.c.run).where(this).with_for_update()
            found = connection.execute(query).one_or_none()
            if found is None or found.run is not None:
                return False
            put_runs(connection, packed)
            connection.execute(update(suggestions).where(this).values(run=run.key))
            return True

        return self._database.write(complete)

    def delete_suggestion(self, id: str) -> None:
        """Delete a suggestion, and what only it refers to; the run with its outcome is kept."""
        found = self.suggestion(id)
        with self._database.writing(exclusive=True) as connection:
            delete_rows(connection, suggestions.c.id, [found.id])

    def add_function(
        self, version: FunctionVersion, use: Mapping[Use, Sequence[str]] | None = None
    ) -> bool:
        """Add the next version of the agent's function and mark its runs; return False if it exists."""
        with self._database.writing() as connection:
            is_next = version.number == last_number(connection) + 1
            if not is_next or not insert_new(connection, functions, [_row(version)]):
                return False
            for purpose, keys in (use or {}).items():
                for batch in batches(keys):
                    used = update(runs).where(runs.c.key.in_(batch)).values(used_for=purpose)
                    connection.execute(used)
        return True

    def function(self, number: int | None = None) -> FunctionVersion | None:
        """Return a version of the agent's function, by default the one in use; None if there is none."""
        chosen = functions.c.took_over if number is None else functions.c.number == number
        query = select(functions).where(chosen).order_by(functions.c.number.desc()).limit(1)
        return next(iter(self._records(FunctionVersion, query)), None)

    def functions(self) -> list[FunctionVersion]:
        """Return all versions of the agent's function, oldest first."""
        return self._records(FunctionVersion, select(functions).order_by(functions.c.number))

    def unused_runs(self, limit: int) -> list[str]:
        """Return the keys of the oldest completed runs that the agent has not used."""
        return self._runs(runs.c.used_for.is_(None), limit, runs.c.created_at, runs.c.key)

    def used_runs(self, purpose: Use, limit: int) -> list[str]:
        """Return the keys of the newest runs that the agent learned from, or validated on."""
        newest = (runs.c.created_at.desc(), runs.c.key.desc())
        return self._runs(runs.c.used_for == purpose, limit, *newest)

    def _runs(self, where: Any, limit: int, *order: Any) -> list[str]:
        query = select(runs.c.key).where(where, runs.c.status == "done").order_by(*order)
        return [key for (key,) in self._database.rows(query.limit(limit))]

    def rehearsal(self, work: Mapping[str, Any]) -> Any:
        """Return the stored outcome of a rehearsal; None if there is none."""
        key, table = sha256(canonical_json(work)), schema.rehearsals
        for row in self._database.rows(select(table).where(table.c.key == key)):
            with as_corrupt(f"rehearsal {key:.12}"):
                if row.work != canonical_json(work):
                    raise ValueError("its content does not match its key")
                return json.loads(row.outcome)
        return None

    def add_rehearsal(self, work: Mapping[str, Any], outcome: Any) -> bool:
        """Store the outcome of a rehearsal as JSON; return False if there is one."""
        text, now = canonical_json(work), schema.microseconds(datetime.now(UTC), "created_at")
        done = canonical_json(outcome)
        row: Row = {"key": sha256(text), "work": text, "outcome": done, "created_at": now}
        return bool(self._database.write(lambda at: insert_new(at, schema.rehearsals, [row])))

    def note_collection(self, progress: CollectionProgress) -> None:
        """Store the progress of a collection, replacing its earlier report."""
        table = schema.collections
        old, new = delete(table).where(table.c.id == progress.id), insert(table)
        row = _row(progress)
        self._database.write(lambda at: (at.execute(old), at.execute(new.values(row))))

    def collections(self, *, limit: int = 20) -> list[CollectionProgress]:
        """Return the latest collections, newest first."""
        newest = schema.collections.c.started_at.desc()
        query = select(schema.collections).order_by(newest).limit(limit)
        return self._records(CollectionProgress, query)

    def _records(self, kind: type[Record], query: Any) -> list[Record]:
        return [_record(kind, row) for row in self._database.rows(query)]


def read_suggestion(connection: Connection, row: Any) -> Run:
    """Return the run of the suggestion in a row, without scores."""
    return read_run(connection, SimpleNamespace(**row._asdict() | _UNMEASURED, key=row.id))


def last_number(connection: Connection) -> int:
    """Return the number of the newest version of the agent's function; 0 if there is none."""
    return connection.execute(select(func.max(functions.c.number))).scalar() or 0


def _row(record: FunctionVersion | SuggestionRecord | CollectionProgress) -> Row:
    """Return the row of a record: its fields, with times as numbers."""
    row = asdict(record)
    return row | {n: schema.microseconds(row[n], n) for n in _TIMES if row.get(n) is not None}


def _record(kind: type[Record], row: Any) -> Record:
    values = {each.name: getattr(row, each.name) for each in fields(kind)}
    with as_corrupt(f"a {kind.__name__}"):
        times = {n: schema.to_datetime(values[n]) for n in _TIMES if values.get(n) is not None}
    return kind(**values | times)
