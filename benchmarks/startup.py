"""Startup time: the help text, the import, and the imports of a first inference."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from benchmarks.figures import Figure
from benchmarks.timing import best_of

#: What is run, and at most so many seconds, the interpreter included.
COMMANDS = {
    "`l2t --help`": (["-m", "l2t", "--help"], 0.2),
    "`import l2t`": (["-c", "import l2t"], 0.15),
    "`l2t.infer`, imported": (["-c", "import l2t; l2t.infer"], 1.0),
}


def run() -> dict[str, Any]:
    bare = _seconds(["-c", ""])
    beside = f"bare Python: {bare:.2f} s"
    measured = {what: (_seconds(given), goal) for what, (given, goal) in COMMANDS.items()}
    return {
        "figures": [
            Figure(what, seconds, goal, "s", beside=beside)
            for what, (seconds, goal) in measured.items()
        ]
    }


def _seconds(given: list[str]) -> float:
    command = [sys.executable, *given]
    return best_of(lambda: subprocess.run(command, check=True, capture_output=True))[0]
