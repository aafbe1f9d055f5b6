"""The command line, as a person types it."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from l2t import (
    DomainPair,
    PairSampler,
    __version__,
    collect,
    infer,
    load_reflection,
    open_store,
    prepare,
    rank_sources,
    read_domain,
    write_domain,
)
from l2t.domains import KnownClasses, digits, mnist, normalize
from l2t.experiences import Merged
from l2t.inference.result import Candidates
from l2t.interfaces.cli import app
from l2t.interfaces.cli.demo import demo_rows, measure_demo, wide_pairs
from l2t.interfaces.cli.output import Format, print_note, show_record, show_rows, show_sentence
from l2t.interfaces.cli.results import explanation_lines

runner = CliRunner()


def test_version_and_help():
    assert runner.invoke(app, ["--version"]).stdout == f"l2t {__version__}\n"
    shown = runner.invoke(app, ["--help"]).stdout
    assert "demo" in shown
    assert "reproduce" not in shown, "measuring the paper again is for the repository"


def test_example_writes_files_for_the_other_commands_and_replaces_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert runner.invoke(app, ["example", "digits"]).exit_code == 0
    source, target, answers = (
        read_domain(f"{name}.csv", label="digit") for name in ("scans", "handwriting", "answers")
    )
    assert target.labeled.sum() == 10
    assert not set(source.classes) & set(answers.classes)
    assert np.array_equal(target.X, answers.X)
    assert np.array_equal(target.y[target.labeled], answers.y[target.labeled])

    (tmp_path / "answers.csv").unlink()
    written = (tmp_path / "scans.csv").stat().st_mtime_ns
    again = runner.invoke(app, ["example", "digits"])
    assert str(again.exception) == "scans.csv exists; use --force to replace it"
    assert (tmp_path / "scans.csv").stat().st_mtime_ns == written
    assert not (tmp_path / "answers.csv").exists()
    assert runner.invoke(app, ["example", "digits", "--force", "--quiet"]).exit_code == 0
    assert runner.invoke(app, ["example", "letters"]).exit_code == 2


@pytest.mark.integration
def test_demo_tells_the_whole_story(tmp_path, monkeypatch):
    monkeypatch.setattr("l2t.interfaces.cli.demo.TRAINING_PAIRS", 2)
    studies = []

    def measured(*arguments, **options):
        studies.append(measure_demo(*arguments, **options))
        return studies[0]

    monkeypatch.setattr("l2t.interfaces.cli.demo.measure_demo", measured)
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
        "paper",
        "L2T",
        "1.000 means",
    ):
        assert name in result.stdout
    text = page.read_text()
    assert text.count("data:image/png;base64,") == 3
    assert "http" not in text, "the page needs no network"
    rows = demo_rows(studies[0])
    assert len(rows) == 10 * studies[0]["labels"].nunique()
    last = studies[0].query("method == 'L2T' and labels == 120")["ratio"]
    assert rows[-1] == {
        "method": "l2t",
        "labels": 120,
        "ratio": pytest.approx(last.mean()),
        "standard_error": pytest.approx(np.std(last, ddof=1) / np.sqrt(2)),
    }


def test_the_source_of_a_demo_pair_has_all_other_digits():
    for pair in wide_pairs(4, 0):
        assert len(pair.source.classes) == 7
        assert len(pair.target.classes) == 3
        assert not set(pair.source.classes) & set(pair.target.classes)
        assert max(np.bincount(pair.source.codes)) <= 80
    assert wide_pairs(4, 0)[3] == wide_pairs(5, 0)[3]
    names = [pair.target.name.partition("[")[0] for pair in wide_pairs(4, 0)]
    assert names == ["mnist", "digits", "mnist", "digits"]


def test_errors_are_one_sentence_and_exit_code_1(tmp_path, l2t):
    for arguments, sentence in (
        (("demo", "--plot", "x.xyz"), "a figure must end in .png, .svg, .pdf, got 'x.xyz'"),
        (("demo", "--plot", "no/x.png"), "no/x.png: cannot be written: its directory"),
        (("demo", "--report", "no/x.html"), "no/x.html: cannot be written: its directory"),
        (("collect", "a.csv", "b.csv"), "a.csv"),
        (("store", "check", "--store", tmp_path / "absent.db"), "absent.db"),
    ):
        outcome = l2t(*arguments)
        assert outcome.code == 1, outcome
        assert outcome.err.startswith("l2t: ")
        assert sentence in outcome.err
        assert outcome.err.count("\n") == 1, outcome.err


def test_collect_goes_on_where_it_was(tmp_path, l2t):
    source, target = tmp_path / "digits.npz", tmp_path / "mnist.npz"
    write_domain(digits(), source)
    write_domain(mnist(), target)
    store, other = tmp_path / "experiences.db", tmp_path / "other.db"
    options = ("--store", store, "--algorithms", "gfk, tca", "--per-class", "25", "--quiet")
    first = l2t("collect", source, target, "--pairs", "2", *options)
    assert "4 runs done, 0 failed, 0 already stored" in first.out, first
    again = l2t("collect", source, target, "--pairs", "3", *options)
    assert "2 runs done, 0 failed, 4 already stored" in again.out, again
    assert l2t("store", "check", "--store", store).out == "no damage found\n"
    assert l2t("store", "merge", store, "--store", other).out == "6 runs added\n"
    assert l2t("store", "merge", store, store, "--store", other).out == "0 runs added\n"
    assert l2t("store", "upgrade", "--store", other).out == "up to date\n"
    for words, outcome in (
        (("check", "--store", store), {"sound": True, "problems": []}),
        (
            ("merge", store, "--store", tmp_path / "new.db"),
            {"runs": 6, "suggestions": 0, "damaged": []},
        ),
    ):
        assert json.loads(l2t("store", *words, "--format", "json").out) == outcome
    assert l2t("store", "upgrade", "--store", store, "--format", "csv").out.startswith("version\n")


def test_a_damaged_store_is_told_in_every_format(tmp_path, monkeypatch, l2t):
    with open_store(tmp_path / "experiences.db") as store:
        monkeypatch.setattr(type(store), "check", lambda self: ["one thing", "another"])
    with open_store(tmp_path / "other.db") as store:
        monkeypatch.setattr(type(store), "merge", lambda self, source: Merged(2, 0, ("a run",)))
    outcome = l2t("store", "merge", tmp_path / "experiences.db", "--store", tmp_path / "other.db")
    expected = f"2 runs added, 1 damaged record left out\n{tmp_path}/experiences.db: a run\n"
    assert outcome == (1, expected, "")
    for format, expected in (
        ("table", "one thing\nanother\n"),
        ("csv", "problem\none thing\nanother\n"),
    ):
        outcome = l2t("store", "check", "--store", tmp_path / "experiences.db", "--format", format)
        assert outcome == (1, expected, "")


def test_the_demo_says_at_once_what_is_not_installed(monkeypatch, tmp_path, l2t):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("l2t.interfaces.cli.demo.find_spec", lambda name: None)
    sentence = "a report with pictures needs an optional package: pip install 'l2t[demo]'"
    assert l2t("demo") == (1, "", f"l2t: {sentence}\n")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write a source, another source, a target with all labels and one with 20 of them."""
    folder = tmp_path_factory.mktemp("files")
    first, second = PairSampler(digits(), mnist(), 2, max_per_class=40, random_state=2)
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
    arguments = ["transfer", str(files / "source.csv"), str(files / "target.csv"), "--labels", "3"]
    arguments += ["-o", str(out), "--w-output", str(W), "--plot", str(picture), "--format", "json"]
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    outcome = json.loads(result.stdout)
    found = infer(pair_of(files), n_labels=3)
    assert (outcome["choice"], outcome["predicted_improvement"]) == (found.choice, found.predicted)
    assert (outcome["verdict"], outcome["because"]) == ("transfer", found.reason)
    assert outcome["low"] < outcome["predicted_improvement"] < outcome["high"]
    assert outcome["labels"] == 3
    assert outcome["candidates"] == json.loads(json.dumps(found.candidates.records()))
    expected = outcome["accuracy_after"] / outcome["accuracy_before"]
    assert outcome["measured_improvement"] == pytest.approx(expected)
    target = pair_of(files).target
    written = read_domain(out)
    assert np.allclose(written.X, target.X @ np.load(W), atol=1e-5)
    assert (written.y == target.y).all()
    assert picture.read_bytes().startswith(b"\x89PNG")


