"""How long `l2t --help` takes, the interpreter included."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.timing import best_of, table

GOAL = 0.3


def run() -> str:
    command = [sys.executable, "-m", "l2t", "--help"]
    whole = best_of(lambda: subprocess.run(command, check=True, capture_output=True))[0]
    bare = best_of(lambda: subprocess.run([sys.executable, "-c", ""], check=True))[0]
    rows = [("`l2t --help`", f"{whole:.2f}"), ("bare Python", f"{bare:.2f}"), ("the goal", GOAL)]
    return "## Start-up\n\n" + table(("", "seconds"), rows)
