"""Collection: what two processes gain, and what the store takes of the time."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.data import photo_sketch_pairs
from benchmarks.timing import table
from l2t import collect, open_store

PAIRS = 12


class Timed:
    """A store that counts the seconds spent in it."""

    def __init__(self, store) -> None:
        self.store, self.seconds = store, 0.0

    def keys(self, keys):
        """Ask the store which runs are there."""
        start = time.perf_counter()
        found = self.store.keys(keys)
        self.seconds += time.perf_counter() - start
        return found

    def add(self, run):
        """Add a run."""
        start = time.perf_counter()
        added = self.store.add(run)
        self.seconds += time.perf_counter() - start
        return added


def run() -> str:
    pairs, what = photo_sketch_pairs(PAIRS)
    rows, rates = [], []
    with tempfile.TemporaryDirectory() as folder:
        for jobs in (1, 2):
            if jobs > 1:  # start the processes before the clock
                with open_store("memory://") as store:
                    collect(pairs[:2], store, algorithms=["gfk"], n_jobs=jobs, progress=False)
            with open_store(Path(folder) / f"{jobs}.db") as store:
                timed = Timed(store)
                told = collect(pairs, timed, n_jobs=jobs, progress=False)
                rates.append(store.count() / told.seconds)
            share = timed.seconds / told.seconds
            rows.append((jobs, f"{told.seconds:.1f}", f"{rates[-1]:.0f}", f"{100 * share:.1f} %"))
    return (
        f"## Collection of {PAIRS} pairs, all eight algorithms, nine label counts\n\n"
        f"Data: {what}. Two processes reach **{rates[1] / rates[0]:.2f} times** the experiences a second of "
        "one (the goal is 1.7); the store's own share of the time should stay below 3 %.\n\n"
        + table(("processes", "seconds", "experiences a second", "share of the store"), rows)
    )