def pair_of(files, source="source.csv", target="target.csv"):
    return prepare(*(read_domain(files / name) for name in (source, target))).pair


def test_without_a_transfer_the_features_stay_as_they_were(files, tmp_path, l2t):
    """The columns of the input, and its numbers: not even normalized."""
    out, back = tmp_path / "z.csv", tmp_path / "source_z.csv"
    sides = (files / "source.csv", files / "target.csv")
    written = ("-o", out, "--source-output", back, "--w-output", tmp_path / "W.npy")
    outcome = l2t("transfer", *sides, "--candidates", "identity", *written)
    assert outcome.code == 0, outcome
    assert "nothing: the original features are kept" in outcome.out
    assert f"target written to {out}, with its original features\n" in outcome.err
    for path, copy in zip(sides, (back, out), strict=True):
        pd.testing.assert_frame_equal(pd.read_csv(copy), pd.read_csv(path))
    np.testing.assert_array_equal(np.load(tmp_path / "W.npy"), np.eye(64))


def test_labelled_rows_are_evidence(files, l2t):
    outcome = l2t("transfer", files / "source.csv", files / "few.csv")
    assert outcome.code == 0, outcome
    evidence = infer(pair_of(files, target="few.csv")).candidates["spectrum"].evidence
    words = f"{evidence.order:.0%}, {evidence.order_without:.0%} without it".replace("%", " %")
    assert words in outcome.out
    assert "with 20 labels" in " ".join(outcome.out.split())
    assert "measured" not in outcome.out
    wrong = l2t("transfer", files / "source.csv", files / "few.csv", "--labels", "7")
    assert wrong.code == 1
    assert "n_labels must be the number of labelled target rows (20)" in wrong.err


