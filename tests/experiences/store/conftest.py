"""Real processes, for the tests of the store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def writers(posix):
    """A function that runs one case of `writers.py` in its own process, and returns what it prints."""

    def run(case: str, url: str) -> str:
        command = [sys.executable, "-m", "tests.experiences.store.writers", case, url]
        root = Path(__file__).parents[3]
        # One that may not write cannot leave how much of the code it covered either.
        env = {name: os.environ[name] for name in os.environ if not name.startswith("COVERAGE_")}
        done = subprocess.run(
            command, cwd=root, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout.strip()

    return run
