"""How long `l2t --help` takes, the interpreter included."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from benchmarks.timing import best_of

GOAL = 0.3


def run() -> dict[str, Any]:
    command = [sys.executable, "-m", "l2t", "--help"]
    whole = best_of(lambda: subprocess.run(command, check=True, capture_output=True))[0]
    bare = best_of(lambda: subprocess.run([sys.executable, "-c", ""], check=True))[0]
    return {"whole": whole, "bare": bare, "goal": GOAL}
