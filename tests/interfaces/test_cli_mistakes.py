"""Mistakes of someone who uses `l2t transfer` for the first time: each sentence puts them right."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from l2t import load_reflection, read_domain

CONFUSED = {
    "no --label": (
        "transfer source.csv target.csv",
        "is not a number; if these are the labels, pass label='digit' (on the command line --label digit)",
    ),
    "another label": (
        "transfer source.csv target.csv --label Digit",
        "source.csv: has no column 'Digit'; did you mean 'digit'?",
    ),
    "no such label": (
        "transfer source.csv target.csv --label species",
        "source.csv: has no column 'species'",
    ),
    "wrong path": (
        "transfer sources.csv target.csv --label digit",
        "sources.csv: there is no such file",
    ),
    "a directory": ("transfer . target.csv --label digit", ".: is a directory, not a file"),
    "empty": ("transfer source.csv empty.csv --label digit", "empty.csv: is empty"),
    "no rows": (
        "transfer source.csv header.csv --label digit",
        "header.csv: has a header but no rows",
    ),
    "text in one row": (
        "transfer source.csv one.csv --label digit",
        "one.csv: features must be finite numbers, got 'unknown' in column 'e5', line 9",
    ),
    "a missing number": (
        "transfer source.csv missing.csv --label digit",
        "missing.csv: features must be finite numbers, got 1 missing cell in column 'e5', line 9",
    ),
    "decimal commas": (
        "transfer source.csv commas.csv --label digit",
        "'e62', 'e63'; if a comma is the decimal mark, pass decimal=',' (on the command line --decimal ,)",
    ),
    "no features in common": (
        "transfer source.csv renamed.csv --label digit",
        "all files must have a feature column in common, by name; source.csv has 'e0'",
    ),
    "a label by another name in one file": (
        "transfer source.csv capital.csv --label digit",
        "capital.csv: has no column 'digit'; did you mean 'Digit'?",
    ),
    "a number that may be the label": (
        "transfer source.csv class.csv --label digit",
        "class.csv: column 'class' must have a role: pass label='class' (on the command line --label "
        "class), keep='class' (on the command line --keep class) if it is a feature, or ignore='class'",
    ),
    "an id that is none": (
        "transfer source.csv target.csv --label digit --id digits",
        "source.csv, target.csv: has no column 'digits'; did you mean 'digit'?",
    ),
    "an output that exists": (
        "transfer source.csv target.csv --label digit -o text.csv",
        "text.csv exists; use --force to replace it",
    ),
    "a picture that exists": (
        "transfer source.csv target.csv --label digit --plot both.png",
        "both.png exists; use --force to replace it",
    ),
    "a function that exists": (
        "learn --store some.db -o why.json",
        "why.json exists; use --force to replace it",
    ),
    "a report that exists": (
        "demo --report text.csv",
        "text.csv exists; use --force to replace it",
    ),
    "a spreadsheet": (
        "transfer source.csv book.xlsx --label digit",
        "book.xlsx: is damaged or of another format: File is not a zip file",
    ),
    "wrong ending": (
        "transfer source.csv target.csv --label digit -o z.txt",
        "z.txt: the file extension must be one of .npz, .csv,",
    ),
    "no folder": (
        "transfer source.csv target.csv --label digit -o out/z.csv",
        "out/z.csv: cannot be written: its directory does not exist",
    ),
    "W as csv": (
        "transfer source.csv target.csv --label digit --w-output W.csv",
        "a matrix must end in .npy, got 'W.csv'",
    ),
    "a picture as txt": (
        "transfer source.csv target.csv --label digit --plot z.txt",
        "a figure must end in .png, .svg, .pdf, got 'z.txt'",
    ),
    "the input as the output": (
        "transfer source.csv target.csv --label digit -o target.csv",
        "an output must not replace an input or another output, got 'target.csv'",
    ),
    "the input as the output, by another path": (
        "transfer source.csv target.csv --label digit --source-output ./link.csv",
        "an output must not replace an input or another output, got 'link.csv'",
    ),
    "one file for two outputs": (
        "transfer source.csv target.csv --label digit -o z.csv --source-output z.csv",
        "an output must not replace an input or another output, got 'z.csv'",
    ),
    "a picture over a function": (
        "explain source.csv target.csv --method paper --reflection why.png --plot why.png",
        "an output must not replace an input or another output, got 'why.png'",
    ),
    "the agent's output over its input": (
        "agent ask source.csv target.csv --label digit -o source.csv",
        "an output must not replace an input or another output, got 'source.csv'",
    ),
    "a function over its store": (
        "learn --store some.db -o some.db",
        "an output must not replace an input or another output, got 'some.db'",
    ),
    "an encoding that is none": (
        "transfer source.csv target.csv --label digit --encoding klingon",
        "unknown encoding: klingon",
    ),
    "no such function": (
        "transfer source.csv target.csv --label digit --reflection mine.json",
        "mine.json: there is no such file",
    ),
    "another number of labels": (
        "transfer source.csv target.csv --label digit --labels 5",
        "n_labels must be the number of labelled target rows (10)",
    ),
    "no such mask": (
        "transfer source.csv target.csv --label digit --labeled mine",
        "target.csv: has no column 'mine'",
    ),
    "ranking nothing that is there": ("rank target.csv absent.csv --label digit", "absent.csv"),
    "collecting without labels": (
        "collect source.csv unlabelled.csv --label digit",
        "unlabelled.csv: has no labels; name the label column with --label",
    ),
    "collecting from too few classes": (
        "collect source.csv source.csv --label digit",
        "n_classes must be at most 1, because source and target have 3 and 3 classes, 3 in common",
    ),
    "collecting from too few labelled rows": (
        "collect source.csv few.csv --label digit",
        "the target of a pair must have 30 labelled rows to test besides 3 to train on, got 15 in all",
    ),
    "collecting with an unknown algorithm": (
        "collect source.csv source.csv --label digit --shared --algorithms gfk,pca",
        "there is no algorithm 'pca'; choose from tca, itl, ",
    ),
    "no store": ("learn --store absent.db", "absent.db"),
    "no such store": ("store check --store notes.txt", "got 'notes.txt'"),
}


@pytest.fixture
def wrong(here, tables):
    """Beside source.csv and target.csv, a target for each mistake."""
    _, target = tables
    Path("empty.csv").touch()
    few = target[:15].assign(digit=[7, 8, 9] * 5)
    pd.concat([few, target[15:].assign(digit="")]).to_csv("few.csv", index=False)
    target[:0].to_csv("header.csv", index=False)
    target.drop(columns="e3").to_csv("fewer.csv", index=False)
    target.drop(columns="digit").to_csv("unlabelled.csv", index=False)
    target[[*target.columns[63::-1], "digit"]].to_csv("turned.csv", index=False)
    target.reset_index(names="id").to_csv("id.csv", index=False)
    target.assign(file="a b.png").to_csv("text.csv", index=False)
    for name, cell in (("one.csv", "unknown"), ("missing.csv", None)):
        column = target["e5"].astype(object)
        column[7] = cell
        target.assign(e5=column).to_csv(name, index=False)
    target.to_csv("commas.csv", index=False, sep=";", decimal=",")
    target.rename(columns=lambda name: name.replace("e", "f")).to_csv("renamed.csv", index=False)
    target.rename(columns={"digit": "Digit"}).to_csv("capital.csv", index=False)
    target.assign(**{"class": 3}).to_csv("class.csv", index=False)
    Path("both.png").touch()
    Path("why.json").touch()
    Path("book.xlsx").write_bytes(b"PK\x03\x04 something")
    Path("link.csv").hardlink_to("source.csv")
    return here


@pytest.mark.parametrize("mistake", CONFUSED)
def test_a_mistake_gets_one_sentence_that_puts_it_right(mistake, wrong, l2t):
    line, sentence = CONFUSED[mistake]
    before = sorted(wrong.iterdir())
    result = l2t(*shlex.split(line))
    assert result.code == 1
    assert result.out == ""
    assert result.err.startswith("l2t: ")
    assert result.err.count("\n") == 1
    assert sentence in result.err
    assert sorted(wrong.iterdir()) == before, "nothing is left behind"


def test_a_prediction_without_any_label_says_how_to_name_their_column(tmp_path, l2t):
    files = [tmp_path / "source.csv", tmp_path / "target.csv"]
    for path in files:
        path.write_text("a,b,kind\n1.5,2,3\n2.5,1,4\n3.25,7,3\n")
    result = l2t("predict", *map(str, files))
    assert result.code == 1
    assert result.err.endswith("no file has labels; name the column that has them with --label\n")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("transfer source.csv", "Missing argument 'TARGET'"),
        ("transfer source.csv target.csv --normalise rows", "No such option"),
        (
            "transfer source.csv target.csv --normalize row",
            "'auto', 'none', 'rows', 'centred', 'zscore'",
        ),
        ("transfer source.csv target.csv --labels 0", "--labels"),
        ("explain source.csv", "a source and a target file are needed, got 1 of them"),
        ("explain --plot why.png", "--plot needs a source, a target"),
        ("transform", "No such command 'transform'"),
    ],
)
def test_wrong_usage_is_exit_code_2(line, hint, here, l2t):
    result = l2t(*shlex.split(line))
    assert result.code == 2
    assert hint in result.err
    assert "--help" in result.err or "-h" in result.err


@pytest.mark.parametrize(
    ("line", "note"),
    [
        (
            "source.csv fewer.csv",
            "note: source.csv: columns left out because not every file has them as features: 'e3'\n",
        ),
        ("source.csv turned.csv", ""),
        (
            "source.csv id.csv",
            "note: id.csv: columns not used as features: 'id' (id); to use a number",
        ),
        ("source.csv text.csv", "note: text.csv: columns not used as features: 'file' (text)\n"),
        ("source.csv text.csv --ignore file", ""),
        ("source.csv id.csv --id id", ""),
        ("source.csv class.csv --ignore class", ""),
        ("source.csv one.csv --ignore e5", ""),
        (
            "source.csv one.csv --missing unknown --impute median",
            "note: one.csv: missing cells filled with the median of their column: 1 in 1 columns\n",
        ),
        (
            "source.csv missing.csv --impute drop",
            "note: missing.csv: rows left out because of missing cells: 1 of 120\n",
        ),
        (
            "marked.csv target.csv",
            "note: marked.csv: labels counted as classes: 'NA' (40 rows); if they mark rows without a label, "
            "pass missing='NA' (on the command line --missing NA)\n",
        ),
        ("marked.csv target.csv --missing NA", ""),
    ],
)
def test_files_as_people_have_them(line, note, wrong, tables, l2t):
    source = tables[0]
    source.assign(digit=source["digit"].replace(source["digit"][0], "NA")).to_csv("marked.csv")
    result = l2t("rank", *shlex.split(line), "--label", "digit")
    assert result.code == 0, result.err
    assert note in result.err
    notes = [each for each in result.err.splitlines() if each.startswith("note: ")]
    assert len(notes) == bool(note), result.err


def test_python_and_the_command_line_have_one_name_for_columns_to_keep(wrong, tables, l2t):
    table = tables[1].assign(nr=range(1, len(tables[1]) + 1))  # numbers its rows, as an id does
    table.to_csv("numbered.csv", index=False)
    arguments = ("numbered.csv", "numbered.csv", "--label", "digit", "--candidates", "spectrum")
    assert "65 features" in l2t("transfer", *arguments, "--keep", "nr").out
    old = l2t("transfer", *arguments, "--feature", "nr")  # the name of version 0.2
    assert "65 features" in old.out
    assert "note: --feature is deprecated and will be removed; write --keep\n" in old.err
    assert read_domain("numbered.csv", label="digit", keep="nr").n_features == 65
    Path("old.toml").write_text(
        'source = "numbered.csv"\ntarget = "numbered.csv"\nlabel = "digit"\nfeature = ["nr", "no"]\n'
    )
    assert "has no column 'no'" in l2t("collect", "--config", "old.toml").err


def test_ids_and_text_are_passed_through(wrong, tables, l2t):
    target = tables[1]
    names = [f"{i:03d}" for i in range(len(target))]
    target.assign(name=names, site="a b", e5=target["e5"].where(target.index > 3)).to_csv(
        "own.csv", index=False
    )
    line = "transfer source.csv own.csv --label digit --id name --impute median -o z.csv"
    for candidates in ("spectrum", "identity"):
        result = l2t(*shlex.split(f"{line} --force --candidates {candidates}"))
        assert result.code == 0, result.err
        own, written = (pd.read_csv(name, dtype={"name": str}) for name in ("own.csv", "z.csv"))
        if candidates == "identity":
            assert "target written to z.csv, with its original features\n" in result.err
            pd.testing.assert_frame_equal(written, own)
        elif "with its original features" not in result.err:
            others = ["digit", "name", "site"]
            assert list(written.columns[-3:]) == others
            pd.testing.assert_frame_equal(written[others], own[others])
            assert list(written.columns[:2]) == ["x0", "x1"]


def test_numbers_as_they_are_written_in_europe(wrong, tables, l2t):
    tables[0].to_csv("points.csv", index=False, sep=";", decimal=",")
    line = "transfer points.csv commas.csv --label digit --decimal , --thousands ."
    result = l2t(*shlex.split(line))
    assert result.code == 0, result.err
    assert "64 features, 10 labelled rows" in result.out


def test_svmlight_files_have_the_same_columns(here, l2t):
    rows = ["{label} {a}:1 {b}:2\n"] * 10
    Path("a.svm").write_text(
        "".join(row.format(label=i % 2, a=0, b=3) for i, row in enumerate(rows))
    )
    Path("b.svm").write_text(
        "".join(row.format(label=i % 2, a=1, b=2) for i, row in enumerate(rows))
    )
    result = l2t("transfer", "a.svm", "b.svm", "--labels", "2", "--format", "json")
    assert result.code == 0, result.err
    assert result.out.count("10 rows, 4 features") == 2
    result = l2t("transfer", "a.svm", "b.svm", "--labels", "2", "--one-based")
    assert result.code == 1
    assert "a.svm: zero_based must not be False" in result.err


def test_a_target_without_labels_is_a_target(wrong, tables, l2t):
    target = tables[1]
    target.drop(columns="digit").to_csv("bare.csv", index=False)
    result = l2t(*shlex.split("transfer source.csv bare.csv --label digit --labels 10 -o z.csv"))
    assert result.code == 0, result.err
    assert "note: bare.csv has no column 'digit', so none of its labels are known\n" in result.err
    assert read_domain("z.csv").y is None
    target.drop(columns="digit").to_csv("index.csv")  # with the index of pandas
    assert l2t("rank", "source.csv", "index.csv", "--label", "digit").code == 0


def test_source_and_target_in_the_wrong_order(here, l2t):
    result = l2t("transfer", "target.csv", "source.csv", "--label", "digit")
    assert result.code == 0
    assert "note: target.csv has labels for 10 of its 120 rows, source.csv for all" in result.err
    assert l2t("transfer", "target.csv", "source.csv", "--label", "digit", "-q").err == ""


@pytest.mark.integration
def test_every_command_takes_the_target_last(wrong, tables, l2t):
    """And asks about the order where the last file has all labels and another one has not."""
    tables[1].drop(columns="digit").to_csv("bare.csv", index=False)
    label = ("--label", "digit")
    right, swapped = ("source.csv", "target.csv"), ("target.csv", "source.csv")
    for command in (["rank"], ["transfer"], ["explain"], ["predict"], ["ask", "--seed", "0"]):
        result = l2t(command[0], *right, *label, *command[1:])
        assert (result.code, "is the order right" in result.err) == (0, False), result.err
        result = l2t(command[0], *swapped, *label, *command[1:])
        known = "note: target.csv has labels for 10 of its 120 rows, source.csv for all; "
        assert f"{known}the target comes last" in result.err, command
    result = l2t("rank", "bare.csv", "source.csv", "source.csv", *label)  # the order of 0.2
    known = (
        "note: bare.csv has labels for 0 of its 120 rows, source.csv for all; the target comes last"
    )
    assert f"{known} (up to version 0.2, rank took it first): is the order right?\n" in result.err
    result = l2t("rank", "source.csv", "source.csv", *label)
    assert "note: every row of source.csv has a label; the target comes last (up to" in result.err
    assert l2t("rank", "source.csv", *label).code == 2


def test_a_warning_is_one_sentence_that_commands_no_terminal(tmp_path):
    edited = load_reflection("default").save(tmp_path / "edited\x1b[31m.json")
    edited.write_text(json.dumps(json.loads(edited.read_text()) | {"training": {"note": "mine"}}))
    command = [sys.executable, "-m", "l2t", "explain", "--reflection", edited]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    what = "was edited by hand: its checksum does not match its content"
    assert result.stderr == f"l2t: warning: {tmp_path}/edited\\x1b[31m.json {what}\n"
