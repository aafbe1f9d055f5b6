"""Run every section and write docs/results/benchmarks.md; name sections to run only those and print them."""

from __future__ import annotations

import os

from benchmarks.memory import THREADS

os.environ |= dict.fromkeys(THREADS, "1")  # before numpy is imported
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # a peer imports TensorFlow

import importlib
import platform
import sys
from pathlib import Path

import numpy
import scipy

from tools.reports import render

SECTIONS = (
    "tca",
    "eight",
    "features",
    "sparse_codes",
    "graph",
    "conjugate_gradient",
    "objective",
    "inference",
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
        measured[name] = importlib.import_module(f"benchmarks.{name}").run()
    text = render(
        ROOT / "benchmarks" / "templates" / "benchmarks.md",
        machine=platform.machine(),
        python=platform.python_version(),
        numpy=numpy.__version__,
        scipy=scipy.__version__,
        **measured,
    )
    print(text)
    if not chosen:
        RESULTS.write_text(text)
        print(f"written to {RESULTS}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
