"""Memory, and measurements in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["THREADS", "alone", "peak_memory"]

#: What limits the threads of BLAS.
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def alone(code: str, *, one_thread: bool = True) -> dict[str, float]:
    """Run a statement in a fresh process, and return the JSON object that it prints.

    Parameters
    ----------
    code : str
        The statement.
    one_thread : bool, default=True
        Whether BLAS has one thread; otherwise as many as it takes by itself.
    """
    root = Path(__file__).parents[1]
    command = [sys.executable, "-c", code]
    environment = {name: value for name, value in os.environ.items() if name not in THREADS}
    if one_thread:
        environment |= dict.fromkeys(THREADS, "1")
    done = subprocess.run(
        command, cwd=root, env=environment, check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def peak_memory() -> float:
    """Return the most memory the process had so far, in MiB.

    Not `ru_maxrss`: Linux starts that of a child at what its parent had.
    """
    status = Path("/proc/self/status").read_text().split("VmHWM:")[1]
    return int(status.split()[0]) / 1024
