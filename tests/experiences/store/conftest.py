"""Real processes, for the tests of the store."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def writers():
    """A function that runs one case of ``writers.py`` in a process of its own, and gives what it said."""

    def run(case: str, url: str) -> str:
        script = Path(__file__).with_name("writers.py")
        command = [sys.executable, str(script), case, url]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout.strip()

    return run
