"""A store of 50,000 experiences: listing, filtering, counting, opening."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import best_of
from l2t import Domain, DomainPair, KernelBank, PairStatistics, open_store
from l2t.algorithms import PAPER
from l2t.experiences import LABEL_COUNTS, Run, Score

EXPERIENCES = 50_000
GOAL_MS = 100


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.db"
        with open_store(path) as store:
            seconds = best_of(lambda: fill_store(store), 1)[0]
            total = store.count()
            middle = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=total / 18)
            queries = {
                "first page of 50": lambda: _page(store),
                "page in the middle": lambda: _page(store, offset=total // 2),
                "last page": lambda: _page(store, offset=total - 50),
                "newest first": lambda: _page(store, descending=True),
                "one algorithm, 15 labels": lambda: _page(store, algorithm="gfk", n_labels=15),
                "one domain": lambda: _page(store, domain="source 7"),
                "since a time": lambda: _page(store, since=middle),
                "count all": lambda: store.count(),
                "count one algorithm": lambda: store.count(algorithm="gfk"),
                "count done since a time": lambda: store.count(status="done", since=middle),
            }
            rows = [(what, f"{1e3 * best_of(query, 5)[0]:.1f}") for what, query in queries.items()]
        rows.append(
            ("open the store", f"{1e3 * best_of(lambda: open_store(path).close(), 5)[0]:.1f}")
        )
        size = path.stat().st_size
    return {
        "total": total,
        "seconds": seconds,
        "size": size / 2**20,
        "goal": GOAL_MS,
        "rows": rows,
    }


def _page(store, **filters):
    return list(islice(store.experiences(limit=50, **filters), 50))


def fill_store(store) -> None:
    rng = np.random.default_rng(0)
    bank = KernelBank()
    domains = [Domain(rng.normal(size=(30, 4)), np.arange(30) % 3) for _ in range(40)]
    for index in range(EXPERIENCES // len(LABEL_COUNTS)):
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