def test_labels_of_every_row_only_measure(files, l2t):
    outcome = " ".join(l2t("transfer", files / "source.csv", files / "target.csv").out.split())
    assert "times with 15 labels: 1-NN accuracy" in outcome
    assert "same class nearer" not in outcome


def test_candidates_classes_and_the_papers_method(files, l2t):
    sides = (files / "source.csv", files / "target.csv")
    outcome = l2t("transfer", *sides, "--candidates", "gfk, spectrum", "--classes", "4")
    assert outcome.code == 0, outcome
    for word in ("identity", "gfk", "spectrum"):
        assert word in outcome.out
    assert "classes+spectrum" not in outcome.out
    outcome = json.loads(l2t("transfer", *sides, "--method", "paper", "--format", "json").out)
    found = infer(pair_of(files), method="paper")
    assert outcome["predicted_improvement"] == found.predicted
    assert [each["candidate"] for each in outcome["candidates"]] == ["identity", "paper"]
    for wrong, hint in (
        (("--method", "paper", "--candidates", "gfk"), "--candidates needs --method l2t"),
        (("--method", "paper", "--store", "a.db"), "--store needs --method l2t"),
    ):
        outcome = l2t("transfer", *sides, *wrong)
        assert outcome.code == 2
        assert hint in " ".join(outcome.err.split())


