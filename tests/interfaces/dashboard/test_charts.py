"""The drawing code in JavaScript, by its unit tests."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import l2t.interfaces.dashboard as dashboard

STATIC = Path(dashboard.__file__).parent / "static"


def test_the_drawing_code_by_the_test_runner_of_node(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine; install it to test the drawing code")
    major = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(major.removeprefix("v").partition(".")[0]) < 20:
        pytest.skip(
            f"node {major.strip()} is older than the browsers that are supported; 20 will do"
        )
    shutil.copytree(STATIC, tmp_path / "static")
    shutil.copy(Path(__file__).parent / "charts.test.mjs", tmp_path)
    (tmp_path / "static" / "package.json").write_text('{"type": "module"}')
    command = [node, "--test", "charts.test.mjs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
