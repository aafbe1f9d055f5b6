"""Inference, with and without rehearsal, compared with all eight algorithms; and on a busy machine."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.data import feature_pair, many_class_pairs
from benchmarks.figures import Figure
from benchmarks.memory import alone, peak_memory
from benchmarks.timing import best_of
from l2t import algorithms
from l2t.inference import infer

SOURCE, TARGET, FEATURES = 3000, 240, 1280
GOALS = {"first": 3.0, "second": 0.5, "busy": 1.5, "memory": 4.0}
LARGE = 5000
BUSY = 3


def run(
    ns: int = SOURCE, nt: int = TARGET, m: int = FEATURES, large: int = LARGE
) -> dict[str, Any]:
    """Measure; each part in a process of its own, in which nothing is rehearsed yet."""
    calls = f"from benchmarks.inference import measure; measure({ns}, {nt}, {m})"
    once = f"from benchmarks.inference import measure_once; measure_once({ns}, {nt}, {m})"
    big = f"from benchmarks.inference import measure_large; measure_large({large}, {m})"
    quiet = alone(once, one_thread=False)
    with busy_processes(BUSY):
        busy = alone(once, one_thread=False)
    found, huge = alone(calls), alone(big)
    size, beside = f"{ns:,} + {nt} x {m}", f"all eight algorithms: {found['eight']:.1f} s"
    return {
        "figures": [
            Figure(
                f"infer, {size}, first call", found["first"], GOALS["first"], "s", beside=beside
            ),
            Figure(f"infer, {size}, second call", found["second"], GOALS["second"], "s"),
            Figure(
                f"infer, {size}, processor time beside {BUSY} busy processes",
                busy["processor"] / quiet["processor"],
                GOALS["busy"],
                "times",
                beside=f"quiet: {quiet['processor']:.2f} s",
            ),
            Figure(f"infer, {large} + {large} x {m}", huge["peak"] / 1024, GOALS["memory"], "GiB"),
        ],
        "what": many_class_pairs(1, ns, nt, m)[1],
        "ns": ns,
        "nt": nt,
        "m": m,
        "goals": GOALS,
        **found,
        "quiet": quiet["processor"],
        "busy": busy["processor"],
        "n_busy": BUSY,
        "large": {"n": large, **huge},
    }


def measure(ns: int, nt: int, m: int) -> None:
    """Print what a first and a second call take, the paper's method, and all eight algorithms."""
    (pair, other), _ = many_class_pairs(2, ns, nt, m)
    _load()
    seconds = {
        "first": best_of(lambda: infer(pair, n_labels=15), 1)[0],
        "second": best_of(lambda: infer(other, n_labels=15), 1)[0],
        "paper": best_of(lambda: infer(pair, method="paper"), 1)[0],
        "eight": best_of(lambda: [algorithms.make(a).fit(pair) for a in algorithms.PAPER], 1)[0],
    }
    print(json.dumps(seconds))


def measure_once(ns: int, nt: int, m: int) -> None:
    """Print the processor time of a first call."""
    (pair,), _ = many_class_pairs(1, ns, nt, m)
    _load()
    start = time.process_time()
    infer(pair, n_labels=15)
    print(json.dumps({"processor": time.process_time() - start}))


def measure_large(n: int, m: int) -> None:
    """Print what two large domains take."""
    pair = feature_pair(n, n, m)
    seconds = best_of(lambda: infer(pair, n_labels=15), 1)[0]
    print(json.dumps({"seconds": seconds, "peak": peak_memory()}))


@contextmanager
def busy_processes(n: int) -> Iterator[None]:
    """Keep n processors busy meanwhile."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def _load() -> None:
    """Import what a first call imports."""
    infer(feature_pair(60, 60, 8), n_labels=3)
