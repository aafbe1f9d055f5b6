"""The site: built without a warning and without a network, from the commands and docstrings as they are."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

import l2t
from l2t.interfaces.cli import main

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--fresh-env"]
    options += ["--define", "plot_gallery=0"]  # tests/docs/test_gallery.py runs the scripts
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, "docs", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


def text(page):
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text()))


def test_the_command_reference_is_what_the_commands_say(site, monkeypatch, capsys):
    page = " ".join(text(site / "reference" / "commands.html").split())
    listed, waiting = set(), [()]
    while waiting:
        words = waiting.pop()
        monkeypatch.setattr(sys, "argv", ["l2t", *words, "--help"])
        with pytest.raises(SystemExit):
            main()
        shown = capsys.readouterr().out
        assert " ".join(shown.split()) in page, f"l2t {' '.join(words)}"
        commands = shown.partition("\nCommands:\n")[2].partition("\n\n")[0]
        waiting += [(*words, name) for name in re.findall(r"^  (\S+)  ", commands, re.MULTILINE)]
        listed.add(words)
    assert {("transfer",), ("store", "ls"), ("demo",)} < listed


def test_the_python_reference_has_a_page_of_every_public_name(site):
    pages = {page.stem.rpartition(".")[2] for page in (site / "reference" / "generated").iterdir()}
    modules = {name for name in l2t.__all__ if hasattr(getattr(l2t, name), "__path__")}
    assert set(l2t.__all__) - modules - {"__version__", "testing"} <= pages


def test_nothing_comes_from_elsewhere(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(https?:[^"]+)"', page.read_text()
        )
        assert loaded == [], page
    assert "<math" in (site / "concepts.html").read_text()
