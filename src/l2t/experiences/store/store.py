"""The store of experiences: an SQLite file, a PostgreSQL server or memory, with the same behaviour."""

from __future__ import annotations

import os
from functools import partial
from typing import Unpack

from l2t.exceptions import InvalidInputError, StoreCorruptError, StoreError
from l2t.experiences.experience import Run
from l2t.experiences.records import Merged
from l2t.experiences.store.address import Address
from l2t.experiences.store.database import Database
from l2t.experiences.store.merging import find_problems, merge
from l2t.experiences.store.reading import Filters, RunReader, as_corrupt, conditions, matching
from l2t.experiences.store.record_keeper import RecordKeeper
from l2t.experiences.store.rows import Packed, pack
from l2t.experiences.store.schema import runs
from l2t.experiences.store.summaries import Summaries
from l2t.experiences.store.versions import ensure_tables
from l2t.experiences.store.writing import delete_rows, put_runs


def open_store(
    url: str | os.PathLike[str] = "sqlite:///experiences.db", *, create: bool = True
) -> ExperienceStore:
    """Open a store of experiences, and create it if it does not exist.

    Parameters
    ----------
    url : str or path, default="sqlite:///experiences.db"
        ``sqlite:///path`` or the path of a file (``.db``, ``.sqlite``); ``postgresql://user@host/database``;
        ``memory://`` for a temporary store in memory. An SQLite file must be on a local disk, because WAL
        mode does not work on a network file system; use PostgreSQL there.
    create : bool, default=True
        Whether to create a store that does not exist.

    Returns
    -------
    ExperienceStore

    Raises
    ------
    StoreError
        If it cannot be opened; `StoreVersionError` if its version is not that of this package,
        `StoreCorruptError` if it is damaged.

    Examples
    --------
    >>> with open_store("memory://") as store:
    ...     store.count()
    0
    """
    return ExperienceStore(url, create=create)


def upgrade_store(url: str | os.PathLike[str]) -> None:
    """Migrate the store at `url`, made by an older version of the package, to the tables of this version."""
    ExperienceStore(url, create=False, upgrade=True).close()


class ExperienceStore(RunReader, RecordKeeper):
    """A store of runs with their domains, W, statistics and scores; use `open_store` to create it.

    A store can be used by many threads and processes at once, and is pickled as its URL. Each method is
    one transaction. `version` is that of its tables; `summaries` computes counts, distributions and means
    over all experiences.
    """

    def __init__(
        self, url: str | os.PathLike[str], *, create: bool = True, upgrade: bool = False
    ) -> None:
        self._database = Database(Address.of(url))
        self.summaries = Summaries(self._database)
        try:
            self.version = ensure_tables(self._database, create=create, upgrade=upgrade)
        except BaseException:
            self._database.close()
            raise

    @property
    def url(self) -> str:
        """The absolute URL of the store; it may hold a password."""
        return self._database.address.url

    def add(self, run: Run) -> bool:
        """Add a run with its domains, W, statistics and scores; return False if the store has it."""
        return bool(self.add_packed(pack([run])))

    def add_packed(self, packed: Packed) -> set[str]:
        """Add the runs of `pack` that are new, and return their keys."""
        return self._database.write(lambda connection: put_runs(connection, packed))

    def delete(self, **filters: Unpack[Filters]) -> int:
        """Delete all runs with matching experiences, and return their number; see `Filters`.

        At least one filter is required. The suggestions of deleted runs become open again.
        """
        where = conditions(filters)
        if not where:
            raise InvalidInputError("delete requires at least one filter, got none")
        with self._database.writing(exclusive=True) as connection:
            keys = set(connection.execute(matching(where, runs.c.key)).scalars())
            delete_rows(connection, runs.c.key, keys)
        return len(keys)

    def merge(self, source: ExperienceStore) -> Merged:
        """Copy everything from another store that this one does not have, except damaged parts."""
        return merge(self._database, source._database)

    def check(self) -> list[str]:
        """Read and verify all content, and return a sentence for each problem."""
        problems: list[str] = []
        try:
            with self._database.reading() as connection, as_corrupt("a key"):
                problems.extend(find_problems(connection))
        except StoreCorruptError as error:  # too damaged to read on
            problems.append(str(error))
        return problems

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def __enter__(self) -> ExperienceStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ExperienceStore({self._database.address.shown!r})"

    def __deepcopy__(self, memo: dict[int, object]) -> ExperienceStore:
        """Return the store itself: a copy, such as `sklearn.base.clone` makes, has the same records."""
        return self

    def __reduce__(self) -> tuple[object, ...]:
        if self._database.address.kind == "memory":
            raise StoreError("a store in memory cannot be pickled; use an SQLite file instead")
        return partial(open_store, create=False), (self.url,)
