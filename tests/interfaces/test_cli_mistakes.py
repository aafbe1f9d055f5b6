"""Mistakes of someone who uses `l2t transfer` for the first time: each sentence puts them right."""

from __future__ import annotations

import shlex
from pathlib import Path

import pandas as pd
import pytest

from l2t import read_domain

CONFUSED = {
    "no --label": (
        "transfer source.csv target.csv",
        "is not a number; if these are the labels, say label='digit' (on the command line --label digit)",
    ),
    "another label": (
        "transfer source.csv target.csv --label Digit",
        "source.csv: has no column 'Digit'; did you mean 'digit'?",
    ),
    "no such label": (
        "transfer source.csv target.csv --label species",
        "source.csv: has no column 'species'; its columns are 'e0', 'e1', 'e2', 'e3', 'e4', 'e5', ..., "
        "'e59', 'e60', 'e61', 'e62', 'e63', 'digit' (65 in all)",
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
    "other features": (
        "transfer source.csv fewer.csv --label digit",
        "source and target must have the same features, got 64 and 63 columns; only the source has 'e3'",
    ),
    "other order": (
        "transfer source.csv turned.csv --label digit",
        "source and target must have the same features in the same order, got column 'e0' where the "
        "other has 'e63'",
    ),
    "a named index": (
        "transfer source.csv id.csv --label digit",
        "id.csv: column 'id' numbers the rows and is no feature: leave it out with ignore='id' (on the "
        "command line --ignore id)",
    ),
    "text": (
        "transfer source.csv text.csv --label digit",
        "text.csv: column 'file', line 2: 'a b.png' is not a number; if this is no feature, say "
        "ignore='file' (on the command line --ignore file)",
    ),
    "text in one row": (
        "transfer source.csv one.csv --label digit",
        "one.csv: column 'e5', line 9: 'unknown' is not a number; put one there, or leave the column out",
    ),
    "a missing number": (
        "transfer source.csv missing.csv --label digit",
        "missing.csv: column 'e5', line 9: a feature is missing; fill it, or leave it out",
    ),
    "decimal commas": (
        "transfer source.csv commas.csv --label digit",
        "commas.csv: column 'e0', line 2: '0,0' is not a number; if its comma is the decimal mark, say "
        "decimal=',' (on the command line --decimal ,)",
    ),
    "blanks": (
        "transfer blanks.csv target.csv --label digit",
        "differ in blanks alone: write them the same way",
    ),
    "a spreadsheet": (
        "transfer source.csv book.xlsx --label digit",
        "book.xlsx: is damaged or of another format: File is not a zip file",
    ),
    "wrong ending": (
        "transfer source.csv target.csv --label digit -o z.txt",
        "z.txt: the ending of a file must tell its format (.npz, .csv,",
    ),
    "no folder": (
        "transfer source.csv target.csv --label digit -o out/z.csv",
        "out/z.csv: cannot be written: its directory does not exist",
    ),
    "W as csv": (
        "transfer source.csv target.csv --label digit --w-output W.csv",
        "--w-output must be a .npy file in a folder that exists, got 'W.csv'",
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
        "explain source.csv target.csv --reflection why.png --plot why.png",
        "an output must not replace an input or another output, got 'why.png'",
    ),
    "the agent's output over its input": (
        "ask source.csv target.csv --label digit -o source.csv",
        "an output must not replace an input or another output, got 'source.csv'",
    ),
    "a function over its store": (
        "learn --store some.db -o some.db",
        "an output must not replace an input or another output, got 'some.db'",
    ),
    "a version over its store": (
        "versions --store some.db --save some.db",
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
        "unlabelled.csv: has no labels; say --label with the name of their column",
    ),
    "no store": ("learn --store absent.db", "absent.db"),
    "no such store": ("store check notes.txt", "got 'notes.txt'"),
}


@pytest.fixture
def wrong(here, tables):
    """Beside source.csv and target.csv, a target for each mistake."""
    source, target = tables
    Path("empty.csv").touch()
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
    blanks = source["digit"] + pd.Series([" " * (i % 2) for i in range(len(source))])
    source.assign(digit=blanks).to_csv("blanks.csv", index=False)
    Path("book.xlsx").write_bytes(b"PK\x03\x04 something")
    Path("link.csv").hardlink_to("source.csv")
    return here


@pytest.mark.parametrize("mistake", CONFUSED)
def test_a_mistake_gets_one_sentence_that_puts_it_right(mistake, wrong, l2t):
    line, sentence = CONFUSED[mistake]
    before = sorted(wrong.iterdir())
    told = l2t(*shlex.split(line))
    assert told.code == 1
    assert told.out == ""
    assert told.err.startswith("l2t: ")
    assert told.err.count("\n") == 1
    assert sentence in told.err
    assert sorted(wrong.iterdir()) == before, "nothing is left behind"


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("transfer source.csv", "Missing argument 'TARGET'"),
        ("transfer source.csv target.csv --normalise rows", "No such option"),
        ("transfer source.csv target.csv --normalize row", "'rows', 'zscore', 'none'"),
        ("transfer source.csv target.csv --labels 0", "--labels"),
        ("explain source.csv", "a source and a target file are needed, got 1 file(s)"),
        ("explain --plot why.png", "name a source and a target"),
        ("transform", "No such command 'transform'"),
    ],
)
def test_wrong_usage_is_exit_code_2(line, hint, here, l2t):
    told = l2t(*shlex.split(line))
    assert told.code == 2
    assert hint in told.err
    assert "--help" in told.err or "-h" in told.err


