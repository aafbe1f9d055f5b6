"""Reading runs and experiences with filters and an order; an error names the damaged part."""

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
from l2t.experiences.store.rows import (
    class_count_of,
    decode,
    domain_of,
    experience_of,
    run_of,
    statistics_of,
    verify_content,
)
from l2t.experiences.store.schema import (
    BY_TIME,
    ResultRow,
    arrays,
    domains,
    microseconds,
    runs,
    scores,
)
from l2t.experiences.store.writing import existing
from l2t.statistics import PairStatistics
from l2t.typing import AnyArray
from l2t.validation import one_of, whole_number

_COUNT = func.coalesce(scores.c.n_labels, -1)
# True for every run. It makes SQLite use the index of time, in whose order the scores are stored.
_ALL_TIMES = runs.c.created_at >= -(2**62)
_COLUMNS: dict[str, tuple[ColumnElement[Any], type, tuple[str, ...]]] = {
    "key": (runs.c.key, str, ()),
    "algorithm": (runs.c.algorithm, str, ()),
    "status": (runs.c.status, str, get_args(Status)),
    "origin": (runs.c.origin, str, get_args(Origin)),
    # Not the column itself: SQLite would scan the scores first, and have to sort.
    "n_labels": (_COUNT, int, ()),
    "trained_on": (scores.c.trained_on, str, get_args(TrainedOn)),
}
#: The possible orders of experiences.
ORDERS: dict[str, ColumnElement[Any]] = {
    "created_at": runs.c.created_at,
    "algorithm": runs.c.algorithm,
    "duration": runs.c.duration,
    "improvement_ratio": func.coalesce(scores.c.improvement_ratio, 0.0),
    "n_labels": _COUNT,
}


