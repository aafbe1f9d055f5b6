"""Collection: what two processes gain, and what the store takes of the time."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.data import photo_sketch_pairs
from benchmarks.figures import Figure
from l2t import collect, open_store
from l2t.algorithms import PAPER
from l2t.experiences import collection

PAIRS = 12


class Timed:
    """A store that counts the seconds spent in it, and in packing runs for it in this process."""

    def __init__(self, store) -> None:
        self.seconds = 0.0
        self.keys = self._timed(store.keys)
        self.add_packed = self._timed(store.add_packed)
        self.note_collection = self._timed(store.note_collection)
        self.pack = self._timed(collection.pack)  # type: ignore[attr-defined]

    def _timed(self, function):
        def call(given):
            start = time.perf_counter()
            try:
                return function(given)
            finally:
                self.seconds += time.perf_counter() - start

        return call


def run() -> dict[str, Any]:
    pairs, what = photo_sketch_pairs(PAIRS)
    rows, rates = [], []
    with tempfile.TemporaryDirectory() as folder:
        for jobs in (1, 2):
            if jobs > 1:  # start the processes before the clock
                with open_store("memory://") as store:
                    collect(pairs[:2], store, algorithms=["gfk"], n_jobs=jobs, progress=False)
            with open_store(Path(folder) / f"{jobs}.db") as store:
                timed: Any = Timed(store)
                with patch.object(collection, "pack", timed.pack):
                    done = collect(pairs, timed, algorithms=PAPER, n_jobs=jobs, progress=False)
                rates.append(store.count() / done.seconds)
            share = timed.seconds / done.seconds
            rows.append((jobs, f"{done.seconds:.1f}", f"{rates[-1]:.0f}", f"{100 * share:.1f} %"))
    gain = rates[1] / rates[0]
    figures = [Figure("collect, two processes over one", gain, 1.9, "times", at_least=True)]
    return {"what": what, "pairs": PAIRS, "gain": gain, "rows": rows, "figures": figures}
