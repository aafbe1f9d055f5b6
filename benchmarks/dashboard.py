"""The dashboard on a store of a million experiences: the time of every page and route, and twenty visitors.

``L2T_BENCH_SECONDS`` makes the visit of the twenty shorter than twenty seconds.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.figures import Figure
from benchmarks.store import fill_store
from l2t import open_store
from tools.dashboards import serve_dashboard

GOAL_MS = 100
VISITORS = 20
SECONDS = float(os.environ.get("L2T_BENCH_SECONDS", "20"))
PAGES = ("/", "/sources", "/experiences", "/learned", "/collections", "/agent")
ROUTES = (
    "/api/totals",
    "/api/distributions",
    "/api/gains",
    "/api/gains?by=name",
    "/api/facets",
    "/api/experiences",
    "/api/runs",
    "/api/runs?offset=50000",
    "/api/runs?order=improvement_ratio",
    "/api/runs?algorithm=gfk&n_labels=15&order=improvement_ratio",
    "/api/runs/{key}",
    "/api/runs/{key}/picture",
    "/api/reflections",
    "/api/reflections/default",
    "/api/reflections/default/assessment",
    "/api/forecast",
    "/api/domains",
    "/api/collections",
)


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.db"
        fill_store(f"sqlite:///{path}")
        with open_store(path) as store:
            total = store.count()
            (first,) = store.experiences(limit=1)
            key = first.run_key
        asked = [each.replace("{key}", key) for each in (*PAGES, *ROUTES)]
        with serve_dashboard(str(path)) as (_, address):
            port = urlsplit(address).port
            assert port is not None  # it is in every address
            rows = []
            for shown, route in zip((*PAGES, *ROUTES), asked, strict=True):
                times = [ask(port, route)[1] for _ in range(16)]
                middle = statistics.median(times[1:])
                rows.append((f"`{shown}`", f"{1e3 * times[0]:.0f}", f"{1e3 * middle:.1f}"))
            requests, errors, waits = visit_all(port, asked)
    slowest = max(rows, key=lambda row: float(row[2]))
    what = f"dashboard on {total:,} experiences, slowest route, median"
    return {
        "figures": [Figure(what, float(slowest[2]), GOAL_MS, "ms", beside=slowest[0])],
        "total": total,
        "goal": GOAL_MS,
        "slowest": float(slowest[2]),
        "rows": rows,
        "visitors": VISITORS,
        "seconds": SECONDS,
        "requests": requests,
        "errors": errors,
        "median": 1e3 * statistics.median(waits),
        "high": 1e3 * sorted(waits)[int(0.95 * len(waits))],
    }


def ask(port: int, address: str, content: Any = None) -> tuple[bool, float]:
    """Get an address, or post content to it; return whether all went well, and the seconds it took."""
    start = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        if content is None:
            connection.request("GET", address)
        else:
            json_header = {"content-type": "application/json"}
            connection.request("POST", address, json.dumps(content), json_header)
        answer = connection.getresponse()
        body = answer.read()
        if address.startswith("/api/"):
            json.loads(body)
        return answer.status in (200, 201), time.perf_counter() - start
    except (OSError, http.client.HTTPException, ValueError):
        return False, time.perf_counter() - start
    finally:
        connection.close()


def visit_all(
    port: int, addresses: list[str], seconds: float = SECONDS
) -> tuple[int, int, list[float]]:
    """Let 20 visitors ask for all addresses by turns; return answers, errors and seconds of each answer."""
    end = time.monotonic() + seconds
    outcomes: list[tuple[bool, float]] = []

    def visit(number: int) -> None:
        at = number
        while time.monotonic() < end:
            outcomes.append(ask(port, addresses[at % len(addresses)]))
            at += 1

    visitors = [threading.Thread(target=visit, args=(number,)) for number in range(VISITORS)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    return len(outcomes), sum(not good for good, _ in outcomes), [wait for _, wait in outcomes]
