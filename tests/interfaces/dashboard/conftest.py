"""A store made by the tests, and a dashboard on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

import l2t
from l2t.experiences import ExperienceStore
from l2t.interfaces.dashboard.app import create_app
from l2t.interfaces.dashboard.settings import Settings
from tools.dashboards import find_chromium, open_chromium, serve_dashboard

LABEL_COUNTS = (3, 15, 30)
HERE = "http://127.0.0.1:8765"


def make_domain(seed: int, name: str, *, rows: int = 60, classes: int = 3) -> l2t.Domain:
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    X = rng.normal(size=(classes, 8))[y] * 2 + rng.normal(size=(rows, 8))
    return l2t.Domain(X, [f"{name} {code}" for code in y], name=name)


@pytest.fixture(scope="session")
def store_path(tmp_path_factory) -> Path:
    """A store with runs of three algorithms on nine pairs, three of which fail."""
    path = tmp_path_factory.mktemp("dashboard") / "experiences.db"
    sources = [make_domain(seed, f"photos[{seed}]") for seed in range(3)]
    targets = [make_domain(seed, f"sketches[{seed}]") for seed in range(10, 13)]
    pairs = [l2t.DomainPair(source, target) for source in sources for target in targets]
    bare = l2t.Domain(sources[0].X, name="bare")
    options = {"label_counts": LABEL_COUNTS, "n_draws": 3, "n_components": 4, "progress": False}
    with l2t.open_store(path) as store:
        l2t.collect(pairs, store, algorithms=["gfk", "tca", "stl"], **options)
        unlabelled = [l2t.DomainPair(bare, target) for target in targets]
        l2t.collect(unlabelled, store, algorithms=["itl"], **options)
    return path


@pytest.fixture(scope="session")
def store(store_path) -> Iterator[ExperienceStore]:
    with l2t.open_store(store_path) as opened:
        yield opened


@contextmanager
def _visiting(store: ExperienceStore, **settings: object) -> Iterator[TestClient]:
    """Give a client of a dashboard, as it is on this machine."""
    app = create_app(store, Settings(**settings))  # type: ignore[arg-type]
    with TestClient(app, base_url=HERE, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="session")
def visiting():
    """Give a function that visits the dashboard of a store with some settings."""
    return _visiting


@pytest.fixture(scope="session")
def client(store) -> Iterator[TestClient]:
    with _visiting(store) as visitor:
        yield visitor


@pytest.fixture(scope="session")
def done_key(store) -> str:
    """The key of a run that was done."""
    return next(iter(store.experiences(status="done", limit=1))).run_key


@pytest.fixture(scope="session")
def failed_key(store) -> str:
    return next(iter(store.experiences(status="failed", limit=1))).run_key


@pytest.fixture(scope="session")
def files(tmp_path_factory) -> Path:
    """A source and a target to upload, the target with ten labels that are known."""
    folder = tmp_path_factory.mktemp("files")
    l2t.write_domain(make_domain(1, "source", rows=90), folder / "source.csv")
    target = make_domain(2, "target", rows=75)
    l2t.write_domain(target, folder / "target.npz")
    l2t.write_domain(target, folder / "target.parquet")
    rows = [
        ",".join([*map(repr, row.tolist()), label if i < 10 else ""])
        for i, (row, label) in enumerate(zip(target.X, target.y, strict=True))
    ]
    header = ",".join([*(f"x{i}" for i in range(8)), "label"])
    (folder / "few.csv").write_text("\n".join([header, *rows]) + "\n")
    return folder


@pytest.fixture(scope="session")
def messy(tmp_path_factory) -> Path:
    """A source and a target with ids, text, gaps, semicolons and decimal commas; 12 labels are known."""
    folder = tmp_path_factory.mktemp("messy")
    for seed, name, rows in ((1, "source", 90), (2, "target", 75)):
        domain = make_domain(seed, name, rows=rows)
        lines = [";".join(["id", "site", *(f"x{i}" for i in range(8)), "species"])]
        for i, (row, label) in enumerate(zip(domain.X, domain.y, strict=True)):
            cells = [f"{value:.4f}".replace(".", ",") for value in row]
            if i % 10 == 3:
                cells[i % 8] = "" if i % 20 == 3 else "unknown"
            known = name == "source" or i < 12
            lines.append(";".join([f"A{i:03d}", "north", *cells, label if known else ""]))
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def own_store(store, tmp_path_factory) -> Iterator[ExperienceStore]:
    """A copy of the store that a test may write to."""
    folder = tmp_path_factory.mktemp("own")
    with l2t.open_store(folder / "own.db") as copy:
        copy.merge(store)
        yield copy


@pytest.fixture(scope="session")
def server(store_path):
    """A dashboard as the command serves it: its process and its address."""
    with serve_dashboard(str(store_path)) as served:
        yield served


@pytest.fixture(scope="module")
def own_address(own_store) -> Iterator[str]:
    """The address of a dashboard whose store a test may write to."""
    with serve_dashboard(own_store.url) as (_, address):
        yield address


@pytest.fixture(scope="session")
def address(server) -> str:
    return server[1]


@pytest.fixture(scope="session")
def bare_address() -> Iterator[str]:
    """The address of a dashboard without a store."""
    with serve_dashboard(None) as (_, address):
        yield address


@pytest.fixture(scope="module")
def browser():
    found = find_chromium()
    if found is None:
        if os.environ.get("L2T_REQUIRE_BROWSER") == "1":
            pytest.fail("L2T_REQUIRE_BROWSER=1 asks for a Chromium, and there is none")
        pytest.skip("no Chromium on this machine; install it to test the dashboard in a browser")
    with open_chromium(found) as launched:
        yield launched
