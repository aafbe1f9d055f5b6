"""Run every section and write docs/results/benchmarks.md; name sections to run only those."""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # a peer imports TensorFlow

import importlib  # noqa: E402
import platform  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

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
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "benchmarks.md"


def main(chosen: list[str]) -> None:
    import numpy
    import scipy

    machine = f"{platform.machine()}, Python {platform.python_version()}"
    parts = [
        "# Speed\n\nMade by `make bench`: one thread, best of several runs, everything in one "
        f"process and one run ({machine}, numpy {numpy.__version__}, scipy {scipy.__version__})."
    ]
    for name in chosen or SECTIONS:
        text = importlib.import_module(f"benchmarks.{name}").run()
        print(text, end="\n\n", flush=True)
        parts.append(text)
    if not chosen:
        RESULTS.write_text("\n\n".join(parts) + "\n")
        print(f"written to {RESULTS.relative_to(Path.cwd())}", file=sys.stderr)


main(sys.argv[1:])
