"""The command line, as a person types it."""

from __future__ import annotations

import subprocess
import sys

from typer.testing import CliRunner

from l2t import __version__, write_domain
from l2t.domains import digits, mnist
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


def run_command(*arguments):
    command = [sys.executable, "-m", "l2t", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_errors_are_one_sentence_and_exit_code_1(tmp_path):
    for arguments, sentence in (
        (("reproduce", "office-caltech", "--data", "nowhere"), "nowhere"),
        (("demo", "--plot", "x.xyz"), "a figure must end in .png, .svg, .pdf, got 'x.xyz'"),
        (("demo", "--plot", "no/x.png"), "the folder of a figure must exist"),
        (("collect", "a.csv", "b.csv"), "a.csv"),
        (("store", "check", str(tmp_path / "absent.db")), "absent.db"),
    ):
        result = run_command(*arguments)
        assert result.returncode == 1, result
        assert result.stderr.startswith("l2t: ")
        assert sentence in result.stderr
        assert result.stderr.count("\n") == 1, result.stderr


def test_collect_goes_on_where_it_was(tmp_path):
    source, target = tmp_path / "digits.npz", tmp_path / "mnist.npz"
    write_domain(digits(), source)
    write_domain(mnist(), target)
    store = str(tmp_path / "experiences.db")
    options = ("--store", store, "--algorithms", "gfk, tca", "--per-class", "25", "--quiet")
    first = run_command("collect", str(source), str(target), "--pairs", "2", *options)
    assert "4 runs done, 0 failed, 0 were there already" in first.stdout, first
    again = run_command("collect", str(source), str(target), "--pairs", "3", *options)
    assert "2 runs done, 0 failed, 4 were there already" in again.stdout, again
    assert run_command("store", "check", store).stdout == "sound\n"
    exported = str(tmp_path / "experiences.zip")
    assert run_command("store", "export", store, exported).returncode == 0
    other = str(tmp_path / "other.db")
    assert run_command("store", "import", other, exported).stdout == "6 runs added\n"
    assert run_command("store", "import", other, exported).stdout == "0 runs added\n"
    assert run_command("store", "upgrade", other).stdout == "up to date\n"


def test_help_does_not_wait_for_numpy():
    code = "import sys, l2t.interfaces.cli; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
