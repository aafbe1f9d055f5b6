"""What the documents show runs, and what they link to exists."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import l2t

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


SHOWN = {
    "README.md": (
        "LatentFactors(gfk, metric, W 64 x 40, stopped: closed-form)",
        "Collection(done=4, failed=0, already_there=0",
    ),
    "CONTRIBUTING.md": (),
}


@pytest.mark.parametrize("document", SHOWN)
def test_the_python_of_the_documents_runs(document, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, document, "exec"), {"__name__": "builtins"})
    shown = capsys.readouterr().out
    for text in SHOWN[document]:
        assert text in shown


@pytest.mark.parametrize("script", sorted(ROOT.glob("examples/*.py")), ids=lambda path: path.stem)
def test_examples_run(script, tmp_path):
    written = runpy.run_path(str(script))["main"](tmp_path)
    read = l2t.read_domain(written, label="digit", labeled="labeled")
    assert read.X.shape[1] == 20
    assert 0 < read.labeled.sum() < len(read)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
        assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_notation_names_files_that_exist():
    for name in re.findall(r"`(\w+/\w+\.py)`", (ROOT / "docs" / "notation.md").read_text()):
        assert (ROOT / "src" / "l2t" / name).exists(), name


def test_every_decision_is_listed():
    listed = (ROOT / "docs" / "adr" / "README.md").read_text()
    for page in ROOT.glob("docs/adr/[0-9]*.md"):
        assert f"({page.name})" in listed
