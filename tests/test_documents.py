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
        "Inference(transfer, predicted ",
        "LatentFactors(gfk, metric, W 64 x 40, stopped: closed-form)",
        "Collection(done=4, failed=0, already_there=0",
    ),
    "CONTRIBUTING.md": (),
}


@pytest.mark.parametrize("document", SHOWN)
def test_the_python_of_the_documents_runs(document, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, document, "exec"), {"__name__": "builtins"})
    shown = capsys.readouterr().out
    for text in SHOWN[document]:
        assert text in shown


def example(name):
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"]


def test_the_example_of_your_own_data(tmp_path):
    read = l2t.read_domain(example("own_data")(tmp_path), label="digit", labeled="labeled")
    assert read.X.shape[1] == 20
    assert 0 < read.labeled.sum() < len(read)


def test_the_example_of_a_pipeline():
    accuracy = example("pipeline")()
    assert accuracy["without transfer"] > 0.9
    assert min(accuracy.values()) > accuracy["without transfer"] - 0.02


def test_every_example_is_run():
    assert {path.stem for path in ROOT.glob("examples/*.py")} == {"own_data", "pipeline"}


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
