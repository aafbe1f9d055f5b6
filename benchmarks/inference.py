"""A whole inference, beside running all eight algorithms; and what searching a sample of the rows changes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from benchmarks.data import feature_pair, photo_sketch_pair
from benchmarks.timing import best_of, table
from l2t import DomainPair, algorithms, infer

GOAL = 1.0
LARGE, LARGE_FEATURES, MEMORY = 5000, 1280, 4.0


def run() -> str:
    return "\n\n".join([_whole(), _sampled()])


def _whole() -> str:
    pair, what = photo_sketch_pair()

    def fresh() -> DomainPair:
        return DomainPair(pair.source, pair.target)  # so that the span is computed again

    def all_eight() -> None:
        again = fresh()
        for name in algorithms.names():
            algorithms.make(name).fit(again)

    default = best_of(lambda: infer(fresh(), n_labels=15), 5)[0]
    literal = best_of(lambda: infer(fresh(), constraint="grassmann"), 5)[0]
    eight = best_of(all_eight, 2)[0]
    rows = [
        ("l2t.infer", f"{default:.2f}", "1.0"),
        ('l2t.infer, constraint="grassmann"', f"{literal:.2f}", f"{literal / default:.1f}"),
        ("all eight base algorithms, without choosing", f"{eight:.2f}", f"{eight / default:.1f}"),
    ]
    return (
        f"## A whole inference, {len(pair.source)} + {len(pair.target)} rows, {pair.n_features} features\n\n"
        f"Data: {what}. The joint span, the spectrum, the prediction and the verdict take "
        f"**{default:.2f} seconds** (the goal is {GOAL:.0f}).\n\n"
        + table(("", "seconds", "times"), rows)
    )


def _sampled() -> str:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(LARGE), str(LARGE_FEATURES)],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, peak = (float(word) for word in done.stdout.split())
    pair = feature_pair(1000, 1000, 256)
    whole = infer(pair, n_labels=15)
    rows = []
    for size in (125, 250, 500):
        found = infer(pair, n_labels=15, max_rows=size)
        angle = _angle(whole.W, found.W)
        rows.append((size, f"{found.predicted:.3f}", f"{angle:.2f}"))
    rows.append((1000, f"{whole.predicted:.3f}", "1.00"))
    return (
        f"### Large domains\n\n{LARGE} + {LARGE} rows, {LARGE_FEATURES} features: {seconds:.1f} seconds and "
        f"{peak:.2f} GiB at most (the goal is {MEMORY:.0f} GiB), the search seeing 1,000 random rows of each "
        "domain. What a sample changes, on a made pair of 1,000 + 1,000 rows and 256 features: the "
        "predicted ratio, and how much of the metric W W' of all rows is in that of the sample (their "
        "cosine).\n\n" + table(("rows of each domain", "predicted", "cosine"), rows)
    )


def _angle(A: np.ndarray, B: np.ndarray) -> float:
    """Return the cosine between A A' and B B'."""
    inner = np.linalg.norm(A.T @ B) ** 2
    return float(inner / (np.linalg.norm(A.T @ A) * np.linalg.norm(B.T @ B)))


_SCRIPT = """
import sys, time
from pathlib import Path
from benchmarks.data import feature_pair
from l2t import infer
n, m = int(sys.argv[1]), int(sys.argv[2])
pair = feature_pair(n, n, m)
start = time.perf_counter()
infer(pair, n_labels=15)
seconds = time.perf_counter() - start
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
print(seconds, int(peak.split()[1]) / 2**20)
"""