def test_what_the_sentences_advise_works(wrong, l2t):
    for name, ignored in (("id.csv", "id"), ("text.csv", "file")):
        told = l2t("transfer", "source.csv", name, "--label", "digit", "--ignore", ignored)
        assert told.code == 0, told.err
        assert "64 features, 10 labelled rows" in told.out


def test_numbers_as_they_are_written_in_europe(wrong, tables, l2t):
    tables[0].to_csv("points.csv", index=False, sep=";", decimal=",")
    line = "transfer points.csv commas.csv --label digit --decimal , --thousands ."
    told = l2t(*shlex.split(line))
    assert told.code == 0, told.err
    assert "64 features, 10 labelled rows" in told.out


def test_svmlight_files_have_the_same_columns(here, l2t):
    rows = ["{label} {a}:1 {b}:2\n"] * 10
    Path("a.svm").write_text(
        "".join(row.format(label=i % 2, a=0, b=3) for i, row in enumerate(rows))
    )
    Path("b.svm").write_text(
        "".join(row.format(label=i % 2, a=1, b=2) for i, row in enumerate(rows))
    )
    told = l2t("transfer", "a.svm", "b.svm", "--labels", "2", "--format", "json")
    assert told.code == 0, told.err
    assert told.out.count("10 rows, 4 features") == 2
    told = l2t("transfer", "a.svm", "b.svm", "--labels", "2", "--one-based")
    assert told.code == 1
    assert "a.svm: has a feature 0" in told.err


def test_a_target_without_labels_is_a_target(wrong, tables, l2t):
    target = tables[1]
    target.drop(columns="digit").to_csv("bare.csv", index=False)
    told = l2t(*shlex.split("transfer source.csv bare.csv --label digit --labels 10 -o z.csv"))
    assert told.code == 0, told.err
    assert "note: bare.csv has no column 'digit': none of its labels are known\n" in told.err
    assert read_domain("z.csv").y is None
    target.drop(columns="digit").to_csv("index.csv")  # with the index of pandas
    assert l2t("rank", "index.csv", "source.csv", "--label", "digit").code == 0


def test_source_and_target_in_the_wrong_order(here, l2t):
    told = l2t("transfer", "target.csv", "source.csv", "--label", "digit")
    assert told.code == 0
    assert "note: target.csv has labels for 10 of its 120 rows, source.csv for all" in told.err
    assert l2t("transfer", "target.csv", "source.csv", "--label", "digit", "-q").err == ""
