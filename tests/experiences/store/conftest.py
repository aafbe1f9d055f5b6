"""A real PostgreSQL server, and real processes, for the tests of the store."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def postgres_server():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of platformdirs, about a directory that nobody set
        import pgserver

    folder = tempfile.mkdtemp(prefix="l2t-postgres-")  # sockets need a short path
    server = pgserver.get_server(folder, cleanup_mode="delete")
    yield server
    server.cleanup()


@pytest.fixture(scope="session")
def postgres(postgres_server):
    """A function that gives the URL of a new, empty schema."""
    numbers = itertools.count()

    def schema() -> str:
        name = f"store{next(numbers)}"
        postgres_server.psql(f"CREATE SCHEMA {name};")
        return f"{postgres_server.get_uri()}&options=-csearch_path%3D{name}"

    return schema


@pytest.fixture
def writers():
    """A function that runs one case of ``writers.py`` in a process of its own, and gives what it said."""

    def run(case: str, url: str) -> str:
        script = Path(__file__).with_name("writers.py")
        command = [sys.executable, str(script), case, url]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout.strip()

    return run
