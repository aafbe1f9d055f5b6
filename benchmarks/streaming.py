"""Rows without end: a model applied to a parquet data set, compared with pyarrow reading and writing it."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures import Figure
from benchmarks.memory import alone, peak_memory

#: Rows of the data sets, of which the last is compared with pyarrow; rows of a file, and features.
SIZES = (1_000_000, 2_000_000, 4_000_000)
FILE_ROWS, FEATURES = 250_000, 128
#: Rows for the model that `predict` chooses, and for one and several workers.
SOME = 500_000
WORKERS = (1, 2)
CLASSES, SHOTS = 10, 5
#: At most so many times the processor time of pyarrow, so much memory in GiB, and so many times its growth.
MOST_TIME, MOST_MEMORY, MOST_GROWTH = 2, 1.5, 1.1


def run(
    sizes: tuple[int, ...] = SIZES, some: int = SOME, file_rows: int = FILE_ROWS
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:

        def measured(call: str) -> dict[str, float]:
            return alone(f"from benchmarks import streaming; streaming.{call}", one_thread=False)

        measured(f"train({folder!r})")
        rows, peaks = [], []
        for n in sizes:
            measured(f"write({folder!r}, {n}, {file_rows})")
            ours = measured(f"apply({folder!r}, 'logistic', {n})")
            peaks.append(ours["peak"] / 1024)
            rows.append(("logistic regression", *_shown(n, ours)))
        pyarrow = measured(f"copy({folder!r}, {n}, ['id', 'predicted'])")
        rows.append(("pyarrow and one product", *_shown(n, pyarrow)))
        usual = measured(f"copy({folder!r}, {n}, True)")
        rows.append(("the same with its defaults", *_shown(n, usual)))
        measured(f"write({folder!r}, {some}, {file_rows})")
        rows.append(
            ("the model chosen", *_shown(some, measured(f"apply({folder!r}, 'auto', {some})")))
        )
        workers = [
            (count, *_shown(some, measured(f"on_dask({folder!r}, {count})"))[1:])
            for count in WORKERS
        ]
    ratio = ours["processor"] / pyarrow["processor"]
    beside = f"pyarrow: {n / pyarrow['processor']:,.0f} rows a second of one processor"
    size = f"{n:,} x {FEATURES}"
    figures = [
        Figure(f"apply, {size}, times pyarrow", ratio, MOST_TIME, beside=beside),
        Figure(f"apply, {size}, memory", peaks[-1], MOST_MEMORY, "GiB"),
        Figure(f"apply, memory of {n:,} rows to {sizes[0]:,}", peaks[-1] / peaks[0], MOST_GROWTH),
    ]
    return {"rows": rows, "workers": workers, "figures": figures, "features": FEATURES}


def _shown(n: int, found: dict[str, float]) -> tuple[str, ...]:
    """Return rows, seconds, seconds of processors, rows a second of one, and the peak in GiB."""
    seconds, processor = found["seconds"], found["processor"]
    peak = f"{found['peak'] / 1024:.2f}" if "peak" in found else "-"
    return f"{n:,}", f"{seconds:.1f}", f"{processor:.1f}", f"{n / processor:,.0f}", peak


def _rows(random_state: int, n: int, codes: np.ndarray) -> np.ndarray:
    """Return rows of some classes; these do not depend on the seed."""
    rng = np.random.default_rng(0)
    means = 1.2 * rng.normal(size=(2 * CLASSES, FEATURES))
    mix = rng.normal(size=(FEATURES, FEATURES)) * (np.arange(1, FEATURES + 1) ** -0.5)[:, None]
    noise = np.random.default_rng(random_state).normal(size=(n, FEATURES))
    return np.asarray(means[codes] + noise @ mix, dtype=np.float32)


def train(folder: str) -> None:
    """Save a model of logistic regression, and the one that `predict` chooses."""
    import pandas as pd

    import l2t

    rng, names = np.random.default_rng(1), [f"f{i}" for i in range(FEATURES)]
    ys, yt = rng.integers(0, CLASSES, 2000), rng.integers(CLASSES, 2 * CLASSES, 20_000)
    source = pd.DataFrame(_rows(1, len(ys), ys), columns=names), ys.astype(str)
    labels = np.full(len(yt), None, dtype=object)
    for code in range(CLASSES, 2 * CLASSES):
        labels[np.flatnonzero(yt == code)[:SHOTS]] = f"class {code}"
    target = pd.DataFrame(_rows(2, len(yt), yt), columns=names), labels
    for classifier in ("logistic", "auto"):
        found = l2t.predict(source, target, classifier=classifier)
        found.model.save(Path(folder) / f"{classifier}.l2t")
    print("{}")


def write(folder: str, n: int, file_rows: int) -> None:
    """Make the files of a data set that are not there yet; delete other files, and the output."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    shutil.rmtree(Path(folder) / "out", ignore_errors=True)
    data = Path(folder) / "data"
    data.mkdir(exist_ok=True)
    wanted = [data / f"part-{part:04d}.parquet" for part in range(n // file_rows)]
    for path in set(data.iterdir()) - set(wanted):
        path.unlink()
    for part, path in enumerate(wanted):
        if not path.exists():
            X = _rows(part, file_rows, np.random.default_rng(part).integers(10, 20, file_rows))
            columns = {f"f{i}": X[:, i] for i in range(FEATURES)}
            write_table(
                pa.table({"id": range(part * file_rows, (part + 1) * file_rows)} | columns), path
            )
    print("{}")


def apply(folder: str, name: str, n: int) -> None:
    """Print what `predict_dataset` takes in one process."""
    import l2t

    model = l2t.load_model(f"{folder}/{name}.l2t")
    start, processor = time.perf_counter(), time.process_time()
    done = model.predict_dataset(f"{folder}/data", f"{folder}/out", overwrite=True)
    assert done.n_rows == n
    _print(start, processor, peak=peak_memory())


def copy(folder: str, n: int, use_dictionary: bool | list[str]) -> None:
    """Print what pyarrow takes to read and write the same columns, with one product in between."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile, ParquetWriter

    W = np.random.default_rng(0).normal(size=(FEATURES, CLASSES)).astype(np.float32)
    labels = pa.array([f"class {code}" for code in range(CLASSES)])
    (Path(folder) / "copy").mkdir(exist_ok=True)
    start, processor = time.perf_counter(), time.process_time()
    for path in sorted(Path(folder, "data").iterdir()):
        file, writer = ParquetFile(path), None
        for batch in file.iter_batches(2**16):
            table = pa.Table.from_batches([batch])
            scores = np.column_stack([table[f"f{i}"] for i in range(FEATURES)]) @ W
            predicted = labels.take(pa.array(scores.argmax(axis=1)))
            table = table.append_column("predicted", predicted)
            table = table.append_column(
                "probability", pa.array(scores.max(axis=1).astype(np.float64))
            )
            target = Path(folder) / "copy" / path.name
            writer = writer or ParquetWriter(
                target, table.schema, use_dictionary=use_dictionary, write_page_checksum=True
            )
            writer.write_table(table)
        assert writer is not None
        writer.close()
    _print(start, processor, peak=peak_memory())


def on_dask(folder: str, count: int) -> None:
    """Print what a Dask cluster of some processes with one thread each takes, without its start."""
    from distributed import Client, LocalCluster

    import l2t

    model = l2t.load_model(f"{folder}/logistic.l2t")
    options = {"n_workers": count, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        client.run(time.process_time)
        before = sum(client.run(time.process_time).values())
        start = time.perf_counter()
        model.predict_dataset(f"{folder}/data", f"{folder}/out", overwrite=True, cluster=client)
        seconds = time.perf_counter() - start
        processor = sum(client.run(time.process_time).values()) - before
    print(json.dumps({"seconds": seconds, "processor": processor}))


def _print(start: float, processor: float, **more: float) -> None:
    spent = {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - processor,
    }
    print(json.dumps(spent | more))
