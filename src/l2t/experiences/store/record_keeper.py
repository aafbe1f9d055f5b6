"""Records besides runs: suggestions, rehearsals and collections."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, TypeVar

from sqlalchemy import Connection, delete, insert, select, update

from l2t.exceptions import UnknownSuggestionError
from l2t.experiences.experience import Run, canonical_json, sha256
from l2t.experiences.records import CollectionProgress, SuggestionRecord
from l2t.experiences.store import schema
from l2t.experiences.store.database import Conflict, Database
from l2t.experiences.store.reading import as_corrupt, read_run, row_by_prefix, verified_run
from l2t.experiences.store.rows import Row, pack, score_of
from l2t.experiences.store.schema import TRANSFER, ResultRow, suggestions
from l2t.experiences.store.writing import delete_rows, insert_new, put_parts, put_runs
from l2t.typing import JsonValue

RecordType = TypeVar("RecordType", SuggestionRecord, CollectionProgress)
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
        """Return a suggestion with its outcome, by its id or a prefix of the id."""
        with self._database.reading() as connection:
            return _with_outcome(connection, _suggestion_row(connection, id))

    def suggested_run(self, id: str) -> Run:
        """Return the run of a suggestion, with its pair and W, without scores."""
        with self._database.reading() as connection:
            return read_suggestion(connection, _suggestion_row(connection, id))

    def suggestions(self, *, open_only: bool = False) -> list[SuggestionRecord]:
        """Return the suggestions with their outcomes: first those without one, each time the newest first.

        Parameters
        ----------
        open_only : bool, default=False
            Whether to return only suggestions without an outcome.

        Returns
        -------
        list of SuggestionRecord
        """
        is_open = suggestions.c.run.is_(None)
        query = select(suggestions).where(is_open) if open_only else select(suggestions)
        newest = (suggestions.c.created_at.desc(), suggestions.c.id)
        self._database.verify()
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(is_open.desc(), *newest)).all()
            return [_with_outcome(connection, row) for row in rows]

    def open_suggestions(self) -> list[SuggestionRecord]:
        """Return the suggestions without an outcome; deprecated, use `suggestions`."""
        warnings.warn(
            "open_suggestions is deprecated and will be removed in 0.4; use suggestions(open_only=True)",
            FutureWarning,
            stacklevel=2,
        )
        return self.suggestions(open_only=True)

    def complete_suggestion(self, id: str, run: Run) -> bool:
        """Add the run with the outcome of a suggestion; return False if it has an outcome."""
        packed, this = pack([run]), suggestions.c.id == id

        def complete(connection: Connection) -> bool:
            query = select(suggestions.c.run).where(this).with_for_update()
            record = connection.execute(query).one_or_none()
            if record is None or record.run is not None:
                return False
            put_runs(connection, packed)
            connection.execute(update(suggestions).where(this).values(run=run.key))
            return True

        return self._database.write(complete)

    def delete_suggestion(self, id: str) -> None:
        """Delete a suggestion, and what only it refers to; the run with its outcome is kept."""
        with self._database.writing(exclusive=True) as connection:
            row = _suggestion_row(connection, id)
            delete_rows(connection, suggestions.c.id, [row.id])

    def rehearsal(self, work: Mapping[str, object]) -> JsonValue:
        """Return the stored outcome of a rehearsal; None if there is none."""
        key, table = sha256(canonical_json(work)), schema.rehearsals
        for row in self._database.rows(select(table).where(table.c.key == key)):
            with as_corrupt(f"rehearsal {key:.12}"):
                if row.work != canonical_json(work):
                    raise ValueError("its content does not match its key")
                return json.loads(row.outcome)
        return None

    def add_rehearsal(self, work: Mapping[str, object], outcome: JsonValue) -> bool:
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
        return [_record(CollectionProgress, row) for row in self._database.rows(query)]


def read_suggestion(connection: Connection, row: ResultRow) -> Run:
    """Return the run of the suggestion in a row, without scores."""
    return read_run(connection, SimpleNamespace(**row._asdict() | _UNMEASURED, key=row.id))


def _suggestion_row(connection: Connection, id: str) -> ResultRow:
    return row_by_prefix(connection, suggestions.c.id, id, UnknownSuggestionError)


def _with_outcome(connection: Connection, row: ResultRow) -> SuggestionRecord:
    """Return the suggestion in a row, with the score of the run that it became."""
    scored = () if row.run is None else verified_run(connection, row.run)[1]
    return _record(SuggestionRecord, row, outcome=score_of(scored[0]) if scored else None)


def _row(record: SuggestionRecord | CollectionProgress) -> Row:
    """Return the row of a record: its fields, with times as numbers; an outcome is stored with its run."""
    row = asdict(record)
    if isinstance(record, SuggestionRecord):
        del row["outcome"]
    return row | {n: schema.microseconds(row[n], n) for n in _TIMES if row.get(n) is not None}


def _record(kind: type[RecordType], row: ResultRow, **known: Any) -> RecordType:
    """Return the record in a row; `known` are the fields that are not columns."""
    names = {field.name for field in fields(kind)} - known.keys()
    values = known | {name: getattr(row, name) for name in names}
    with as_corrupt(f"a {kind.__name__}"):
        times = {n: schema.to_datetime(values[n]) for n in _TIMES if values.get(n) is not None}
    return kind(**values | times)
