"""Labelling 100,000 rows: the time of a label and of pages of rows, and twenty visitors for a minute.

``L2T_BENCH_SECONDS`` makes their visit shorter.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from benchmarks.dashboard import GOAL_MS, VISITORS, ask, visit_all
from benchmarks.figures import Figure
from tools.dashboards import serve

SECONDS = float(os.environ.get("L2T_BENCH_SECONDS", "60"))
ROWS, LABELLED, ASKED = 100_000, 24, 16
NAMES = np.array(["cat", "dog", "owl", "lark"])
PAGES = (
    "rows?page=4000",
    "rows?search=gate",
    "rows?search=A09999",
    "rows?order=probability&page=2000",
    "rows?predicted=cat&disagrees=true",
)


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "animals.csv"
        _write_table(path)
        with serve("label", str(path), "--label", "species") as (_, address):
            port = urlsplit(address).port
            assert port is not None  # it is in every address
            while (state := _state(port))["prediction"] is None or state["renewing"]:
                time.sleep(0.5)
            routes = [f"/api/predictions/{state['prediction']}/{page}" for page in PAGES]
            routes.append("/api/labelling")
            rows = [
                _median(name, [ask(port, route) for _ in range(ASKED)])
                for name, route in zip([*PAGES, "the next rows to label"], routes, strict=True)
            ]
            # Fewer labels than lead to the next prediction, which would run beside them.
            labels = [{"row": 50 + number, "label": "cat"} for number in range(9)]
            given = [ask(port, "/api/labelling/labels", label) for label in labels]
            rows.append(_median("a label, on the disk", given))
            requests, errors, waits = visit_all(port, routes, SECONDS)
    slowest = max(rows, key=lambda row: row[1])
    what = f"labelling {ROWS:,} rows, slowest request, median"
    return {
        "figures": [Figure(what, slowest[1], GOAL_MS, "ms", beside=slowest[0])],
        "n_rows": ROWS,
        "rows": [(name, f"{value:.1f}") for name, value in rows],
        "visitors": VISITORS,
        "seconds": SECONDS,
        "requests": requests,
        "errors": errors,
        "median": 1e3 * statistics.median(waits),
        "high": 1e3 * sorted(waits)[int(0.95 * len(waits))],
    }


def _write_table(path: Path) -> None:
    """Write rows with an id, a text, a category and six numbers, of which the first few have a label."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, len(NAMES), ROWS)
    notes = np.array(["on the sofa", "at the gate", "in the night", "at dawn"])
    frame = pd.DataFrame({"id": [f"A{row:06d}" for row in range(ROWS)], "note": notes[codes]})
    for place in range(6):
        frame[f"x{place}"] = rng.normal(size=ROWS) + 1.5 * (codes == place % len(NAMES))
    frame["place"] = np.array(["north", "south", "east"])[rng.integers(0, 3, ROWS)]
    frame.loc[::9, "x1"] = None
    frame["species"] = np.where(np.arange(ROWS) < LABELLED, NAMES[codes], "")
    frame.to_csv(path, index=False)


def _state(port: int) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    connection.request("GET", "/api/labelling")
    state: dict[str, Any] = json.loads(connection.getresponse().read())
    connection.close()
    return state


def _median(name: str, answers: list[tuple[bool, float]]) -> tuple[str, float]:
    """Return a name and the median milliseconds of answers, none of which may be an error."""
    assert all(good for good, _ in answers), name
    return f"`{name}`", 1e3 * statistics.median(seconds for _, seconds in answers)
