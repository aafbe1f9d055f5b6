"""Reading runs and experiences by conditions and order; an error names what is damaged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, TypedDict, Unpack, get_args

from sqlalchemy import Column, ColumnElement, Connection, Select, func, or_, select

from l2t.domains import Domain, DomainPair
from l2t.exceptions import InvalidInputError, L2TError, StoreCorruptError, UnknownRunError
from l2t.experiences.experience import Experience, Origin, Run, Status, TrainedOn
from l2t.experiences.store.database import Database
from l2t.experiences.store.rows import decode, domain_of, experience_of, run_of, statistics_of
from l2t.experiences.store.schema import BY_TIME, arrays, domains, microseconds, runs, scores
from l2t.experiences.store.writing import present
from l2t.statistics import PairStatistics
from l2t.typing import AnyArray
from l2t.validation import one_of, whole_number

_COUNT = func.coalesce(scores.c.n_labels, -1)
# True for every run. It leads SQLite to the index of time, in whose order the scores lie as well.
_ALL_TIMES = runs.c.created_at >= -(2**62)
_COLUMNS: dict[str, tuple[ColumnElement[Any], type, tuple[str, ...]]] = {
    "key": (runs.c.key, str, ()),
    "algorithm": (runs.c.algorithm, str, ()),
    "status": (runs.c.status, str, get_args(Status)),
    "origin": (runs.c.origin, str, get_args(Origin)),
    # Not the column itself: SQLite would begin with the scores, and have to sort.
    "n_labels": (_COUNT, int, ()),
    "trained_on": (scores.c.trained_on, str, get_args(TrainedOn)),
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
    """The filters of a query; None or absent is no condition.

    `domain` is the name or the fingerprint of the source or the target, `status` and `origin` are those of
    `Run`, `trained_on` is that of `Score`; runs are made at `since` or later and before `until`, with zone.
    """

    key: str | Sequence[str] | None
    algorithm: str | Sequence[str] | None
    domain: str | None
    n_labels: int | Sequence[int] | None
    trained_on: TrainedOn | Sequence[TrainedOn] | None
    status: Status | None
    origin: Origin | None
    since: datetime | None
    until: datetime | None


def conditions(filters: Filters) -> list[ColumnElement[bool]]:
    """Return the conditions of some filters."""
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
            sides = runs.c["source", "target", "source_name", "target_name"]
            found.append(or_(*(side.in_(_several([value], name, str)) for side in sides)))
        else:
            since, time = name == "since", microseconds(value, name)
            found.append(runs.c.created_at >= time if since else runs.c.created_at < time)
    return found


def matching(where: Sequence[ColumnElement[bool]], *columns: Any) -> Select[Any]:
    """Return the query for columns of matching experiences: a run at each number of labels, or alone."""
    return select(*columns).select_from(runs.outerjoin(scores)).where(_ALL_TIMES, *where)


def _several(given: Any, parameter: str, kind: type, allowed: tuple[str, ...] = ()) -> list[Any]:
    values = [given] if isinstance(given, str | int) else list(given)
    rule = f"one of {', '.join(allowed)}" if allowed else f"{kind.__name__}, or several of it"
    for value in values:
        plain = isinstance(value, kind) and not isinstance(value, bool)
        if not plain or (allowed and value not in allowed):
            raise InvalidInputError(f"{parameter} must be {rule}, got {value!r:.80}")
    return values


_CHUNK = 1000  # experiences that are read at a time


class RunReader:
    """The part of a store that reads runs; each method is one transaction."""

    _database: Database

    def keys(self, keys: Iterable[str] | None = None) -> set[str]:
        """Return the keys of all runs, or those among `keys` that the store has."""
        if keys is None:
            return {key for (key,) in self._database.rows(select(runs.c.key))}
        wanted = list(keys)
        return self._database.read(lambda at: present(at, runs.c.key, wanted))

    def key(self, beginning: str) -> str:
        """Return the key of the only run whose key begins so."""
        with self._database.reading() as connection:
            return str(_run_row(connection, beginning).key)

    def count(self, **filters: Unpack[Filters]) -> int:
        """Return how many experiences there are; see `Filters`."""
        return int(self._database.rows(matching(conditions(filters), func.count()))[0][0])

    def page_of_runs(
        self, *, limit: int, offset: int, order: str, descending: bool, **filters: Unpack[Filters]
    ) -> tuple[list[str], int]:
        """Return the keys of some runs with matching experiences, and how many runs there are.

        They are sorted as `experiences` are, and by the mean of their ratios for "improvement_ratio".
        """
        where, place = conditions(filters), ORDERS[one_of("order", order, ORDERS)]
        page, total = select(runs.c.key), select(func.count()).select_from(runs)
        scored = filters.get("n_labels") is not None or filters.get("trained_on") is not None
        if scored or order in ("improvement_ratio", "n_labels"):
            place = func.avg(place) if order == "improvement_ratio" else func.min(place)
            page = page.select_from(runs.outerjoin(scores)).group_by(runs.c.key)
            total = select(func.count(runs.c.key.distinct())).select_from(runs.outerjoin(scores))
        ends = (each.desc() if descending else each.asc() for each in (place, runs.c.key))
        page = page.where(_ALL_TIMES, *where).order_by(*ends).offset(offset).limit(limit)
        keys = [key for (key,) in self._database.rows(page)]
        return keys, int(self._database.rows(total.where(_ALL_TIMES, *where))[0][0])

    def experiences(
        self,
        *,
        limit: int | None = None,
        offset: int = 0,
        order: str = "created_at",
        descending: bool = False,
        statistics: bool = True,
        **filters: Unpack[Filters],
    ) -> Iterator[Experience]:
        """Iterate over experiences, those of failed runs included; runs added meanwhile do not appear.

        Parameters
        ----------
        limit, offset : int
            How many, all by default, and how many to skip before them.
        order : {"created_at", "algorithm", "duration", "improvement_ratio", "n_labels"}
            Ties follow by key in order of time, which is the same on every machine, and otherwise in
            order of arrival.
        descending : bool, default=False
            The whole order reversed.
        statistics : bool, default=True
            Whether d, Q and tau are read; without them a page takes a fraction of the time.
        **filters
            See `Filters`.
        """
        where = conditions(filters)
        one_of("order", order, ORDERS)
        for name, value in (("offset", offset), ("limit", 0 if limit is None else limit)):
            whole_number(name, value, least=0)
        place = (ORDERS[order], runs.c["key" if order == "created_at" else "id"], _COUNT)
        if order == "created_at" and self._database.address.kind != "postgresql":
            # The same order, but one that SQLite finds in its indexes without sorting.
            place = (*BY_TIME.columns, runs.c.id, scores.c.n_labels)
        query = matching(where, runs.c.id, *scores.c["n_labels", "trained_on"])
        whole = (*place, scores.c.trained_on)
        query = query.order_by(*(each.desc() if descending else each.asc() for each in whole))

        def read() -> Iterator[Experience]:
            places = self._database.rows(query.offset(offset).limit(limit))
            for start in range(0, len(places), _CHUNK):  # a slow reader must not hold others up
                with self._database.reading() as connection:
                    chunk = places[start : start + _CHUNK]
                    found = _experiences_at(connection, chunk, statistics)
                yield from found

        return read()

    def run(self, key: str) -> Run:
        """Return a run, by its key or the beginning of it, with domains, W, statistics and scores."""
        with self._database.reading() as connection:
            row = _run_row(connection, key)
            return read_run(connection, row, connection.execute(scores_of(row.id)).all())

    def target(self, key: str) -> Domain:
        """Return the target of a run."""
        with self._database.reading() as connection:
            return _side(connection, _run_row(connection, key), "target")

    def target_runs(self, *, n_features: int | None = None) -> dict[str, str]:
        """Return the first finished run on each labelled target of `n_features`, in order of arrival."""
        done = (runs.c.status == "done") & domains.c.y.is_not(None)
        if n_features is not None:
            done &= domains.c.n_features == n_features
        of_target = domains.c.fingerprint == runs.c.target
        first = select(func.min(runs.c.id)).join(domains, of_target).where(done)
        chosen = runs.c.id.in_(first.group_by(runs.c.target))
        query = select(runs.c.target, runs.c.key).where(chosen).order_by(runs.c.id)
        return {row.target: row.key for row in self._database.rows(query)}

    def targets(self, *, n_features: int | None = None) -> Iterator[Domain]:
        """Iterate over the labelled targets of finished runs, each once, in order of arrival."""
        return map(self.target, self.target_runs(n_features=n_features).values())


def scores_of(run: int) -> Select[Any]:
    """Return the query for the scores of a run, by its number."""
    order = (scores.c.trained_on.desc(), scores.c.n_labels)  # first of all, the target's own labels
    return select(scores).where(scores.c.run == run).order_by(*order)


def read_run(connection: Connection, row: Any, scored: Sequence[Any] = ()) -> Run:
    """Return the run of a row with its domains, W and statistics."""
    pair = DomainPair(*(_side(connection, row, side) for side in ("source", "target")))
    with naming(f"run {row.key}"):
        return run_of(row, scored, pair, partial(read_array, connection))


def read_array(connection: Connection, hash: str | None) -> AnyArray | None:
    """Return an array by its hash; None stays None."""
    if hash is None:
        return None
    row = connection.execute(select(arrays).where(arrays.c.hash == hash)).one_or_none()
    if row is None:
        raise StoreCorruptError(f"array {hash:.12} is missing")
    return decode(row)


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Turn an error in reading something into a StoreCorruptError that names it."""
    try:
        yield
    except (ValueError, TypeError, LookupError, OverflowError, L2TError) as error:
        raise StoreCorruptError(f"{what} is damaged: {error}") from None