def test_known_classes_of_a_store(files, tmp_path, l2t):
    pair = pair_of(files)
    past = pair_of(files, target="other.csv")
    with open_store(tmp_path / "past.db") as store:
        collect([past], store, algorithms=["identity"], label_counts=(3,), progress=False)
        known = KnownClasses(store.targets())
    sides = (files / "source.csv", files / "target.csv")
    outcome = l2t("transfer", *sides, "--store", tmp_path / "past.db", "--format", "json")
    assert json.loads(outcome.out)["because"] == infer(pair, known=known).reason
    both = KnownClasses([pair.source]).merge(known)
    assert f"{both.n_classes} known classes" in json.loads(outcome.out)["because"]
    with open_store(tmp_path / "empty.db"):
        pass
    outcome = l2t("transfer", *sides, "--store", tmp_path / "empty.db")
    assert outcome.code == 0
    assert "note: the store has no labelled target with 64 features\n" in outcome.err


def test_without_labels_of_the_source_it_says_what_is_missing(files, tmp_path, l2t):
    frame = pd.read_csv(files / "source.csv")
    frame.drop(columns="label").to_csv(tmp_path / "bare.csv", index=False)
    outcome = l2t("transfer", tmp_path / "bare.csv", files / "target.csv")
    assert outcome.code == 0, outcome
    assert "bare.csv has no labels, so L2T cannot learn from its classes" in outcome.err
    assert "three labelled classes besides the target, got 0" in " ".join(outcome.out.split())
    assert l2t("transfer", tmp_path / "bare.csv", files / "target.csv", "-q").err == ""


def test_rank_puts_the_source_that_adds_most_first(files, tmp_path, monkeypatch, l2t):
    monkeypatch.chdir(tmp_path)
    named = tmp_path / "my source.csv"
    named.write_bytes((files / "source.csv").read_bytes())
    bare = tmp_path / "bare.csv"
    pd.read_csv(files / "source.csv").drop(columns="label").to_csv(bare, index=False)
    options = ("--labels", "3", "--label", "label", "--normalize", "zscore")
    outcome = l2t("rank", bare, named, files / "target.csv", *options, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(outcome.out)))
    assert [row["rank"] for row in rows] == ["1", "2"]
    assert {row["source"] for row in rows} == {str(named), str(bare)}
    assert float(rows[0]["adds"]) >= float(rows[1]["adds"])
    by_source = {row["source"]: float(row["adds"]) for row in rows}
    assert by_source[str(bare)] == 1
    table = l2t("rank", bare, files / "target.csv", *options)
    assert "nothing" in table.out
    assert "no source is expected to add to what the target alone gives" in table.err
    ranked = rank_sources(read_domain(files / "target.csv"), [read_domain(files / "source.csv")])
    barely = [replace(ranked[0], adds=1.0004)]
    with monkeypatch.context() as patch:
        patch.setattr("l2t.rank_sources", lambda *_, **__: barely)
        table = l2t("rank", bare, files / "target.csv", *options)
    assert "nothing" in table.out
    assert "no source is expected to add to what the target alone gives" in table.err
    # The command that is printed works when it is pasted.
    (line,) = [each for each in outcome.err.splitlines() if each.startswith("next: l2t transfer ")]
    words = shlex.split(line.removeprefix("next: l2t "))
    assert words[3:9] == ["--label", "label", "--labels", "3", "--normalize", "zscore"]
    pasted = l2t(*words)
    assert pasted.code == 0, pasted
    assert (tmp_path / "target_z.csv").exists()


@pytest.mark.integration
@pytest.mark.parametrize(
    ("candidate", "used"),
    [
        ("spectrum", "the target's own rows; the source adds nothing"),
        ("classes", "the source"),
        ("identity", "nothing: the original features are kept"),
    ],
)
def test_the_output_says_which_rows_are_used(files, monkeypatch, l2t, candidate, used):
    """A transfer of what the target alone gives is not one of the source."""
    found = infer(pair_of(files, target="few.csv"))
    monkeypatch.setattr("l2t.infer", lambda *_, **__: replace(found, choice=candidate))
    sides = (files / "source.csv", files / "few.csv")
    for command in ("transfer", "explain"):
        printed = l2t(command, *sides).out
        assert re.search(f"^used:? +{used} *$", printed, re.MULTILINE), printed
        assert "verdict" not in printed
        assert json.loads(l2t(command, *sides, "--format", "json").out)["used"] == used


