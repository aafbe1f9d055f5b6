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
from l2t.interfaces.cli import app

runner = CliRunner()


def test_version_and_help():
    assert runner.invoke(app, ["--version"]).stdout == f"l2t {__version__}\n"
    shown = runner.invoke(app, ["--help"]).stdout
    assert "demo" in shown
    assert "reproduce" in shown


def test_demo_tells_the_whole_story(tmp_path, monkeypatch):
    for name in ("TRAINING_PAIRS", "VALIDATION_PAIRS"):
        monkeypatch.setattr(f"l2t.interfaces.cli.demo.{name}", 2)
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
    for name in ("tca", "itl", "cmf", "lsdt", "stl", "dip", "sie", "gfk", "L2T", "1 means"):
        assert name in result.stdout
    text = page.read_text()
    assert text.count("data:image/png;base64,") == 3
    assert "http" not in text, "the page needs no network"


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


def test_labels_that_are_there_vote(files):
    result = run_command("transfer", str(files / "source.csv"), str(files / "few.csv"))
    assert result.returncode == 0, result
    assert "triples of 20 labelled" in " ".join(result.stdout.split())
    assert "measured" not in result.stdout
    wrong = run_command(
        "transfer", str(files / "source.csv"), str(files / "few.csv"), "--labels", "7"
    )
    assert wrong.returncode == 1
    assert "n_labels must be the number of labelled target rows (20)" in wrong.stderr


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


def test_looking_into_a_store(files, tmp_path):
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
    assert runner.invoke(app, ["store", "rm", store, key]).stdout == "1 runs deleted\n"
    gone = run_command("store", "show", store, key)
    assert gone.stderr == f"l2t: no run with a key that begins with {key!r}\n"


def test_help_does_not_wait_for_numpy():
    code = "import sys, l2t.interfaces.cli; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