class Filters(TypedDict, total=False):
    """The filters of a query; None or an absent filter matches all runs.

    `domain` is the name or the fingerprint of the source or the target, `status` and `origin` are those of
    `Run`, `trained_on` is that of `Score`; runs were created at or after `since` and before `until`.
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
    """Return the SQL conditions of some filters."""
    clauses: list[ColumnElement[bool]] = []
    value: Any
    for name, value in filters.items():
        if name not in Filters.__annotations__:
            raise TypeError(f"filters must be {', '.join(Filters.__annotations__)}, got {name}")
        if value is None:
            continue
        if name in _COLUMNS:
            column, kind, allowed = _COLUMNS[name]
            clauses.append(column.in_(_as_list(value, name, kind, allowed)))
        elif name == "domain":
            sides = runs.c["source", "target", "source_name", "target_name"]
            clauses.append(or_(*(side.in_(_as_list([value], name, str)) for side in sides)))
        else:
            since, time = name == "since", microseconds(value, name)
            clauses.append(runs.c.created_at >= time if since else runs.c.created_at < time)
    return clauses


def matching(where: Sequence[ColumnElement[bool]], *columns: Any) -> Select[Any]:
    """Return the query for columns of matching experiences: the scores of runs, and runs without scores."""
    return select(*columns).select_from(runs.outerjoin(scores)).where(_ALL_TIMES, *where)


def _as_list(value: Any, parameter: str, kind: type, allowed: tuple[str, ...] = ()) -> list[Any]:
    values = [value] if isinstance(value, str | int) else list(value)
    rule = f"one of {', '.join(allowed)}" if allowed else f"{kind.__name__} or a list of them"
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
        """Return the keys of all runs, or those of `keys` that the store has."""
        if keys is None:
            return {key for (key,) in self._database.rows(select(runs.c.key))}
        wanted = list(keys)
        return self._database.read(lambda at: existing(at, runs.c.key, wanted))

    def key(self, prefix: str) -> str:
        """Return the key of the only run whose key begins with `prefix`."""
        with self._database.reading() as connection:
            return str(_run_row(connection, prefix).key)

    def count(self, **filters: Unpack[Filters]) -> int:
        """Return the number of matching experiences; see `Filters`."""
        return int(self._database.rows(matching(conditions(filters), func.count()))[0][0])

    def page_of_runs(
        self, *, limit: int, offset: int, order: str, descending: bool, **filters: Unpack[Filters]
    ) -> tuple[list[str], int]:
        """Return one page of the keys of runs with matching experiences, and the number of all such runs.

        The order is that of `experiences`; "improvement_ratio" sorts by the mean ratio of each run.
        """
        where, place = conditions(filters), ORDERS[one_of("order", order, ORDERS)]
        page, total = select(runs.c.key), select(func.count()).select_from(runs)
        scored = filters.get("n_labels") is not None or filters.get("trained_on") is not None
        if scored or order in ("improvement_ratio", "n_labels"):
            place = func.avg(place) if order == "improvement_ratio" else func.min(place)
            page = page.select_from(runs.outerjoin(scores)).group_by(runs.c.key)
            total = select(func.count(runs.c.key.distinct())).select_from(runs.outerjoin(scores))
        ends = (column.desc() if descending else column.asc() for column in (place, runs.c.key))
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
        """Iterate over experiences, including failed runs but not runs that are added meanwhile.

        Parameters
        ----------
        limit : int or None, default=None
            The maximum number of experiences.
        offset : int, default=0
            The number of experiences to skip.
        order : {"created_at", "algorithm", "duration", "improvement_ratio", "n_labels"}, default="created_at"
            The order. Ties are sorted by key for "created_at", otherwise in the order of insertion.
        descending : bool, default=False
            Whether to reverse the order.
        statistics : bool, default=True
            Whether to read d, Q and tau, which takes most of the time.
        **filters
            See `Filters`.

        Yields
        ------
        Experience

        Raises
        ------
        StoreCorruptError
            If a run, its scores or its statistics are not those that were stored. Without a limit, also if
            the file is damaged otherwise, so that experiences might be left out.
        """
        where = conditions(filters)
        one_of("order", order, ORDERS)
        for name, value in (("offset", offset), ("limit", 0 if limit is None else limit)):
            whole_number(name, value, least=0)
        place = (ORDERS[order], runs.c["key" if order == "created_at" else "id"], _COUNT)
        if order == "created_at" and self._database.address.kind != "postgresql":
            # The same order, but in columns that SQLite reads from its indexes without sorting.
            place = (*BY_TIME.columns, runs.c.id, scores.c.n_labels)
        query = matching(where, runs.c.id, *scores.c["n_labels", "trained_on"])
        columns = (*place, scores.c.trained_on)
        query = query.order_by(
            *(column.desc() if descending else column.asc() for column in columns)
        )

        def read() -> Iterator[Experience]:
            n_classes: dict[str, int] = {}
            if limit is None:
                self._database.verify(any_size=True)
            places = self._database.rows(query.offset(offset).limit(limit))
            for start in range(0, len(places), _CHUNK):  # no long transactions for a slow reader
                with self._database.reading() as connection:
                    chunk = places[start : start + _CHUNK]
                    experiences = _experiences_at(
                        connection, chunk, n_classes if statistics else None
                    )
                yield from experiences

        return read()

    def run(self, key: str) -> Run:
        """Return a run with domains, W, statistics and scores, by its key or a prefix of the key."""
        with self._database.reading() as connection:
            return read_run(connection, *verified_run(connection, key))

    def target(self, key: str) -> Domain:
        """Return the target of a run."""
        with self._database.reading() as connection:
            row, _ = verified_run(connection, key)
            return _side(connection, row, "target")

    def targets(
        self, *, n_features: int | None = None, limit: int | None = None
    ) -> Iterator[Domain]:
        """Iterate over the distinct labelled targets of completed runs, in the order of their first runs.

        Parameters
        ----------
        n_features : int or None, default=None
            Only targets with this number of features.
        limit : int or None, default=None
            Only this number of targets, the newest.

        Yields
        ------
        Domain
        """
        done = (runs.c.status == "done") & domains.c.y.is_not(None)
        if n_features is not None:
            done &= domains.c.n_features == n_features
        of_target = domains.c.fingerprint == runs.c.target
        first = select(func.min(runs.c.id)).join(domains, of_target).where(done)
        chosen = runs.c.id.in_(first.group_by(runs.c.target))
        query = select(runs.c.key).where(chosen).order_by(runs.c.id.desc()).limit(limit)
        keys = [key for (key,) in self._database.rows(query)]
        return map(self.target, reversed(keys))


def scores_of(run: int) -> Select[Any]:
    """Return the query for the scores of a run, by its id."""
    order = (scores.c.trained_on.desc(), scores.c.n_labels)  # those trained on the target first
    return select(scores).where(scores.c.run == run).order_by(*order)


def read_run(connection: Connection, row: ResultRow, scored: Sequence[ResultRow] = ()) -> Run:
    """Return the run in a row, with its domains, W and statistics."""
    pair = DomainPair(*(_side(connection, row, side) for side in ("source", "target")))
    with as_corrupt(f"run {row.key}"):
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
def as_corrupt(what: str) -> Iterator[None]:
    """Convert an error inside into a StoreCorruptError that names what could not be read."""
    try:
        yield
    except (ValueError, TypeError, LookupError, OverflowError, L2TError) as error:
        raise StoreCorruptError(f"{what} is damaged: {error}") from None


def row_by_prefix(
    connection: Connection, key: Column[str], prefix: str, unknown: type[Exception]
) -> ResultRow:
    """Return the only row whose hexadecimal key begins with a prefix."""
    query = select(key.table).where(key.between(prefix, f"{prefix}g")).limit(2)
    rows = connection.execute(query).all() if re.fullmatch("[0-9a-f]+", prefix) else []
    if len(rows) != 1:
        noun = key.table.name.removeprefix("l2t_").removesuffix("s")
        number = f"several {noun}s have" if rows else f"no {noun} has"
        raise unknown(f"{number} the {key.name} {prefix!r:.80} or one that begins with it")
    return rows[0]


def _run_row(connection: Connection, key: str) -> ResultRow:
    return row_by_prefix(connection, runs.c.key, key, UnknownRunError)


def verified_run(connection: Connection, key: str) -> tuple[ResultRow, Sequence[ResultRow]]:
    """Return the row of a run and those of its scores, by its key or a prefix of the key."""
    row = _run_row(connection, key)
    scored = connection.execute(scores_of(row.id)).all()
    with as_corrupt(f"run {row.key}"):
        verify_content(row, scored)
    return row, scored


def _side(connection: Connection, row: ResultRow, side: str) -> Domain:
    """Return the source or the target of a run."""
    query = select(domains).where(domains.c.fingerprint == getattr(row, side))
    domain_row = connection.execute(query).one_or_none()
    name, features = getattr(row, f"{side}_name"), getattr(row, f"{side}_features")
    with as_corrupt(f"run {row.key}"):
        if domain_row is None:
            raise LookupError(f"its {side} is missing")
        return domain_of(domain_row, partial(read_array, connection), name, features)


def _experiences_at(
    connection: Connection, places: Sequence[ResultRow], n_classes: dict[str, int] | None
) -> list[Experience]:
    """Return the experiences at (run id, n_labels, trained_on) in `places`, with all that can be verified.

    With `n_classes`, the verified numbers of classes by the fingerprint of the target, which is extended
    here, also the arrays are read: the statistics, and the labels of targets.
    """
    chosen = [runs.c.id.in_({place.id for place in places})]
    query = matching(chosen, runs, scores, domains.c.n_classes)
    query = query.outerjoin(domains, domains.c.fingerprint == runs.c.target)
    if n_classes is not None:
        query = query.add_columns(arrays).outerjoin(arrays, runs.c.statistics == arrays.c.hash)
    rows = {(row.id, row.n_labels, row.trained_on): row for row in connection.execute(query)}
    of_run: dict[int, list[ResultRow]] = {}
    for scored in rows.values():
        of_run.setdefault(scored.id, []).append(scored)
    computed: dict[int, PairStatistics | None] = {}
    experiences = []
    for place in places:
        if (row := rows.get(tuple(place))) is None:  # deleted meanwhile
            continue
        with as_corrupt(f"run {row.key}"):
            if row.n_classes is None:
                raise LookupError("its target is missing")
            if row.id not in computed:
                verify_content(row, [] if row.n_labels is None else of_run[row.id])
                if n_classes is not None:
                    _verify_classes(connection, row, n_classes)
                there = n_classes is not None and row.statistics is not None
                computed[row.id] = statistics_of(row, decode(row)) if there else None
            experiences.append(experience_of(row, computed[row.id]))
    return experiences


def _verify_classes(connection: Connection, row: ResultRow, n_classes: dict[str, int]) -> None:
    """Raise a ValueError if a row does not have the number of classes that the labels of its target have."""
    if row.target not in n_classes:
        target = connection.execute(
            select(domains).where(domains.c.fingerprint == row.target)
        ).one()
        n_classes[row.target] = class_count_of(target, partial(read_array, connection))
    if row.n_classes != n_classes[row.target]:
        raise ValueError(f"its target has {n_classes[row.target]} classes, not {row.n_classes}")