def test_explain_says_what_spoke_for_and_against(files, l2t):
    sides = (files / "source.csv", files / "few.csv")
    found = infer(pair_of(files, target="few.csv"), candidates=("spectrum", "gfk"))
    outcome = l2t("explain", *sides, "--candidates", "spectrum,gfk")
    assert outcome.code == 0, outcome
    assert outcome.out.startswith(f"choice: {found.choice}\nused: ")
    assert f"why: {found.reason}\n" in outcome.out
    spectrum = found.candidates["spectrum"]
    side = "for" if spectrum.evidence.suggests.mean > 0 else "against"
    evidence = spectrum.evidence
    shares = (evidence.order, evidence.order_without, evidence.nearest, evidence.nearest_without)
    words = "{:.0f} % of the comparisons ({:.0f} % without it), 1-NN accuracy {:.0f} % ({:.0f} % without it)"
    nearer = words.format(*(100 * each for each in shares))
    assert f"rehearsal: {spectrum.rehearsed:.3f} times the accuracy, in 8 rehearsals" in outcome.out
    assert f"20, evidence {side} it: same-class rows nearer in {nearer}" in outcome.out
    assert f"expected: {spectrum.predicted:.3f} times the accuracy without transfer" in outcome.out
    bare = l2t("explain", files / "other.csv", files / "target.csv", "--candidates", "classes")
    assert "labelled rows: too few to check this candidate" in bare.out
    unchanged = replace(evidence, order=evidence.order_without, nearest=evidence.nearest_without)
    tie = replace(unchanged, suggests=evidence.suggests._replace(mean=0.0))
    tied = replace(found, candidates=Candidates([replace(spectrum, evidence=tie)]))
    assert "20, evidence neither for nor against it: same-class" in "".join(explanation_lines(tied))
    rows = list(csv.DictReader(io.StringIO(l2t("explain", *sides, "--format", "csv").out)))
    assert [row["candidate"] for row in rows][:2] == ["identity", "spectrum"]
    record = json.loads(l2t("explain", *sides, "--format", "json").out)
    assert record["choice"] == infer(pair_of(files, target="few.csv")).choice


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
    assert json.loads(learned.stdout)["stopped"].startswith("after ")
    assert "share of beta" in runner.invoke(app, ["explain", "--reflection", function]).stdout
    picture = tmp_path / "why.png"
    arguments = [
        "explain",
        *sides,
        "--method",
        "paper",
        "--reflection",
        function,
        "--store",
        store,
        "--plot",
        str(picture),
    ]
    why = runner.invoke(app, arguments)
    assert why.exit_code == 0, why.output
    for word in ("mmd", "variance", "discriminant", "similar: gfk", "used: ", "why: "):
        assert word in why.stdout
    assert picture.exists()
    assert runner.invoke(app, ["explain", sides[0]]).exit_code == 2


