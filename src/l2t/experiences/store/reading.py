"""Reading runs and experiences; an error names what is damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Unpack

from sqlalchemy import Connection, func, select

from l2t.domains import Domain, DomainPair
from l2t.exceptions import InvalidInputError, StoreCorruptError, StoreError, UnknownRunError
from l2t.experiences.experience import Experience, Run
from l2t.experiences.store.arrays import decode
from l2t.experiences.store.database import Database
from l2t.experiences.store.filters import ORDERS, Filters, conditions, matching
from l2t.experiences.store.rows import domain_of, experience_of, run_of, statistics_of
from l2t.experiences.store.schema import arrays, domains, runs, scores
from l2t.experiences.store.writing import present
from l2t.statistics import PairStatistics
from l2t.typing import AnyArray

__all__ = ["RunReader", "array_reader", "read_run"]

_CHUNK = 1000  # experiences that are read at a time


class RunReader:
    """The part of a store that reads runs; each method is one transaction."""

    _database: Database

    def keys(self, keys: Iterable[str] | None = None) -> set[str]:
        """Return the keys of all runs, or those among `keys` that the store has."""
        with self._database.reading() as connection:
            if keys is None:
                return set(connection.execute(select(runs.c.key)).scalars())
            return present(connection, runs.c.key, keys)

    def count(self, **filters: Unpack[Filters]) -> int:
        """Return how many experiences there are; see `Filters`."""
        query = matching(conditions(filters), func.count())
        with self._database.reading() as connection:
            return int(connection.execute(query).scalar_one())

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
            How many, all by default, and how many to skip before, none by default.
        order : {"created_at", "algorithm", "duration", "improvement_ratio", "n_labels"}
            In order of time, runs of the same moment follow by key, the same on every machine; in other
            orders ties are in order of arrival. Within a run by number of labels.
        descending : bool, default=False
            The whole order reversed.
        statistics : bool, default=True
            Whether d, Q and tau are read; without them a page takes a fraction of the time.
        **filters
            See `Filters`.
        """
        where = conditions(filters)
        if order not in ORDERS:
            raise InvalidInputError(f"order must be one of {', '.join(ORDERS)}, got {order!r:.80}")
        for name, value in (("limit", limit), ("offset", offset)):
            if value is not None and (not isinstance(value, int) or value < 0):
                raise InvalidInputError(f"{name} must be an integer of at least 0, got {value!r}")
        tie = runs.c.key if order == "created_at" else runs.c.id
        place = (ORDERS[order], tie, ORDERS["n_labels"])
        query = matching(where, runs.c.id, scores.c.n_labels).offset(offset).limit(limit)
        query = query.order_by(*(each.desc() if descending else each.asc() for each in place))

        def read() -> Iterator[Experience]:
            with self._database.reading() as connection:
                places = connection.execute(query).all()
            for start in range(0, len(places), _CHUNK):
                # A short transaction per chunk, so that a slow reader holds nobody up.
                with self._database.reading() as connection:
                    chunk = places[start : start + _CHUNK]
                    found = _experiences_at(connection, chunk, statistics)
                yield from found

        return read()

    def run(self, key: str) -> Run:
        """Return a run with both domains, W, statistics and scores."""
        with self._database.reading() as connection:
            row = _run_row(connection, key)
            query = select(scores).where(scores.c.run == row.id).order_by(scores.c.n_labels)
            return read_run(connection, row, connection.execute(query).all())

    def W(self, key: str) -> AnyArray:
        """Return the W of a run that did not fail."""
        with self._database.reading() as connection:
            row = _run_row(connection, key)
            if row.W is None:
                raise StoreError(f"run {key:.12} failed and has no W: {row.reason:.200}")
            with _naming(key):
                return array_reader(connection)(row.W)

    def target(self, key: str) -> Domain:
        """Return the target of a run."""
        with self._database.reading() as connection:
            row = _run_row(connection, key)
            with _naming(key):
                return _side(connection, row, "target")

    def target_runs(self, *, n_features: int | None = None) -> dict[str, str]:
        """Return the first finished run on each labelled target, by the target's fingerprint.

        They are in order of arrival; with `n_features` only targets of so many features.
        """
        done = (runs.c.status == "done") & domains.c.y.is_not(None)
        if n_features is not None:
            done &= domains.c.n_features == n_features
        first = (
            select(func.min(runs.c.id).label("id"))
            .join(domains, domains.c.fingerprint == runs.c.target)
            .where(done)
            .group_by(runs.c.target)
            .subquery()
        )
        query = select(runs.c.target, runs.c.key).join(first, first.c.id == runs.c.id)
        with self._database.reading() as connection:
            found = connection.execute(query.order_by(runs.c.id)).all()
        return {row.target: row.key for row in found}

    def targets(self, *, n_features: int | None = None) -> Iterator[Domain]:
        """Iterate over the labelled targets of finished runs, each once, in order of arrival."""
        for key in self.target_runs(n_features=n_features).values():
            yield self.target(key)


