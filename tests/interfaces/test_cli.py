"""The command line, as a person types it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from l2t import PairSampler, __version__, normalize, open_store, read_domain, write_domain
from l2t.domains import digits, mnist
from l2t.experiences import Merged
from l2t.interfaces.cli import app
from l2t.interfaces.cli.demo import demo_rows, measure_transfer

runner = CliRunner()


def test_version_and_help():
    assert runner.invoke(app, ["--version"]).stdout == f"l2t {__version__}\n"
    shown = runner.invoke(app, ["--help"]).stdout
    assert "demo" in shown
    assert "reproduce" not in shown, "measuring the paper again is for the repository"


@pytest.mark.slow
def test_demo_tells_the_whole_story(tmp_path, monkeypatch):
    for name in ("TRAINING_PAIRS", "VALIDATION_PAIRS"):
        monkeypatch.setattr(f"l2t.interfaces.cli.demo.{name}", 2)
    studies = []

    def measured(*arguments, **options):
        studies.append(measure_transfer(*arguments, **options))
        return studies[0]

    monkeypatch.setattr("l2t.interfaces.cli.demo.measure_transfer", measured)
    picture, page = tmp_path / "ratios.png", tmp_path / "report.html"
    arguments = [
        "demo",
        "--pairs",
        "2",
        "--jobs",
        "1",
        "--plot",
        str(picture),
        "--report",
        str(page),
    ]
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    for name in (
        "no transfer",
        "tca",
        "itl",
        "cmf",
        "lsdt",
        "stl",
        "dip",
        "sie",
        "gfk",
        "L2T",
        "1.000 means",
    ):
        assert name in result.stdout
    text = page.read_text()
    assert text.count("data:image/png;base64,") == 3
    assert "http" not in text, "the page needs no network"
    rows = demo_rows(studies[0])
    assert len(rows) == 9 * len(studies[0].label_counts)
    assert rows[-1]["ratio"] == pytest.approx(studies[0].l2t.mean(axis=0)[-1])


def test_errors_are_one_sentence_and_exit_code_1(tmp_path, l2t):
    for arguments, sentence in (
        (("demo", "--plot", "x.xyz"), "a figure must end in .png, .svg, .pdf, got 'x.xyz'"),
        (("demo", "--plot", "no/x.png"), "the folder of a figure must exist"),
        (("demo", "--report", "no/x.html"), "no/x.html: cannot be written: its directory"),
        (("collect", "a.csv", "b.csv"), "a.csv"),
        (("store", "check", tmp_path / "absent.db"), "absent.db"),
    ):
        told = l2t(*arguments)
        assert told.code == 1, told
        assert told.err.startswith("l2t: ")
        assert sentence in told.err
        assert told.err.count("\n") == 1, told.err


def test_collect_goes_on_where_it_was(tmp_path, l2t):
    source, target = tmp_path / "digits.npz", tmp_path / "mnist.npz"
    write_domain(digits(), source)
    write_domain(mnist(), target)
    store, other = tmp_path / "experiences.db", tmp_path / "other.db"
    options = ("--store", store, "--algorithms", "gfk, tca", "--per-class", "25", "--quiet")
    first = l2t("collect", source, target, "--pairs", "2", *options)
    assert "4 runs done, 0 failed, 0 were there already" in first.out, first
    again = l2t("collect", source, target, "--pairs", "3", *options)
    assert "2 runs done, 0 failed, 4 were there already" in again.out, again
    assert l2t("store", "check", store).out == "sound\n"
    assert l2t("store", "merge", other, store).out == "6 runs added\n"
    assert l2t("store", "merge", other, store, store).out == "0 runs added\n"
    assert l2t("store", "upgrade", other).out == "up to date\n"
    for words, told in (
        (("check", store), {"sound": True, "problems": []}),
        (("merge", tmp_path / "new.db", store), {"runs": 6, "suggestions": 0, "damaged": []}),
    ):
        assert json.loads(l2t("store", *words, "--format", "json").out) == told
    assert l2t("store", "upgrade", store, "--format", "csv").out.startswith("version\n")


def test_a_damaged_store_is_told_in_every_format(tmp_path, monkeypatch, l2t):
    with open_store(tmp_path / "experiences.db") as store:
        monkeypatch.setattr(type(store), "check", lambda self: ["one thing", "another"])
    with open_store(tmp_path / "other.db") as store:
        monkeypatch.setattr(type(store), "merge", lambda self, source: Merged(2, 0, ("a run",)))
    told = l2t("store", "merge", tmp_path / "other.db", tmp_path / "experiences.db")
    expected = f"2 runs added, 1 damaged record left out\n{tmp_path}/experiences.db: a run\n"
    assert told == (1, expected, "")
    for format, expected in (
        ("table", "one thing\nanother\n"),
        ("csv", "problem\none thing\nanother\n"),
    ):
        told = l2t("store", "check", tmp_path / "experiences.db", "--format", format)
        assert told == (1, expected, "")


def test_the_demo_says_at_once_what_is_not_installed(monkeypatch, tmp_path, l2t):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("l2t.interfaces.cli.report.find_spec", lambda name: None)
    sentence = "a report with pictures needs an optional package: pip install 'l2t[demo]'"
    assert l2t("demo") == (1, "", f"l2t: {sentence}\n")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write a source, another source, a target with all labels and one with 20 of them."""
    folder = tmp_path_factory.mktemp("files")
    first, second = PairSampler(digits(), mnist(), 2, max_per_class=40)
    write_domain(first.source, folder / "source.csv")
    write_domain(second.source, folder / "other.csv")
    target = first.target
    write_domain(target, folder / "target.csv")
    y = target.y.astype(object)
    y[np.arange(len(y)) % 6 > 0] = None
    rows = {f"x{i}": column for i, column in enumerate(target.X.T)} | {"label": y}
    pd.DataFrame(rows).to_csv(folder / "few.csv", index=False)
    return folder


