"""The agent's part of a store: its suggestions, the versions of its function, and used runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from types import SimpleNamespace
from typing import Any, TypeVar

from sqlalchemy import Connection, func, select, update

from l2t.exceptions import UnknownSuggestionError
from l2t.experiences.experience import Run
from l2t.experiences.records import CollectionProgress, FunctionVersion, SuggestionRecord, Use
from l2t.experiences.store.database import Conflict, Database
from l2t.experiences.store.reading import read_run
from l2t.experiences.store.rows import Row, microseconds, moment, pack
from l2t.experiences.store.schema import TRANSFER, functions, runs, suggestions
from l2t.experiences.store.writing import batches, delete_rows, insert_new, put_parts, put_runs

__all__ = ["AgentRecords", "last_number", "record_of", "row_of"]

Record = TypeVar("Record", FunctionVersion, SuggestionRecord, CollectionProgress)
_UNMEASURED = {"status": "done", "reason": "", "origin": "reported", "protocol": "{}"}
_TIMES = ("created_at", "started_at", "updated_at", "ended_at")


def row_of(record: FunctionVersion | SuggestionRecord | CollectionProgress) -> Row:
    """Return the row of a record: its fields, with times as numbers."""
    row = asdict(record)
    return row | {n: microseconds(row[n], n) for n in _TIMES if row.get(n) is not None}


def record_of(kind: type[Record], row: Any) -> Record:
    """Return the record of a row."""
    values = {each.name: getattr(row, each.name) for each in fields(kind)}
    times = {n: moment(values[n]) for n in _TIMES if values.get(n) is not None}
    return kind(**values | times)


class AgentRecords:
    """The part of a store that belongs to the agent; each method is one transaction."""

    _database: Database

    def add_suggestion(self, record: SuggestionRecord, run: Run) -> bool:
        """Add a suggestion with the run that it becomes; False if its id exists."""
        packed = pack([run])
        row = {name: packed.runs[run.key][name] for name in TRANSFER} | row_of(record)
        with suppress(Conflict), self._database.writing() as connection:
            put_parts(connection, [row], packed)
            if not insert_new(connection, suggestions, [row]):
                raise Conflict
            return True
        return False

    def suggestion(self, id: str) -> SuggestionRecord:
        """Return a suggestion by its id, or by the beginning of it."""
        with self._database.reading() as connection:
            return record_of(SuggestionRecord, _suggestion_row(connection, id))

    def suggested_run(self, id: str) -> Run:
        """Return the run that a suggestion becomes, with its pair and W, without scores."""
        with self._database.reading() as connection:
            row = _suggestion_row(connection, id)
            return read_run(connection, SimpleNamespace(**row._asdict() | _UNMEASURED, key=row.id))

    def open_suggestions(self) -> list[SuggestionRecord]:
        """Return the suggestions whose outcome is open, the newest first."""
        query = select(suggestions).where(suggestions.c.run.is_(None))
        query = query.order_by(suggestions.c.created_at.desc(), suggestions.c.id)
        return self._records(SuggestionRecord, query)

    def complete_suggestion(self, id: str, run: Run) -> bool:
        """Add the run that a suggestion became; False, without a change, if it became one before."""
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
        """Delete a suggestion and what only it refers to; the run it became stays."""
        found = self.suggestion(id)
        with self._database.writing(alone=True) as connection:
            delete_rows(connection, suggestions.c.id, [found.id])

    def add_function(
        self, version: FunctionVersion, use: Mapping[Use, Sequence[str]] | None = None
    ) -> bool:
        """Add the next version of the agent's function and mark the runs it used; False if it exists."""
        with self._database.writing() as connection:
            is_next = version.number == last_number(connection) + 1
            if not is_next or not insert_new(connection, functions, [row_of(version)]):
                return False
            for purpose, keys in (use or {}).items():
                for batch in batches(keys):
                    used = update(runs).where(runs.c.key.in_(batch)).values(used_for=purpose)
                    connection.execute(used)
        return True

    def function(self, number: int | None = None) -> FunctionVersion | None:
        """Return a version of the agent's function, by default the one in use; None without it."""
        chosen = functions.c.took_over if number is None else functions.c.number == number
        query = select(functions).where(chosen).order_by(functions.c.number.desc()).limit(1)
        return next(iter(self._records(FunctionVersion, query)), None)

    def newest_function(self) -> FunctionVersion | None:
        """Return the newest version, in use or not; None where there is none."""
        with self._database.reading() as connection:
            newest = last_number(connection)
        return self.function(newest)

    def functions(self) -> list[FunctionVersion]:
        """Return all versions of the agent's function, the oldest first."""
        return self._records(FunctionVersion, select(functions).order_by(functions.c.number))

    def unused_runs(self, limit: int) -> list[str]:
        """Return the keys of the oldest finished runs that the agent has not used."""
        query = select(runs.c.key).where(runs.c.used_for.is_(None), runs.c.status == "done")
        query = query.order_by(runs.c.created_at, runs.c.key).limit(limit)
        return [key for (key,) in self._database.rows(query)]

    def used_runs(self, purpose: Use, limit: int) -> list[str]:
        """Return the keys of the newest runs that the agent learns from, or validates on."""
        query = select(runs.c.key).where(runs.c.used_for == purpose, runs.c.status == "done")
        query = query.order_by(runs.c.created_at.desc(), runs.c.key.desc()).limit(limit)
        return [key for (key,) in self._database.rows(query)]

    def _records(self, kind: type[Record], query: Any) -> list[Record]:
        return [record_of(kind, row) for row in self._database.rows(query)]


def last_number(connection: Connection) -> int:
    """Return the number of the newest version of the agent's function; 0 where there is none."""
    return connection.execute(select(func.max(functions.c.number))).scalar() or 0


def _suggestion_row(connection: Connection, id: str) -> Any:
    query = select(suggestions).where(suggestions.c.id.startswith(id)).limit(2)
    found = connection.execute(query).all() if re.fullmatch("[0-9a-f]+", id) else []
    if len(found) != 1:
        number = "several suggestions have" if found else "no suggestion has"
        raise UnknownSuggestionError(f"{number} an id that begins with {id!r:.80}")
    return found[0]
