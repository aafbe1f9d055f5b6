"""The command line, as a person types it."""

from __future__ import annotations

import subprocess
import sys

from typer.testing import CliRunner

from l2t import __version__
from l2t.interfaces.cli import app

runner = CliRunner()


def test_version_and_help():
    assert runner.invoke(app, ["--version"]).stdout == f"l2t {__version__}\n"
    shown = runner.invoke(app, ["--help"]).stdout
    assert "demo" in shown
    assert "reproduce" in shown


def test_demo_prints_a_table_of_all_eight(tmp_path):
    picture = tmp_path / "ratios.png"
    result = runner.invoke(app, ["demo", "--pairs", "2", "--plot", str(picture)])
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    for name in ("tca", "itl", "cmf", "lsdt", "stl", "dip", "sie", "gfk", "1 means"):
        assert name in result.stdout


def test_help_does_not_wait_for_numpy():
    code = "import sys, l2t.interfaces.cli.main; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
