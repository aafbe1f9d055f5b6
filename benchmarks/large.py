"""Many rows: `l2t predict` from parquet to parquet, compared with pandas copying the same file."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures import Figure
from benchmarks.memory import alone, peak_memory

#: Rows, features, and at most so many seconds and GB.
SIZES = ((30_000, 512, 20, 2), (100_000, 512, 40, 3), (1_000_000, 128, 180, 3))
CLASSES, SHOTS, SOURCE_ROWS = 10, 5, 2000


def run(sizes: tuple[tuple[int, int, float, float], ...] = SIZES) -> dict[str, Any]:
    rows, figures = [], []
    for n, m, most, memory in sizes:
        with tempfile.TemporaryDirectory() as folder:
            found = {
                name: alone(
                    f"from benchmarks.large import {name}; {name}({folder!r}, {n}, {m})",
                    one_thread=False,
                )
                for name in ("write", "predict", "copy")
            }
        ours, pandas = found["predict"], found["copy"]
        size = f"{n:,} x {m}"
        rows.append(
            (
                size,
                f"{ours['seconds']:.1f}",
                f"{ours['processor']:.1f}",
                f"{ours['peak'] / 1024:.2f}",
                f"{pandas['seconds']:.1f}",
                f"{pandas['peak'] / 1024:.2f}",
                f"{ours['accuracy']:.3f}",
            )
        )
        beside = f"pandas alone: {pandas['seconds']:.1f} s, {pandas['peak'] / 1024:.2f} GiB"
        figures.append(
            Figure(f"predict, {size} from parquet", ours["seconds"], most, "s", beside=beside)
        )
        figures.append(
            Figure(f"predict, {size}, memory", ours["peak"] / 1024, memory, "GiB", beside=beside)
        )
    return {"rows": rows, "figures": figures}


def write(folder: str, n: int, m: int) -> None:
    """Write a source and a target of other classes, with five labels each."""
    import pandas as pd

    rng = np.random.default_rng(0)
    means = 1.2 * rng.normal(size=(2 * CLASSES, m))
    mix = rng.normal(size=(m, m)) * (np.arange(1, m + 1) ** -0.5)[:, None]

    def frame(codes: np.ndarray) -> pd.DataFrame:
        X = np.empty((len(codes), m), np.float32)
        for at in range(0, len(codes), 20_000):
            some = codes[at : at + 20_000]
            X[at : at + 20_000] = means[some] + rng.normal(size=(len(some), m)) @ mix
        return pd.DataFrame(X, columns=[f"f{i}" for i in range(m)])

    ys, yt = rng.integers(0, CLASSES, SOURCE_ROWS), rng.integers(CLASSES, 2 * CLASSES, n)
    names = np.array([f"c{i}" for i in range(2 * CLASSES)], dtype=object)
    frame(ys).assign(label=names[ys]).to_parquet(Path(folder) / "source.parquet", index=False)
    labels = np.full(n, None, dtype=object)
    for code in range(CLASSES, 2 * CLASSES):
        labels[np.flatnonzero(yt == code)[:SHOTS]] = names[code]
    frame(yt).assign(label=labels).to_parquet(Path(folder) / "target.parquet", index=False)
    np.save(Path(folder) / "truth.npy", names[yt].astype(str))
    print("{}")


def predict(folder: str, n: int, m: int) -> None:
    """Print what the command takes, the imports included."""
    start, files = (
        time.perf_counter(),
        [f"{folder}/{name}.parquet" for name in ("source", "target", "out")],
    )
    from l2t.interfaces.cli import main

    sys.argv = ["l2t", "predict", *files[:2], "--label", "label", "-o", files[2], "--quiet"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    seconds, processor, peak = time.perf_counter() - start, time.process_time(), peak_memory()
    import pandas as pd

    found = pd.read_parquet(files[2], columns=["predicted"])["predicted"].to_numpy(dtype=str)
    accuracy = float(np.mean(found == np.load(f"{folder}/truth.npy")))
    print(
        json.dumps({"seconds": seconds, "processor": processor, "peak": peak, "accuracy": accuracy})
    )


def copy(folder: str, n: int, m: int) -> None:
    """Print what reading and writing take alone."""
    start = time.perf_counter()
    import pandas as pd

    pd.read_parquet(f"{folder}/target.parquet").to_parquet(f"{folder}/copy.parquet")
    print(json.dumps({"seconds": time.perf_counter() - start, "peak": peak_memory()}))