def row_that_begins(
    connection: Connection, key: Column[Any], beginning: str, unknown: type[Exception]
) -> Any:
    """Return the only row whose key, hexadecimal digits, is or begins with something."""
    query = select(key.table).where(key.between(beginning, f"{beginning}g")).limit(2)
    found = connection.execute(query).all() if re.fullmatch("[0-9a-f]+", beginning) else []
    if len(found) != 1:
        noun = key.table.name.removeprefix("l2t_").removesuffix("s")
        number = f"several {noun}s have" if found else f"no {noun} has"
        raise unknown(f"{number} the {key.name} {beginning!r:.80}, or one that begins with it")
    return found[0]


def _run_row(connection: Connection, key: str) -> Any:
    return row_that_begins(connection, runs.c.key, key, UnknownRunError)


def _side(connection: Connection, row: Any, side: str) -> Domain:
    """Return the source or the target of a run."""
    query = select(domains).where(domains.c.fingerprint == getattr(row, side))
    found = connection.execute(query).one_or_none()
    name, features = getattr(row, f"{side}_name"), getattr(row, f"{side}_features")
    with naming(f"run {row.key}"):
        if found is None:
            raise LookupError(f"its {side} is missing")
        return domain_of(found, partial(read_array, connection), name, features)


def _experiences_at(
    connection: Connection, places: Sequence[Any], with_statistics: bool
) -> list[Experience]:
    """Return the experiences of runs at their numbers of labels."""
    chosen = [runs.c.id.in_({place.id for place in places})]
    query = matching(chosen, runs, scores, domains.c.n_classes)
    query = query.join(domains, domains.c.fingerprint == runs.c.target)
    if with_statistics:
        query = query.add_columns(arrays).outerjoin(arrays, runs.c.statistics == arrays.c.hash)
    rows = {(row.id, row.n_labels, row.trained_on): row for row in connection.execute(query)}
    computed: dict[int, PairStatistics | None] = {}
    found = []
    for place in places:
        if (row := rows.get(tuple(place))) is None:  # it was deleted meanwhile
            continue
        with naming(f"run {row.key}"):
            if row.id not in computed:
                there = with_statistics and row.statistics is not None
                computed[row.id] = statistics_of(row, decode(row)) if there else None
            found.append(experience_of(row, computed[row.id]))
    return found