def read_run(connection: Connection, row: Any, scored: Sequence[Any] = ()) -> Run:
    """Return the run of a row with its domains, W and statistics."""
    with _naming(row.key):
        pair = DomainPair(*(_side(connection, row, side) for side in ("source", "target")))
        return run_of(row, scored, pair, array_reader(connection))


def array_reader(connection: Connection) -> Callable[[str], AnyArray]:
    """Return a function that reads arrays by their hashes."""

    def array(hash: str) -> AnyArray:
        row = connection.execute(select(arrays).where(arrays.c.hash == hash)).one_or_none()
        if row is None:
            raise StoreCorruptError(f"array {hash:.12} is missing")
        return decode(row)

    return array


@contextmanager
def _naming(key: str) -> Iterator[None]:
    """Say which run is damaged."""
    try:
        yield
    except StoreCorruptError as error:
        raise StoreCorruptError(
            f"run {key} is damaged: {error}; other runs stay readable, and delete(key=...) removes it"
        ) from None


def _run_row(connection: Connection, key: str) -> Any:
    row = connection.execute(select(runs).where(runs.c.key == key)).one_or_none()
    if row is None:
        raise UnknownRunError(f"no run has the key {key!r:.80}")
    return row


def _side(connection: Connection, row: Any, side: str) -> Domain:
    """Return the source or the target of a run."""
    query = select(domains).where(domains.c.fingerprint == getattr(row, side))
    found = connection.execute(query).one_or_none()
    if found is None:
        raise StoreCorruptError(f"its {side} is missing")
    name, features = getattr(row, f"{side}_name"), getattr(row, f"{side}_features")
    return domain_of(found, array_reader(connection), name, features)


def _experiences_at(
    connection: Connection, places: Sequence[Any], with_statistics: bool
) -> list[Experience]:
    """Return the experiences of pairs of run and number of labels; what a run shares is read once."""
    wanted = {place.id for place in places}
    query = select(runs, arrays.c.hash, arrays.c.data) if with_statistics else select(runs)
    if with_statistics:
        query = query.outerjoin(arrays, arrays.c.hash == runs.c.statistics)
    rows = {row.id: row for row in connection.execute(query.where(runs.c.id.in_(wanted)))}
    scored = select(scores).where(scores.c.run.in_(wanted))
    score_of = {(score.run, score.n_labels): score for score in connection.execute(scored)}
    computed: dict[int, PairStatistics | None] = {}
    found = []
    for number, count in places:
        row = rows.get(number)
        if row is None:  # it was deleted meanwhile
            continue
        with _naming(row.key):
            if number not in computed:
                read = with_statistics and row.statistics is not None
                computed[number] = statistics_of(row, decode(row)) if read else None
            score = score_of.get((number, count))
            found.append(experience_of(row, score, computed[number]))
    return found
