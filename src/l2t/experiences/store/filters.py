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
# True for every run. It leads SQLite to the index of time, whose neighbours are neighbours among the
# scores as well; otherwise it takes the shorter index of keys, and reads pages in random order.
_ALL_TIMES = runs.c.created_at >= -(2**62)
_MOST = 30_000  # values that one statement can hold
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

    Attributes
    ----------
    key : str or sequence of str
        Keys of runs.
    algorithm : str or sequence of str
        Names of algorithms.
    domain : str
        The name or the fingerprint of the source or the target.
    n_labels : int or sequence of int
        Numbers of labels; runs without scores have none.
    status : {"done", "failed"}
        How the run ended.
    origin : {"collected", "told"}
        Whether the package measured the run, or somebody reported its accuracies.
    since, until : datetime
        When the run was made, with a time zone: at `since` or later, and before `until`.
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
    given = {name: value for name, value in filters.items() if value is not None}
    found: list[ColumnElement[bool]] = []
    for name, (column, kind, allowed) in _COLUMNS.items():
        if name in given:
            found.append(column.in_(_several(given.pop(name), name, kind, allowed)))
    if "domain" in given:
        (named,) = _several([given.pop("domain")], "domain", str)
        sides = (runs.c.source, runs.c.target, runs.c.source_name, runs.c.target_name)
        found.append(or_(*(side == named for side in sides)))
    if "since" in given:
        found.append(runs.c.created_at >= microseconds(given.pop("since"), "since"))  # type: ignore[arg-type]
    if "until" in given:
        found.append(runs.c.created_at < microseconds(given.pop("until"), "until"))  # type: ignore[arg-type]
    if given:
        raise TypeError(
            f"filters must be among {', '.join(Filters.__annotations__)}, got {[*given]}"
        )
    return found


def matching(where: Sequence[ColumnElement[bool]], *columns: ColumnElement[Any]) -> Select[Any]:
    """Return the query for columns of matching experiences: a run at each number of labels, or alone."""
    joined = runs.outerjoin(scores, runs.c.id == scores.c.run)
    return select(*columns).select_from(joined).where(_ALL_TIMES, *where)


def _several(given: Any, parameter: str, kind: type, allowed: tuple[str, ...] = ()) -> list[Any]:
    values = [given] if isinstance(given, str | int) else list(given)
    for value in values:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InvalidInputError(
                f"{parameter} must be {kind.__name__}, or several of it, got {value!r:.80}"
            )
        if allowed and value not in allowed:
            raise InvalidInputError(
                f"{parameter} must be one of {', '.join(allowed)}, got {value!r:.80}"
            )
    if len(values) > _MOST:
        raise InvalidInputError(f"{parameter} must be at most {_MOST} values, got {len(values)}")
    return values
