"""Rehearsals in a store: what candidates did on known classes, in a table apart from the runs.

`collect`, `learn` and everything else that reads runs never meets one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select

from l2t.experiences.store.database import Database
from l2t.experiences.store.reading import naming
from l2t.experiences.store.rows import Row, microseconds
from l2t.experiences.store.schema import rehearsals
from l2t.experiences.store.writing import insert_new

__all__ = ["RehearsalRecords", "verify_rehearsal"]


class RehearsalRecords:
    """The part of a store that keeps rehearsals by their work; each method is one transaction."""

    _database: Database

    def rehearsal(self, work: Mapping[str, Any]) -> Any:
        """Return the outcome of a rehearsal; None where it is not known."""
        key = _key(_text(work))
        for row in self._database.rows(select(rehearsals).where(rehearsals.c.key == key)):
            with naming(f"rehearsal {key:.12}"):
                return json.loads(row.outcome)
        return None

    def add_rehearsal(self, work: Mapping[str, Any], outcome: Any) -> bool:
        """Keep the outcome of a rehearsal, plain JSON values; False where it is known already."""
        now, text = microseconds(datetime.now(UTC), "created_at"), _text(work)
        row: Row = {"key": _key(text), "work": text, "outcome": _text(outcome), "created_at": now}
        return bool(self._database.write(lambda at: insert_new(at, rehearsals, [row])))


def verify_rehearsal(row: Any) -> None:
    """Raise a ValueError unless a row has the content of its key."""
    json.loads(row.outcome)
    if _key(row.work) != row.key:
        raise ValueError("its content has another key")


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