def test_looking_into_a_store(files, tmp_path, l2t):
    store = str(tmp_path / "experiences.db")
    at = ["--store", store]
    sides = [str(files / name) for name in ("source.csv", "target.csv")]
    options = ["--classes", "2", "--pairs", "1", "--algorithms", "gfk,tca", "--quiet"]
    assert runner.invoke(app, ["collect", *sides, *options, "--store", store]).exit_code == 0
    listed = runner.invoke(app, ["store", "ls", *at, "--algorithm", "gfk", "--format", "json"])
    rows = json.loads(listed.stdout)
    assert {row["algorithm"] for row in rows} == {"gfk"}
    key = rows[0]["run"]
    shown = json.loads(runner.invoke(app, ["store", "show", key, *at, "--format", "json"]).stdout)
    assert shown["run"].startswith(key)
    assert [score["labels"] for score in shown["scores"]] == [row["labels"] for row in rows[::-1]]
    assert runner.invoke(app, ["store", "rm", key, *at]).stdout == "1 run deleted\n"
    assert "name the runs to delete, or select them with --status" in l2t("store", "rm", *at).err
    assert l2t("store", "rm", *at, "--status", "failed").out == "0 runs deleted\n"
    again = l2t("collect", *sides, *options, "--store", store, "--retry-failed")
    assert again.out.startswith("1 runs done, 0 failed, 1 already stored")
    assert l2t("store", "rm", key, *at).out == "1 run deleted\n"
    gone = l2t("store", "show", key, *at)
    sentence = f"no run has the key {key!r} or one that begins with it"
    assert gone == (1, "", f"l2t: sqlite:///{store}: {sentence}\n")


@pytest.mark.integration
def test_a_store_as_an_argument_still_works_for_one_version(files, tmp_path, monkeypatch, l2t):
    monkeypatch.chdir(tmp_path)
    sides = [files / name for name in ("source.csv", "target.csv")]
    options = ["--classes", "2", "--pairs", "1", "--algorithms", "gfk", "--quiet"]
    assert l2t("collect", *sides, *options).code == 0
    new = l2t("store", "ls", "--format", "json")  # experiences.db, as for other commands
    assert new.err == ""
    key = json.loads(new.out)[0]["run"]
    (tmp_path / "experiences.db").rename("old.db")
    note = "note: a store as an argument is deprecated and will be removed; write --store "
    assert l2t("store", "ls", "old.db", "--format", "json") == (0, new.out, f"{note}old.db\n")
    for words in (["check", "old.db"], ["upgrade", "old.db"], ["show", "old.db", key]):
        assert (l2t("store", *words).code, l2t("store", *words).err) == (0, f"{note}old.db\n")
    assert l2t("store", "merge", "new.db", "old.db") == (0, "1 run added\n", f"{note}new.db\n")
    assert l2t("store", "rm", "old.db", key).out == "1 run deleted\n"
    assert "name the store to copy into" in l2t("store", "merge", "old.db").err
    assert "got also 'old.db'" in l2t("store", "ls", "old.db", "--store", "new.db").err
    assert "name one run, got 2" in l2t("store", "show", key, key, "--store", "new.db").err
    secret = l2t("store", "ls", "postgresql://me:secret@127.0.0.1:1/l2t")
    assert secret.code == 1
    assert "secret" not in secret.err


ESCAPE = "\x1b]0;owned\x07\u202e"


@pytest.mark.parametrize("format", Format)
def test_names_with_terminal_escapes_are_shown_harmlessly(capsys, format, proves):
    show_rows([{"name": f"a{ESCAPE}"}], format)
    show_record({"name": f"a{ESCAPE}"}, format)
    show_sentence(f"a{ESCAPE}", {"name": f"a{ESCAPE}"}, format)
    print_note(f"{ESCAPE} read")
    shown = capsys.readouterr()
    assert not re.search("[\x1b\x07\u202e]", shown.out + shown.err)
    assert shown.err == "\\x1b]0;owned\\x07\\u202e read\n"
    proves(f"Names from files cannot command a terminal: {format}", 4, "outputs")


def test_an_error_about_such_a_file_is_harmless(l2t, tmp_path):
    shown = l2t("explain", tmp_path / f"{ESCAPE}.csv", tmp_path / "absent.csv")
    assert shown.code == 1
    assert "\x1b" not in shown.err


