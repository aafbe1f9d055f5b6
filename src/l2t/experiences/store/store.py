"""The store of experiences: what was tried, kept once and for all.

Three databases, one behaviour: an SQLite file (the default, for one machine and any number of processes), a
PostgreSQL server (for many machines) and memory (for trying things out).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy.typing as npt
from sqlalchemy import func, select

from l2t.domains import Domain
from l2t.exceptions import InvalidInputError, StoreCorruptError, StoreError
from l2t.experiences.experience import Experience, Run
from l2t.experiences.store.address import Address
from l2t.experiences.store.archive import export, merge
from l2t.experiences.store.checking import problems
from l2t.experiences.store.collections import (
    CollectionProgress,
    latest_collections,
    note_collection,
)
from l2t.experiences.store.contents import Overtaken, present, put, remove_runs
from l2t.experiences.store.database import Database
from l2t.experiences.store.filters import ALL_TIMES, JOINED, ORDERS, Filters, conditions, page
from l2t.experiences.store.functions import (
    FunctionVersion,
    Use,
    complete,
    last_number,
    put_function,
    unused,
    used,
    version_of,
)
from l2t.experiences.store.packing import Packed, pack
from l2t.experiences.store.reading import array_of, experiences_at, run_row, target_of, whole_run
from l2t.experiences.store.schema import domains, functions, runs
from l2t.experiences.store.summaries import Summaries
from l2t.experiences.store.versions import prepare, upgrade

__all__ = ["ExperienceStore", "open_store", "upgrade_store"]

_CHUNK = 1000  # experiences that are read at a time


def open_store(
    url: str | os.PathLike[str] = "sqlite:///experiences.db", *, create: bool = True
) -> ExperienceStore:
    """Open a store of experiences, and make it where there is none.

    Parameters
    ----------
    url : str or path
        ``sqlite:///path`` or the path of a file (``.db``, ``.sqlite``); ``postgresql://user@host/database``;
        ``memory://`` for a store that ends with this object. An SQLite file must be on a local disk, for
        its WAL mode does not work on a network file system; use PostgreSQL there.
    create : bool
        Whether a store that does not exist is made.

    Raises
    ------
    StoreError
        It cannot be opened; `StoreVersionError` if it is older or newer than this code,
        `StoreCorruptError` if it is damaged.

    Examples
    --------
    >>> with open_store("memory://") as store:
    ...     store.count()
    0
    """
    return ExperienceStore(url, create=create)


def upgrade_store(url: str | os.PathLike[str]) -> None:
    """Bring a store that an older version of the package wrote to the form of this one."""
    database = Database(Address.of(url))
    try:
        upgrade(database)
    finally:
        database.close()


class ExperienceStore:
    """Runs with their domains, W, statistics and scores; made by `open_store`.

    A store can be used from many threads and processes at once; it travels to another process as its
    URL. Each method is one transaction.
    """

    def __init__(self, url: str | os.PathLike[str], *, create: bool = True) -> None:
        self._database = Database(Address.of(url))
        try:
            self._version = prepare(self._database, create=create)
        except BaseException:
            self._database.close()
            raise

    @property
    def url(self) -> str:
        """What opens the same store again, from any directory; it may hold a password."""
        return self._database.address.url

    @property
    def version(self) -> str:
        """The version of the store's tables."""
        return self._version

    def add(self, run: Run) -> bool:
        """Keep a run with all that belongs to it.

        Returns
        -------
        bool
            False where the store already has a run of that key: nothing is changed then.
        """
        return bool(self.add_packed(pack([run])))

    def add_packed(self, packed: Packed) -> set[str]:
        """Keep runs that `pack` made ready, all of them or, when something fails, none.

        Returns
        -------
        set of str
            The keys of those that were new; of the others nothing is changed.
        """
        while True:
            try:
                with self._database.writing() as connection:
                    return put(connection, packed)
            except Overtaken:
                continue  # what the other has put in is found now

    def complete(self, run: Run) -> bool:
        """Put a run that is done now in the place of the same run that was asked for.

        Returns
        -------
        bool
            False where no run of that key waits: nothing is changed then.
        """
        if run.status != "done":
            raise InvalidInputError(f"a run is completed when it is done, got {run.status!r}")
        packed = pack([run])
        with self._database.writing() as connection:
            return complete(connection, packed)

    def add_function(
        self, version: FunctionVersion, use: Mapping[Use, Sequence[str]] | None = None
    ) -> bool:
        """Keep the next version of the agent's function, and which runs were used for it.

        Returns
        -------
        bool
            False where another was quicker, and the number is taken: nothing is changed then.
        """
        try:
            with self._database.writing() as connection:
                put_function(connection, version, use or {})
        except Overtaken:
            return False
        return True

    def function(self, number: int | None = None) -> FunctionVersion | None:
        """Return a version of the agent's function, by default the one in use; None where there is none."""
        query = select(functions).order_by(functions.c.number.desc()).limit(1)
        chosen = functions.c.took_over if number is None else functions.c.number == number
        with self._database.reading() as connection:
            row = connection.execute(query.where(chosen)).one_or_none()
        return None if row is None else version_of(row)

    def newest_function(self) -> FunctionVersion | None:
        """Return the newest version, in use or not; None where there is none."""
        with self._database.reading() as connection:
            number = last_number(connection)
        return self.function(number) if number else None

    def functions(self) -> list[FunctionVersion]:
        """Return all versions of the agent's function, the oldest first."""
        with self._database.reading() as connection:
            rows = connection.execute(select(functions).order_by(functions.c.number)).all()
        return [version_of(row) for row in rows]

    def unused_runs(self, limit: int) -> list[str]:
        """Return the keys of the oldest runs that were done and that the agent has not used."""
        with self._database.reading() as connection:
            return unused(connection, limit)

    def used_runs(self, purpose: Use, limit: int) -> list[str]:
        """Return the keys of the newest runs that the agent learns from, or judges by."""
        with self._database.reading() as connection:
            return used(connection, purpose, limit)

    def keys(self, keys: Iterable[str] | None = None) -> set[str]:
        """Return the keys of all runs, or those among `keys` that are there."""
        with self._database.reading() as connection:
            if keys is None:
                return set(connection.execute(select(runs.c.key)).scalars())
            return present(connection, runs.c.key, keys)

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
        """Go through experiences, done and failed ones, a chunk at a time.

        Parameters
        ----------
        limit, offset : int
            How many, and how many to leave out before.
        order : {"created_at", "algorithm", "duration", "improvement_ratio", "n_labels"}
            In order of time, runs of the same moment follow by key, the same on every machine; in other
            orders ties are in order of arrival. Within a run by number of labels.
        descending : bool
            The whole order reversed.
        statistics : bool
            Whether d, Q and tau are read; without them a page takes a fraction of the time.
        **filters
            See `Filters`.
        """
        where = conditions(**filters)
        if order not in ORDERS:
            raise InvalidInputError(f"order must be one of {', '.join(ORDERS)}, got {order!r:.80}")
        for name, value in (("limit", limit), ("offset", offset)):
            if value is not None and (not isinstance(value, int) or value < 0):
                raise InvalidInputError(f"{name} must be a whole number from 0, got {value!r}")
        return self._stream(where, order, descending, limit, offset, statistics)

    def count(self, **filters: Unpack[Filters]) -> int:
        """Return how many experiences there are; see `Filters`."""
        where = conditions(**filters)
        query = select(func.count()).select_from(JOINED).where(ALL_TIMES, *where)
        with self._database.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def run(self, key: str) -> Run:
        """Return a run whole, with both domains and W."""
        with self._database.reading() as connection:
            return whole_run(connection, key)

    def target(self, key: str) -> Domain:
        """Return the target of a run alone."""
        with self._database.reading() as connection:
            return target_of(connection, key)

    def target_runs(self, *, n_features: int | None = None) -> dict[str, str]:
        """Return the first run that was done on each labelled target, by the target's fingerprint.

        They are in the order in which they came; with `n_features` those of so many features alone.
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
        """Go through the labelled targets of runs that were done, each once, as `target_runs` orders them."""
        for key in self.target_runs(n_features=n_features).values():
            yield self.target(key)

    def W(self, key: str) -> npt.NDArray[Any]:
        """Return the W of a run that was done."""
        with self._database.reading() as connection:
            row = run_row(connection, key)
            if row.W is None:
                raise StoreError(f"run {key:.12} failed and has no W: {row.reason:.200}")
            return array_of(connection, row.W, key)

    def delete(self, **filters: Unpack[Filters]) -> int:
        """Delete the runs of the experiences that match, with all that nothing else refers to.

        A run is deleted whole, also where only one of its numbers of labels matches. At least one filter
        is needed.

        Returns
        -------
        int
            How many runs were deleted.
        """
        where = conditions(**filters)
        if not where:
            raise InvalidInputError(
                "delete needs at least one filter; to delete everything, delete the store itself"
            )
        query = select(runs.c.key).select_from(JOINED).where(*where).distinct()
        with self._database.writing(alone=True) as connection:
            keys = connection.execute(query).scalars().all()
            remove_runs(connection, keys)
        return len(keys)

    def note_collection(self, progress: CollectionProgress) -> None:
        """Keep how far a collection is, in place of what was noted of it before."""
        with self._database.writing() as connection:
            note_collection(connection, progress)

    def collections(self, *, limit: int = 20) -> list[CollectionProgress]:
        """Return the collections that began last, the newest first."""
        with self._database.reading() as connection:
            return latest_collections(connection, limit)

    @property
    def summaries(self) -> Summaries:
        """Counts, distributions and means over all experiences."""
        return Summaries(self._database)

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write all runs into one portable file (a zip of JSON lines and npy), whole or not at all."""
        return export(self._database, Path(path))

    def merge(self, path: str | os.PathLike[str]) -> int:
        """Take over the runs of an exported file that are not there yet, all or none of them.

        Returns
        -------
        int
            How many runs were new.

        Raises
        ------
        FileFormatError
            The file is damaged or not an export; the store is unchanged.
        """
        return merge(self._database, Path(path))

    def check(self) -> list[str]:
        """Hash every array again and read every row.

        Returns
        -------
        list of str
            A sentence for each thing that is wrong; empty when the store is sound.
        """
        found: list[str] = []
        try:
            with self._database.reading() as connection:
                found.extend(problems(connection))
        except StoreCorruptError as error:  # so damaged that reading ends here
            found.append(str(error))
        return found

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def __enter__(self) -> ExperienceStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ExperienceStore({self._database.address.shown!r})"

    def __getstate__(self) -> dict[str, Any]:
        if self._database.address.kind == "memory":
            raise StoreError(
                "a store in memory cannot be sent to another process; use an SQLite file, such as "
                "sqlite:///experiences.db"
            )
        return {"url": self.url, "version": self._version}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._database = Database(Address.of(state["url"]))
        self._version = state["version"]

    def _stream(
        self,
        where: list[Any],
        order: str,
        descending: bool,
        limit: int | None,
        offset: int,
        with_statistics: bool,
    ) -> Iterator[Experience]:
        after = None
        left = limit
        while left is None or left > 0:
            size = _CHUNK if left is None else min(left, _CHUNK)
            query = page(
                where, order, descending=descending, after=after, limit=size, offset=offset
            )
            # A short transaction a chunk: who reads slowly holds nobody up.
            with self._database.reading() as connection:
                places = connection.execute(query).all()
                found = experiences_at(connection, places, with_statistics)
            yield from found
            if len(places) < size:
                return
            after, offset = tuple(places[-1][2:]), 0
            left = None if left is None else left - size
