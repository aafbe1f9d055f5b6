"""Creation, verification and migration of the tables; their version is the number of the last migration."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, text

from l2t.exceptions import StoreCorruptError, StoreError, StoreVersionError
from l2t.experiences.store.address import Address
from l2t.experiences.store.database import Database
from l2t.experiences.store.schema import VERSION_TABLE, metadata

MIGRATIONS = Path(__file__).parent / "migrations"
_ONE_AT_A_TIME = threading.Lock()  # `alembic.op` is global


def newest() -> str:
    """Return the version of the tables that this package reads and writes."""
    return max(path.name[1:5] for path in (MIGRATIONS / "versions").glob("r*.py"))


def ensure_tables(database: Database, *, create: bool, upgrade: bool = False) -> str:
    """Create or upgrade the tables of a store if allowed, and return their version."""
    address, path = database.address, database.address.path
    if path is not None and path.is_dir():
        raise StoreError(f"{address.shown} is a directory, not a file")
    if path is not None and create and not path.parent.is_dir():
        raise StoreError(f"{address.shown} cannot be created: its directory does not exist")
    version = None
    if path is None or path.exists():
        with database.reading() as connection:
            version = _version(connection, address)
    if version is None and not create:
        raise StoreError(f"there is no store at {address.shown}")
    if version is None or (upgrade and version < newest()):
        with database.writing(exclusive=True) as connection:
            _migrate(connection)  # does nothing if another process was faster
        version = newest()
    if version < newest():
        raise StoreVersionError(
            f"{address.shown} has version {version}, but this package needs {newest()}: "
            f"run `l2t store upgrade --store {address.shown}`"
        )
    return version


def _version(connection: Connection, address: Address) -> str | None:
    """Return the version of the tables, None if there are none; a StoreError if they cannot be used."""
    tables = set(inspect(connection).get_table_names())
    if VERSION_TABLE not in tables:
        if address.kind == "sqlite" and tables:
            raise StoreError(
                f"{address.shown} is not an experience store but another database, with the "
                f"tables {', '.join(sorted(tables)[:3]):.200}"
            )
        return None
    version: Any = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    if version is not None and str(version) > newest():
        raise StoreVersionError(
            f"{address.shown} has version {version:.40}, but this package supports up to {newest()}: "
            "upgrade the package with `pip install --upgrade l2t`"
        )
    missing = sorted(metadata.tables.keys() - tables) if version == newest() else []
    if version is None or missing:
        what = ", ".join(missing) or "the version number"
        raise StoreCorruptError(f"{address.shown} is incomplete, without {what}")
    return str(version)


def _migrate(connection: Connection) -> None:
    """Run the missing migrations; only this function needs Alembic."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(MIGRATIONS))

    def steps(revision: Any, _context: Any) -> Any:
        if revision:
            return script._upgrade_revs("head", revision)
        metadata.create_all(connection)  # a new store gets the newest tables directly
        return script._stamp_revs("head", revision)

    with _ONE_AT_A_TIME, EnvironmentContext(Config(), script, fn=steps) as environment:
        environment.configure(connection=connection, version_table=VERSION_TABLE)
        environment.run_migrations()
