"""What the documents show runs, what they link to exists, and the site is built from the code as it is."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
import sklearn

import l2t
from l2t.interfaces.cli import main
from tools.readme import README, fill, without_figures

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parents[1]
#: Pages that are made when the site is built.
MADE = (ROOT / "docs" / "reference" / "commands.md", ROOT / "docs" / "gallery" / "index.rst")
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - set(MADE))
#: Documents with examples, and what these print; README.md shows all of it.
SHOWN = {
    "docs/index.md": ("(used)",),
    "docs/tutorial.md": (
        "ensemble",
        "times the accuracy without transfer",
        "Inference(",
        "same-class rows nearer in",
        "label spreading: ",
    ),
    "docs/paper-system.md": (
        "predicted improvement ratio ",
        "bias (the same for ",
        "ConvexReflection(",
        "chosen: ",
    ),
    "docs/guide/own-data.md": ("labelled rows, ", "measured "),
    "docs/guide/files.md": (),
    "docs/guide/tables.md": ("Columns: category: colour.", " right"),
    "docs/guide/shared-classes.md": ("without a target label: ", "with 50: "),
    "docs/guide/labelling.md": ("10 labels: ", "30 labels: "),
    "docs/guide/scikit-learn.md": ("expected", "of the target's rows are right"),
    "docs/guide/experience.md": (
        "24 runs done, 0 failed",
        "no damage found",
        "share of beta",
        "0 runs done, 0 failed, 24 already stored",
    ),
    "docs/guide/own-algorithm.md": ("Collection(done=2, failed=0, already_there=0",),
    "docs/guide/team.md": ("10 runs done, 0 failed", "10 runs added", "0 runs added"),
    "docs/guide/cluster.md": ("4 runs done, 0 failed",),
    "docs/guide/billion-rows.md": ("480 rows, 2 of 2 files were finished before",),
    "docs/guide/online.md": ("12",),
}


def blocks(document):
    """Yield the language and the text of each block of code, in order."""
    return re.findall(
        r"^```(\w+)\n(.*?)^```", (ROOT / document).read_text(), re.DOTALL | re.MULTILINE
    )


@pytest.fixture
def elsewhere(request):
    """What stands in for the servers that documents name; skips if a library that they use is missing."""
    names = {}
    if request.node.callspec.params["document"] == "docs/guide/team.md":
        names["postgresql://ann@db.example.org/l2t"] = request.getfixturevalue("postgres")()
    on_dask = "docs/guide/cluster.md", "docs/guide/billion-rows.md"
    if request.node.callspec.params["document"] in on_dask:
        names["tcp://scheduler:8786"] = request.getfixturevalue("scheduler")
    if request.node.callspec.params["document"] == "docs/guide/scikit-learn.md":
        request.getfixturevalue("skada")
    return names


@pytest.fixture
def scheduler():
    """The address of a Dask cluster within this process."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, protocol="tcp"
    ) as cluster:
        yield cluster.scheduler_address


def run_shell(text, monkeypatch):
    for line in text.replace("\\\n", " ").splitlines():
        command, *arguments = shlex.split(line, comments=True) or [""]
        monkeypatch.setattr(sys, "argv", [command, *arguments])
        if command == "l2t":
            with pytest.raises(SystemExit) as ended:
                main()
            assert not ended.value.code, line
        else:
            assert not command, f"a test cannot run this: {line}"


def test_the_readme_shows_what_its_examples_print():
    text = README.read_text()
    assert without_figures(text) == without_figures(fill(text)), "run python -m tools.readme"


@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index")  # used by Dask
@pytest.mark.parametrize("document", SHOWN)
def test_the_examples_of_the_documents_run(document, capsys, tmp_path, monkeypatch, elsewhere):
    monkeypatch.chdir(tmp_path)
    assert blocks(document)
    for language, text in blocks(document):
        for name, instead in elsewhere.items():
            text = text.replace(name, instead)
        if language == "python":
            with sklearn.config_context():  # some examples enable metadata routing
                exec(compile(text, document, "exec"), {"__name__": "builtins"})
        elif language == "sh":
            run_shell(text, monkeypatch)
        elif language == "toml":
            tomllib.loads(text)
        else:
            assert language == "text", f"{document}: {language}"
    shown = capsys.readouterr().out
    for text in SHOWN[document]:
        assert text in shown


def test_no_document_with_examples_is_forgotten():
    examples = {
        str(path.relative_to(ROOT))
        for path in DOCUMENTS
        if {language for language, _ in blocks(path)} & {"python", "sh"}
    }
    assert examples == set(SHOWN) | {"README.md"}


def example(name):
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"]


def test_the_example_of_your_own_data(tmp_path):
    read = l2t.read_domain(example("own_data")(tmp_path), label="digit", labeled="labeled")
    assert read.X.shape[1] == 120, "the columns of spectrum"
    assert 0 < read.labeled.sum() < len(read)


def test_the_example_of_a_pipeline():
    accuracy = example("pipeline")()
    assert accuracy["without transfer"] > 0.9
    assert min(accuracy["l2t"], accuracy["searched"]) > accuracy["without transfer"]


def test_every_example_is_run():
    assert {path.stem for path in ROOT.glob("examples/*.py")} == {"own_data", "pipeline"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
        path = (document.parent / target).resolve()
        assert path in MADE or path.exists(), f"{document.name}: {target}"


def test_notation_names_files_that_exist():
    for name in re.findall(r"`((?:\w+/)+\w+\.py)`", (ROOT / "docs" / "notation.md").read_text()):
        assert (ROOT / "src" / "l2t" / name).exists(), name


def test_every_decision_is_listed():
    listed = (ROOT / "docs" / "adr" / "README.md").read_text()
    for page in ROOT.glob("docs/adr/[0-9]*.md"):
        assert f"({page.name})" in listed
