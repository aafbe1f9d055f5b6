"""Few rows of very many sparse features."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.data import feature_pair
from benchmarks.figures import Figure
from benchmarks.memory import alone, peak_memory
from l2t import Domain, DomainPair, infer

#: Features, and at most so many seconds.
SIZES = ((20_000, 1.0), (200_000, 3.0))
SOURCE, TARGET, WORDS = 400, 200, 100


def run(sizes: tuple[tuple[int, float], ...] = SIZES) -> dict[str, Any]:
    rows, figures = [], []
    for m, most in sizes:
        found = alone(f"from benchmarks.wide import measure; measure({m})")
        dense = 8 * (SOURCE + TARGET) * m / 2**20
        rows.append((f"{m:,}", f"{found['seconds']:.2f}", f"{found['more']:.0f}", f"{dense:.0f}"))
        beside = f"{found['more']:.0f} MiB more than before; X would be {dense:.0f}"
        what = f"infer, {SOURCE} + {TARGET} x {m:,} sparse"
        figures.append(Figure(what, found["seconds"], most, "s", beside=beside))
    return {"ns": SOURCE, "nt": TARGET, "words": WORDS, "rows": rows, "figures": figures}


def measure(m: int) -> None:
    """Print what an inference takes, and the memory that it adds."""
    rng = np.random.default_rng(0)
    infer(feature_pair(60, 60, 8), n_labels=3)  # what a first call imports

    def domain(codes: np.ndarray) -> Domain:
        ours = (997 * codes[:, None] + rng.integers(0, 400, (len(codes), WORDS // 2))) % m
        columns = np.hstack([ours, rng.integers(0, m, (len(codes), WORDS // 2))])
        places = np.repeat(np.arange(len(codes)), WORDS), columns.ravel()
        return Domain(
            sparse.csr_array((rng.random(columns.size), places), shape=(len(codes), m)), codes
        )

    source, target = domain(np.arange(SOURCE) % 8), domain(8 + np.arange(TARGET) % 4)
    before, start = peak_memory(), time.perf_counter()
    infer(DomainPair(source, target), n_labels=20, n_classes=4)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "more": peak_memory() - before}))
