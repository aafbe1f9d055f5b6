"""Memory, and measurements in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

__all__ = ["alone", "peak_memory"]


def alone(code: str) -> dict[str, float]:
    """Run a statement in a fresh process, and return the JSON object that it prints."""
    root = Path(__file__).parents[1]
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def peak_memory() -> float:
    """Return the most memory the process had so far, in MiB.

    Not `ru_maxrss`: Linux starts that of a child at what its parent had.
    """
    status = Path("/proc/self/status").read_text().split("VmHWM:")[1]
    return int(status.split()[0]) / 1024
