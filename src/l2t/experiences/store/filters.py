"""Which experiences, in which order: the conditions of queries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypedDict, get_args

from sqlalchemy import ColumnElement, Select, func, or_, select

from l2t.exceptions import InvalidInputError
from l2t.experiences.experience import Origin, Status
from l2t.experiences.store.rows import microseconds
from l2t.experiences.store.schema import runs, scores

__all__ = ["ORDERS", "Filters", "conditions", "matching"]

_COUNT = func.coalesce(scores.c.n_labels, 0)
# True for every run. It leads SQLite to the index of time, in whose order the scores lie as well.
_ALL_TIMES = runs.c.created_at >= -(2**62)
_COLUMNS: dict[str, tuple[ColumnElement[Any], type, tuple[str, ...]]] = {
    "key": (runs.c.key, str, ()),
    "algorithm": (runs.c.algorithm, str, ()),
    "status": (runs.c.status, str, get_args(Status)),
    "origin": (runs.c.origin, str, get_args(Origin)),
    # Not the column itself: SQLite would begin with the scores, and have to sort.
    "n_labels": (_COUNT, int, ()),
}
#: What experiences can be sorted by.
ORDERS: dict[str, ColumnElement[Any]] = {
    "created_at": runs.c.created_at,
    "algorithm": runs.c.algorithm,
    "duration": runs.c.duration,
    "improvement_ratio": func.coalesce(scores.c.improvement_ratio, 0.0),
    "n_labels": _COUNT,
}


class Filters(TypedDict, total=False):
    """What narrows a query; None or absent is no condition.

    `domain` is the name or the fingerprint of the source or the target, `status` and `origin` are those of
    `Run`, and a run is made at `since` or later and before `until`, which need a time zone.
    """

    key: str | Sequence[str] | None
    algorithm: str | Sequence[str] | None
    domain: str | None
    n_labels: int | Sequence[int] | None
    status: Status | None
    origin: Origin | None
    since: datetime | None
    until: datetime | None


def conditions(filters: Filters) -> list[ColumnElement[bool]]:
    """Return what must hold for an experience."""
    found: list[ColumnElement[bool]] = []
    value: Any
    for name, value in filters.items():
        if name not in Filters.__annotations__:
            raise TypeError(f"a filter is one of {', '.join(Filters.__annotations__)}, got {name}")
        if value is None:
            continue
        if name in _COLUMNS:
            column, kind, allowed = _COLUMNS[name]
            found.append(column.in_(_several(value, name, kind, allowed)))
        elif name == "domain":
            (named,) = _several([value], name, str)
            sides = (runs.c.source, runs.c.target, runs.c.source_name, runs.c.target_name)
            found.append(or_(*(side == named for side in sides)))
        else:
            since, time = name == "since", microseconds(value, name)
            found.append(runs.c.created_at >= time if since else runs.c.created_at < time)
    return found


def matching(where: Sequence[ColumnElement[bool]], *columns: Any) -> Select[Any]:
    """Return the query for columns of matching experiences: a run at each number of labels, or alone."""
    joined = runs.outerjoin(scores, runs.c.id == scores.c.run)
    return select(*columns).select_from(joined).where(_ALL_TIMES, *where)


def _several(given: Any, parameter: str, kind: type, allowed: tuple[str, ...] = ()) -> list[Any]:
    values = [given] if isinstance(given, str | int) else list(given)
    for value in values:
        if not isinstance(value, kind) or isinstance(value, bool):
            rule = f"{kind.__name__}, or several of it"
            raise InvalidInputError(f"{parameter} must be {rule}, got {value!r:.80}")
        if allowed and value not in allowed:
            rule = f"one of {', '.join(allowed)}"
            raise InvalidInputError(f"{parameter} must be {rule}, got {value!r:.80}")
    return values
