"""Run every section and write docs/results/benchmarks.md; name sections to run only those and print them.

The report begins with every figure that has a goal, and ends with a list of what falls short.
"""

from __future__ import annotations

import os

from benchmarks.memory import THREADS

os.environ |= dict.fromkeys(THREADS, "1")  # before numpy is imported
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # a peer imports TensorFlow

import importlib
import platform
import sys
import time
from pathlib import Path

import numpy
import scipy

from l2t import __version__
from tools.reports import move_tables, render

SECTIONS = (
    "large",
    "streaming",
    "landmarks",
    "wide",
    "tables",
    "sources",
    "tca",
    "eight",
    "features",
    "sparse_codes",
    "graph",
    "conjugate_gradient",
    "objective",
    "inference",
    "growth",
    "statistics",
    "collection",
    "store",
    "learning",
    "startup",
    "dashboard",
)
ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results" / "benchmarks.md"


def main(chosen: list[str]) -> None:
    """Measure, and write or print the report."""
    measured = {}
    for name in chosen or SECTIONS:
        print(f"measuring {name} ...", file=sys.stderr)
        start = time.perf_counter()
        measured[name] = importlib.import_module(f"benchmarks.{name}").run()
        print(f"  {time.perf_counter() - start:.0f} s", file=sys.stderr)
    figures = [each for section in measured.values() for each in section.get("figures", ())]
    text = render(
        ROOT / "benchmarks" / "templates" / "benchmarks.md",
        version=__version__,
        machine=platform.machine(),
        python=platform.python_version(),
        numpy=numpy.__version__,
        scipy=scipy.__version__,
        processors=os.cpu_count(),
        figures=[each.row for each in figures],
        short=[each.sentence for each in figures if not each.holds],
        **measured,
    )
    print(text)
    if not chosen:
        RESULTS.write_text(move_tables(text, RESULTS))
        print(f"written to {RESULTS}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
