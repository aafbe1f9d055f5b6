"""Which experiences, in which order: the conditions and keysets of queries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypedDict, get_args

from sqlalchemy import ColumnElement, Select, func, or_, select, tuple_

from l2t.exceptions import InvalidInputError
from l2t.experiences.experience import Status
from l2t.experiences.store.records import microseconds
from l2t.experiences.store.schema import runs, scores

__all__ = ["ALL_TIMES", "JOINED", "ORDERS", "Filters", "conditions", "page"]

#: Experiences: each score of a run, or the run alone where it has none.
JOINED = runs.outerjoin(scores, runs.c.id == scores.c.run)

_COUNT = func.coalesce(scores.c.n_labels, 0)
#: True for every run. It leads SQLite to the index of time, where neighbours are neighbours among the
#: scores, too; left alone it takes the shorter index of keys, and jumps about.
ALL_TIMES = runs.c.created_at >= -(2**62)
#: What experiences can be sorted by.
ORDERS: dict[str, ColumnElement[Any]] = {
    "created_at": runs.c.created_at,
    "algorithm": runs.c.algorithm,
    "duration": runs.c.duration,
    "improvement_ratio": func.coalesce(scores.c.improvement_ratio, 0.0),
    "n_labels": _COUNT,
}
_MOST = 30_000  # values that one statement can hold


class Filters(TypedDict, total=False):
    """What narrows a query; a value or, where the type says so, any of several.

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
    status : {"done", "failed", "asked"}
        How the run ended, if it did.
    since, until : datetime
        When it was made, with a time zone: at `since` or later, and before `until`.
    """

    key: str | Sequence[str] | None
    algorithm: str | Sequence[str] | None
    domain: str | None
    n_labels: int | Sequence[int] | None
    status: Status | None
    since: datetime | None
    until: datetime | None


def conditions(
    *,
    key: str | Sequence[str] | None = None,
    algorithm: str | Sequence[str] | None = None,
    domain: str | None = None,
    n_labels: int | Sequence[int] | None = None,
    status: Status | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[ColumnElement[bool]]:
    """Return what must hold for an experience, checked."""
    found: list[ColumnElement[bool]] = []
    if key is not None:
        found.append(runs.c.key.in_(_several(key, "key", str)))
    if algorithm is not None:
        found.append(runs.c.algorithm.in_(_several(algorithm, "algorithm", str)))
    if domain is not None:
        named = _several(domain, "domain", str)
        sides = (runs.c.source, runs.c.target, runs.c.source_name, runs.c.target_name)
        found.append(or_(*(side.in_(named) for side in sides)))
    if n_labels is not None:
        # Not the column itself: SQLite would begin with the scores, and have to sort.
        found.append(_COUNT.in_(_several(n_labels, "n_labels", int)))
    if status is not None:
        if status not in get_args(Status):
            raise InvalidInputError(
                f"status must be one of {', '.join(get_args(Status))}, got {status!r}"
            )
        found.append(runs.c.status == status)
    if since is not None:
        found.append(runs.c.created_at >= microseconds(since, "since"))
    if until is not None:
        found.append(runs.c.created_at < microseconds(until, "until"))
    return found


def page(
    where: Sequence[ColumnElement[bool]],
    order: str,
    *,
    descending: bool,
    after: tuple[Any, ...] | None,
    limit: int,
    offset: int,
) -> Select[Any]:
    """Return the query for the next experiences by run and number of labels, after a given one.

    The last columns of a row are its place in the order: `after` of the next page.
    """
    # In order of time the same on every machine; in others ties are in order of arrival, for the less
    # there is to sort the faster it is.
    tie = runs.c.key if order == "created_at" else runs.c.id
    place = (ORDERS[order], tie, _COUNT)
    query = select(runs.c.id, scores.c.n_labels, *place).select_from(JOINED)
    query = query.where(ALL_TIMES, *where)
    if after is not None:
        here = tuple_(*place)
        query = query.where(here < tuple_(*after) if descending else here > tuple_(*after))
    query = query.order_by(*(column.desc() if descending else column.asc() for column in place))
    return query.limit(limit).offset(offset)


def _several(given: Any, parameter: str, kind: type) -> list[Any]:
    values = [given] if isinstance(given, str | int) else list(given)
    wrong = [value for value in values if not isinstance(value, kind) or isinstance(value, bool)]
    if wrong:
        raise InvalidInputError(
            f"{parameter} must be {kind.__name__}, or several of it, got {wrong[0]!r:.80}"
        )
    if len(values) > _MOST:
        raise InvalidInputError(f"{parameter} must be at most {_MOST} values, got {len(values)}")
    return values
