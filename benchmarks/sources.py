"""Predictions from many sources with the classes of the target."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.figures import Figure
from l2t import Domain, predict

COUNTS = (1, 2, 4, 8, 16, 30)
ROWS, FEATURES, CLASSES = 300, 20, 4


def run(counts: tuple[int, ...] = COUNTS) -> dict[str, Any]:
    """Time predictions without target labels by the number of sources."""
    domains = _domains(max(counts) + 1)
    target, sources = Domain(domains[0].X), domains[1:]
    predict(sources[:2], target)  # what a first call imports
    seconds = {}
    for count in counts:
        start = time.perf_counter()
        predict(sources[:count], target)
        seconds[count] = time.perf_counter() - start
    first, last = counts[len(counts) // 2 - 1], counts[-1]
    figure = Figure(
        f"predict, {last} sources of {ROWS} rows, time per source relative to {first} sources",
        (seconds[last] / last) / (seconds[first] / first),
        1.0,
        beside=f"{seconds[last]:.1f} s and {seconds[first]:.1f} s",
    )
    rows = [
        (str(count), f"{value:.2f}", f"{value / count:.2f}") for count, value in seconds.items()
    ]
    return {"rows": rows, "n": ROWS, "m": FEATURES, "classes": CLASSES, "figures": [figure]}


def _domains(count: int) -> list[Domain]:
    """Return domains of the same classes, each shifted in its own direction."""
    rng = np.random.default_rng(0)
    means = 3.0 * np.eye(FEATURES)[:CLASSES]
    domains = []
    for _ in range(count):
        codes = rng.integers(0, CLASSES, ROWS)
        shift = 0.3 * rng.normal(size=FEATURES)
        domains.append(Domain(means[codes] + shift + rng.normal(size=(ROWS, FEATURES)), codes))
    return domains
