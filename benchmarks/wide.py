"""Very many sparse features, of few rows and of many."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.figures import Figure
from benchmarks.memory import alone, peak_memory
from l2t import Domain, DomainPair, infer, predict

#: Features, and at most so many seconds.
SIZES = ((20_000, 1.0), (200_000, 3.0))
SOURCE, TARGET, WORDS = 400, 200, 100
WAYS = {"infer": "infer", "predict": "predict", "shared": "predict, shared classes"}
#: Rows of the source and of the target, their features, and at most so many MiB for any number of rows.
ROWS, FEATURES, MOST = (1000, 3000, 10_000), 100_000, 1024
ROW_WAYS = WAYS | {"unlabelled": "predict, shared classes, no target labels"}


def run(sizes: tuple[tuple[int, float], ...] = SIZES) -> dict[str, Any]:
    rows, figures = [], []
    for m, most in sizes:
        dense = round(8 * (SOURCE + TARGET) * m / 2**20)
        for name, what in WAYS.items():
            found = alone(f"from benchmarks.wide import measure; measure({m}, {name!r})")
            more, seconds = found["more"], found["seconds"]
            rows.append((what, f"{m:,}", f"{seconds:.2f}", f"{more:.0f}", f"{dense}"))
            size = f"{SOURCE} + {TARGET} x {m:,} sparse"
            if name == "infer":
                beside = f"{more:.0f} MiB more than before; X would be {dense}"
                figures.append(Figure(f"{what}, {size}", seconds, most, "s", beside=beside))
            else:
                beside = f"{seconds:.2f} s; the goal is X made dense"
                figures.append(Figure(f"{what}, {size}, memory", more, dense, "MiB", False, beside))
    many = []
    for name, what in ROW_WAYS.items():
        for n in ROWS:
            code = f"measure({FEATURES}, {name!r}, {n}, {n})"
            found = alone(f"from benchmarks.wide import measure; {code}")
            more, seconds = found["more"], found["seconds"]
            dense = round(16 * n * FEATURES / 2**20)
            many.append((what, f"{n:,} + {n:,}", f"{seconds:.1f}", f"{more:.0f}", f"{dense:,}"))
        size = f"{n:,} + {n:,} x {FEATURES:,} sparse"
        beside = f"{seconds:.1f} s; X would be {dense:,}"
        figures.append(Figure(f"{what}, {size}, memory", more, MOST, "MiB", beside=beside))
    shape = {"ns": SOURCE, "nt": TARGET, "words": WORDS, "m": f"{FEATURES:,}"}
    return {**shape, "rows": rows, "many": many, "figures": figures}


def measure(m: int, way: str, n_source: int = SOURCE, n_target: int = TARGET) -> None:
    """Print what one of `ROW_WAYS` takes, and the memory that it adds."""
    rng = np.random.default_rng(0)

    def domain(codes: np.ndarray, features: int, n_labelled: int) -> Domain:
        ours = (997 * codes[:, None] + rng.integers(0, 400, (len(codes), WORDS // 2))) % features
        columns = np.hstack([ours, rng.integers(0, features, (len(codes), WORDS // 2))])
        places = np.repeat(np.arange(len(codes)), WORDS), columns.ravel()
        X = sparse.csr_array((rng.random(columns.size), places), shape=(len(codes), features))
        return Domain(X, codes, labeled=np.arange(len(codes)) < n_labelled)

    def action(n_source: int, n_target: int, features: int) -> Callable[[], Any]:
        shared = way in ("shared", "unlabelled")
        source = domain(np.arange(n_source) % 8, features, n_source)
        n_labelled = 0 if way == "unlabelled" else 20
        target = domain(np.arange(n_target) % 4 + 8 * (not shared), features, n_labelled)
        if way == "infer":
            return lambda: infer(DomainPair(source, target), n_labels=20, n_classes=4)
        return lambda: predict(source, target)

    action(TARGET // 2, TARGET // 4, 5000)()  # what a first call imports
    measured = action(n_source, n_target, m)
    before, start = peak_memory(), time.perf_counter()
    measured()
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "more": peak_memory() - before}))