def test_transfer_writes_what_it_found(files, tmp_path):
    out, W, picture = tmp_path / "z.npz", tmp_path / "W.npy", tmp_path / "both.png"
    arguments = ["transfer", str(files / "source.csv"), str(files / "target.csv"), "--labels", "15"]
    arguments += ["-o", str(out), "--w-output", str(W), "--plot", str(picture), "--format", "json"]
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["low"] < told["predicted_improvement"] < told["high"]
    assert told["labels"] == 15
    expected = told["accuracy_after"] / told["accuracy_before"]
    assert told["measured_improvement"] == pytest.approx(expected)
    target = normalize(read_domain(files / "target.csv"))
    written = read_domain(out)
    moved = target.X @ np.load(W) if told["verdict"] == "transfer" else target.X
    assert np.allclose(written.X, moved, atol=1e-5)
    assert (written.y == target.y).all()
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_labels_that_are_there_vote(files, l2t):
    told = l2t("transfer", files / "source.csv", files / "few.csv")
    assert told.code == 0, told
    assert "triples of 20 labelled" in " ".join(told.out.split())
    assert "measured" not in told.out
    wrong = l2t("transfer", files / "source.csv", files / "few.csv", "--labels", "7")
    assert wrong.code == 1
    assert "n_labels must be the number of labelled target rows (20)" in wrong.err


def test_labels_of_every_row_only_measure(files, l2t):
    told = " ".join(l2t("transfer", files / "source.csv", files / "target.csv").out.split())
    assert "measured" in told
    assert "times with 15 labels: 1-NN accuracy" in told
    assert "triples" not in told


def test_rank_puts_the_best_first(files):
    sources = [str(files / name) for name in ("other.csv", "source.csv")]
    result = runner.invoke(app, ["rank", str(files / "target.csv"), *sources, "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["rank"] for row in rows] == ["1", "2"]
    assert {row["source"] for row in rows} == set(sources)
    assert float(rows[0]["predicted"]) >= float(rows[1]["predicted"])


def test_from_a_store_to_a_function_and_its_explanation(files, tmp_path):
    store, function = str(tmp_path / "experiences.db"), str(tmp_path / "f.json")
    sides = [str(files / name) for name in ("source.csv", "target.csv")]
    pair = [
        "--classes",
        "2",
        "--pairs",
        "6",
        "--algorithms",
        "gfk,tca",
        "--quiet",
        "--store",
        store,
    ]
    assert runner.invoke(app, ["collect", *sides, *pair]).exit_code == 0
    learned = runner.invoke(app, ["learn", "--store", store, "-o", function, "--format", "json"])
    assert learned.exit_code == 0, learned.output
    with open_store(store) as opened:
        assert json.loads(learned.stdout)["runs"] == len(opened.keys()) >= 6
    assert "share of beta" in runner.invoke(app, ["explain", "--reflection", function]).stdout
    picture = tmp_path / "why.png"
    arguments = [
        "explain",
        *sides,
        "--reflection",
        function,
        "--store",
        store,
        "--plot",
        str(picture),
    ]
    why = runner.invoke(app, arguments)
    assert why.exit_code == 0, why.output
    for word in ("mmd", "variance", "discriminant", "like gfk", "verdict: "):
        assert word in why.stdout
    assert picture.exists()
    assert runner.invoke(app, ["explain", sides[0]]).exit_code == 2


def test_looking_into_a_store(files, tmp_path, l2t):
    store = str(tmp_path / "experiences.db")
    sides = [str(files / name) for name in ("source.csv", "target.csv")]
    options = ["--classes", "2", "--pairs", "1", "--algorithms", "gfk,tca", "--quiet"]
    assert runner.invoke(app, ["collect", *sides, *options, "--store", store]).exit_code == 0
    listed = runner.invoke(app, ["store", "ls", store, "--algorithm", "gfk", "--format", "json"])
    rows = json.loads(listed.stdout)
    assert {row["algorithm"] for row in rows} == {"gfk"}
    key = rows[0]["run"]
    shown = json.loads(runner.invoke(app, ["store", "show", store, key, "--format", "json"]).stdout)
    assert shown["run"].startswith(key)
    assert [score["labels"] for score in shown["scores"]] == [row["labels"] for row in rows[::-1]]
    assert runner.invoke(app, ["store", "rm", store, key]).stdout == "1 run deleted\n"
    gone = l2t("store", "show", store, key)
    assert gone == (1, "", f"l2t: no run with a key that begins with {key!r}\n")


def test_help_does_not_wait_for_numpy():
    code = "import sys, l2t.interfaces.cli; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_core_alone_transfers_csv_files(files, tmp_path):
    extras = ["pyarrow", "openpyxl", "matplotlib", "mlxtend", "distributed", "fastapi", "psycopg"]
    code = f"""
import sys
sys.modules.update(dict.fromkeys({extras!r}))
from l2t.interfaces.cli import main
main()
"""
    out = tmp_path / "out.csv"
    command = ["transfer", str(files / "source.csv"), str(files / "target.csv"), "--labels", "5"]
    done = subprocess.run(
        [sys.executable, "-c", code, *command, "-o", str(out)], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert read_domain(out).n_features > 0


def test_importing_the_package_imports_neither_pandas_nor_a_reader():
    code = "import sys, l2t.domains; sys.exit('pandas' in sys.modules or 'scipy.io' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
