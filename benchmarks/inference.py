"""A whole inference, beside running all eight algorithms; and what searching a sample of the rows changes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from benchmarks.data import feature_pair, photo_sketch_pair
from benchmarks.memory import alone, peak_memory
from benchmarks.timing import best_of
from l2t import DomainPair, algorithms, infer

GOAL = 1.0
LARGE, LARGE_FEATURES, MEMORY = 5000, 1280, 4.0


def run() -> dict[str, Any]:
    large = f"from benchmarks.inference import measure; measure({LARGE}, {LARGE_FEATURES})"
    return {
        **_whole(),
        "large": {"n": LARGE, "m": LARGE_FEATURES, "goal": MEMORY, **alone(large)},
        "sampled": _sampled(),
    }


def _whole() -> dict[str, Any]:
    pair, what = photo_sketch_pair()

    def fresh() -> DomainPair:
        return DomainPair(pair.source, pair.target)  # so that the span is computed again

    def all_eight() -> None:
        again = fresh()
        for name in algorithms.names():
            algorithms.make(name).fit(again)

    return {
        "what": what,
        "ns": len(pair.source),
        "nt": len(pair.target),
        "m": pair.n_features,
        "goal": GOAL,
        "default": best_of(lambda: infer(fresh(), n_labels=15), 5)[0],
        "literal": best_of(lambda: infer(fresh(), constraint="grassmann"), 5)[0],
        "eight": best_of(all_eight, 2)[0],
    }


def _sampled() -> list[tuple[int, str, str]]:
    """Return what searching a sample of the rows changes."""
    pair = feature_pair(1000, 1000, 256)
    whole = infer(pair, n_labels=15)
    rows = []
    for size in (125, 250, 500):
        found = infer(pair, n_labels=15, max_rows=size)
        angle = _angle(whole.W, found.W)
        rows.append((size, f"{found.predicted:.3f}", f"{angle:.2f}"))
    rows.append((1000, f"{whole.predicted:.3f}", "1.00"))
    return rows


def _angle(A: np.ndarray, B: np.ndarray) -> float:
    """Return the cosine between A A' and B B'."""
    inner = np.linalg.norm(A.T @ B) ** 2
    return float(inner / (np.linalg.norm(A.T @ A) * np.linalg.norm(B.T @ B)))


def measure(n: int, m: int) -> None:
    """Print what a large pair takes."""
    pair = feature_pair(n, n, m)
    seconds = best_of(lambda: infer(pair, n_labels=15), 1)[0]
    print(json.dumps({"seconds": seconds, "peak": peak_memory()}))