def test_cells_of_csv_are_no_formulas(capsys, proves):
    values = ["=1+1", "+1", "-1+1", "@SUM(A1)", "＝1", "\tx", "plain", -1.5, None]
    show_rows([{"a": value} for value in values], Format.csv)
    cells = [cell for (cell,) in csv.reader(capsys.readouterr().out.splitlines()) if cell]
    assert cells == ["a", "'=1+1", "'+1", "'-1+1", "'@SUM(A1)", "'＝1", "'\tx", "plain", "-1.5"]
    proves("The csv output of a command contains no formulas", 6, "cells")


def test_a_table_that_is_too_wide_is_shown_row_by_row(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    row = {f"column_{i}": "x" * 15 for i in range(6)}
    show_rows([row, row | {"column_5": 1.25}], Format.table)
    shown = capsys.readouterr().out.splitlines()
    assert [line.split() for line in shown if "5" in line] == [
        ["column", "5", "x" * 15],
        ["column", "5", "1.250"],
    ]
    show_rows([{"name": "a b " * 30, "n": 1}], Format.table)  # words are wrapped first
    assert "name" in capsys.readouterr().out.splitlines()[1]


def test_help_does_not_wait_for_numpy():
    code = "import sys, l2t.interfaces.cli; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.integration
def test_the_core_alone_transfers_csv_files(files, tmp_path):
    extras = ["pyarrow", "openpyxl", "matplotlib", "mlxtend", "distributed", "fastapi", "psycopg"]
    code = f"""
import sys
class Absent:
    def find_spec(self, name, *_):
        if name.split(".")[0] in {extras!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
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


def test_what_classifiers_were_trained_on(tmp_path, l2t):
    source, target = (normalize(each).take(np.arange(0, 1500, 10)) for each in (digits(), mnist()))
    path = str(tmp_path / "shared.db")
    names = ["gfk", "coral", "identity"]
    pairs = [DomainPair(source, target), DomainPair(target, source)]
    with open_store(path) as store:
        collect(pairs, store, algorithms=names, label_counts=(20,), n_draws=2, progress=False)
    assert "trained on" in l2t("store", "ls", "--store", path).out
    assert "trained on" not in l2t("store", "ls", "--store", path, "--trained-on", "target").out
    listed = l2t("store", "ls", "--store", path, "--trained-on", "source", "--format", "json")
    rows = json.loads(listed.out)
    assert len(rows) == 6
    assert {(row["trained_on"], row["labels"]) for row in rows} == {("source", 0)}
    shown = json.loads(
        l2t("store", "show", rows[0]["run"], "--store", path, "--format", "json").out
    )
    assert [score["trained_on"] for score in shown["scores"]] == ["target", "source", "both"]
    outcome = l2t("learn", "--store", path, "-o", tmp_path / "r.json", "--trained-on", "source")
    assert outcome.err == "l2t: experiences must be at least 20 of finished runs, got 6\n"


@pytest.mark.integration
def test_shared_classes_from_collect_to_learn(tmp_path, l2t, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for domain in (digits(), mnist()):
        write_domain(domain.take(np.arange(0, len(domain), 3)), f"{domain.name}.npz")
    options = ("--pairs", 7, "--per-class", 20, "--algorithms", "gfk,tca,stl", "--shared")
    assert l2t("collect", "digits.npz", "mnist.npz", *options, "--quiet").code == 0
    outcome = l2t("learn", "-o", "r.json", "--trained-on", "source", "--format", "json")
    assert outcome.code == 0, outcome.err
    assert (json.loads(outcome.out)["trained_on"], json.loads(outcome.out)["experiences"]) == (
        "source",
        21,
    )
    assert load_reflection("r.json").trained_on == "source"
    assert "next: l2t transfer" not in outcome.err


def test_a_function_for_the_source_is_refused(files, tmp_path, l2t):
    path = replace(load_reflection("default").paper, trained_on="source").save(tmp_path / "r.json")
    outcome = l2t("transfer", files / "source.csv", files / "target.csv", "--reflection", path)
    assert outcome.code == 1
    assert "reflection must be learned from classifiers trained on the target" in outcome.err
