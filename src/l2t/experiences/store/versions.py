"""Versions of the tables: made, checked and upgraded by the same migrations.

A migration is a file ``r0001_....py`` under `MIGRATIONS`; its number is the version of the store.
Alembic runs them in one transaction, without a configuration file, and is imported only when there
is something to run.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, text

from l2t.exceptions import StoreCorruptError, StoreError, StoreVersionError
from l2t.experiences.store.address import Address
from l2t.experiences.store.database import Database
from l2t.experiences.store.schema import VERSION_TABLE, metadata

__all__ = ["newest", "prepare", "upgrade"]

MIGRATIONS = Path(__file__).parent / "migrations"
_ONE_AT_A_TIME = threading.Lock()  # `alembic.op` is one for the whole process


def newest() -> str:
    """Return the version that this code reads and writes."""
    return max(path.name[1:5] for path in (MIGRATIONS / "versions").glob("r*.py"))


def prepare(database: Database, *, create: bool) -> str:
    """Make the tables of a new store, or check that those of an existing one have this version."""
    address = database.address
    _check_path(address, create=create)
    with database.reading() as connection:
        found = _version(connection, address)
    if found is None:
        if not create:
            raise StoreError(f"there is no store at {address.shown}")
        with database.writing(alone=True) as connection:
            if _version(connection, address) is None:  # no other process was faster
                _migrate(connection)
            found = _version(connection, address)
    assert found is not None
    if found < newest():
        raise StoreVersionError(
            f"{address.shown} has version {found} and this code needs {newest()}: "
            f"run `l2t store upgrade {address.shown}`"
        )
    return found


def upgrade(database: Database) -> None:
    """Bring the tables to the newest version, in one transaction."""
    _check_path(database.address, create=False)
    with database.writing(alone=True) as connection:
        if _version(connection, database.address) is None:
            raise StoreError(f"there is no store at {database.address.shown}")
        _migrate(connection)


def _check_path(address: Address, *, create: bool) -> None:
    path = address.path
    if path is None:
        return
    if path.is_dir():
        raise StoreError(f"{address.shown} is a directory, not a file")
    if not create and not path.exists():
        raise StoreError(f"there is no store at {address.shown}")
    if not path.parent.is_dir():
        raise StoreError(f"{address.shown} cannot be made: its directory does not exist")


def _version(connection: Connection, address: Address) -> str | None:
    """Return the version of a complete store that is not too new, None where there is none yet."""
    tables = set(inspect(connection).get_table_names())
    if VERSION_TABLE not in tables:
        if address.kind == "sqlite" and tables:
            raise StoreError(
                f"{address.shown} is not an experience store, but another database: it has the "
                f"tables {', '.join(sorted(tables)[:3]):.200}"
            )
        return None
    found: Any = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    if found is not None and str(found) > newest():
        raise StoreVersionError(
            f"{address.shown} has version {found:.40} and this code knows versions up to {newest()}: "
            "upgrade the package with `pip install --upgrade l2t`"
        )
    missing = sorted(metadata.tables.keys() - tables) if found == newest() else []
    if found is None or missing:
        what = ", ".join(missing) or "the version number"
        raise StoreCorruptError(f"{address.shown} is incomplete: {what} missing")
    return str(found)


def _migrate(connection: Connection) -> None:
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(MIGRATIONS))

    def steps(revision: Any, _context: Any) -> Any:
        return script._upgrade_revs("head", revision)

    with _ONE_AT_A_TIME, EnvironmentContext(Config(), script, fn=steps) as environment:
        environment.configure(connection=connection, version_table=VERSION_TABLE)
        environment.run_migrations()
