"""A labelling session: no label is lost, its file belongs to its rows, its export is the target."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import l2t
from l2t.exceptions import FileFormatError, InvalidInputError
from l2t.labelling import Estimate, LabellingSession, PredictionUpdate
from l2t.labelling.file import HEADER

TRUE = ["cat", "dog", "owl"]


def write_animals(folder, name="animals.csv", *, labelled=0, rows=60, **columns):
    """Write rows of three classes with a text, a category, gaps, and labels for the first few."""
    rng = np.random.default_rng(3)
    codes = np.arange(rows) % 3
    frame = pd.DataFrame(
        rng.normal(size=(rows, 3)).round(3) + 4 * np.eye(3)[codes], columns=list("abc")
    )
    frame.insert(0, "id", [f"A{row:03d}" for row in range(rows)])
    frame["place"] = np.array(["north", "south"])[np.arange(rows) % 2]
    frame.loc[::7, "b"] = None
    frame["species"] = [TRUE[code] if row < labelled else "" for row, code in enumerate(codes)]
    frame.assign(**columns).to_csv(folder / name, index=False)
    return folder / name


@pytest.fixture
def target(tmp_path):
    return write_animals(tmp_path)


def open_session(target, **options):
    return LabellingSession(target, label="species", **options)


def test_labels_are_in_the_file_beside_the_target_which_does_not_change(target):
    before = target.read_bytes()
    session = open_session(target)
    session.label(4, "dog")
    session.label(0, "cat")
    session.skip(9)
    lines = list(csv.DictReader((target.parent / "animals.labels.csv").read_text().splitlines()))
    assert [(line["row"], line["label"], line["action"]) for line in lines] == [
        ("5", "dog", "label"),
        ("1", "cat", "label"),
        ("10", "", "skip"),
    ]
    assert all(line["time"].endswith("+00:00") for line in lines)
    assert target.read_bytes() == before
    again = open_session(target)
    assert again.labels == {4: "dog", 0: "cat"}
    assert again.progress.n_skipped == 1
    assert again.classes == ("dog", "cat")


def test_undo_takes_back_one_action_at_a_time_also_after_a_restart(target):
    session = open_session(target)
    session.label(4, "dog")
    session.label(4, "cat")
    session.skip(7)
    assert open_session(target).undo() == 7
    assert session.undo() == 4  # it reads what the other session wrote
    assert session.labels == {4: "dog"}
    assert session.undo() == 4
    assert session.suggested() == [4]
    assert session.undo() is None
    assert open_session(target).labels == {}


KILLED = """
import os, signal, sys
from l2t.labelling import LabellingSession
session = LabellingSession(sys.argv[1], label="species")
for row in range(25):
    session.label(row, "cat")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.integration
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_killed_process_loses_no_label(target):
    done = subprocess.run([sys.executable, "-c", KILLED, str(target)], check=False, env=os.environ)
    assert done.returncode == -signal.SIGKILL
    assert list(open_session(target).labels) == list(range(25))


@pytest.mark.parametrize("size", range(0, 160, 7))
def test_a_file_that_was_cut_off_anywhere_keeps_its_complete_lines(target, size):
    session = open_session(target)
    for row in range(3):
        session.label(row, "cat, “wild”")
    whole = session.file.path.read_bytes()
    session.file.path.write_bytes(whole[: len(whole) - size])
    kept = open_session(target)
    n_lines = whole[: len(whole) - size].count(b"\n")
    assert list(kept.labels) == list(range(max(n_lines - 1, 0)))
    kept.label(9, "dog")
    assert list(open_session(target).labels) == [*range(max(n_lines - 1, 0)), 9]


def test_a_full_disk_leaves_no_part_of_a_line(target, monkeypatch):
    session = open_session(target)
    session.label(0, "cat")
    before = session.file.path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileFormatError, match=r"labels.csv: cannot be written: No space left"):
        session.label(1, "cat")
    assert session.file.path.read_bytes() == before
    assert session.labels == {0: "cat"}


def test_labels_of_other_rows_are_refused(target):
    session = open_session(target)
    session.label(4, "dog")
    frame = pd.read_csv(target)
    frame.iloc[::-1].to_csv(target, index=False)
    with pytest.raises(FileFormatError, match=r"belongs to other rows: line 2: row 5"):
        open_session(target)
    frame.head(3).to_csv(target, index=False)
    with pytest.raises(FileFormatError, match="belongs to other rows"):
        open_session(target)


def test_filling_in_the_label_column_or_adding_rows_keeps_the_labels(target):
    open_session(target).label(4, "dog")
    frame = pd.read_csv(target)
    frame["species"] = "cat"
    pd.concat([frame, frame.tail(2)]).to_csv(target, index=False)
    assert open_session(target).labels == {4: "dog"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n", "is not a file of labels: line 1"),
        ("no line end", "is not a file of labels: line 1"),
        (f"{HEADER}\n1,cat,,burn,,,,,\n", "has a damaged line: line 2: 'burn' is no action"),
        (f"{HEADER}\none,cat,,label,,,,,\n", "has a damaged line: line 2"),
    ],
)
def test_another_file_is_refused_and_left_as_it_is(target, content, message):
    place = target.with_name("animals.labels.csv")
    place.write_text(content)
    with pytest.raises(FileFormatError, match=message):
        open_session(target)
    assert place.read_text() == content


def test_hidden_labels_are_not_read(tmp_path):
    """Labels of rows that are not marked as labelled may be anything."""
    labels = [TRUE[row % 3] if row < 9 else f"hidden {row}" for row in range(60)]
    mask = (np.arange(60) < 9).astype(int)
    target = write_animals(tmp_path, species=labels, mine=mask)
    session = open_session(target, labeled="mine")
    assert session.progress.n_given == 9
    assert session.classes == ("cat", "dog", "owl")
    session.label(30, "cat")
    assert set(session.domain.classes) == set(TRUE)
    assert not any("hidden" in str(cell) for cell in session.cells(20).values())
    session.write(tmp_path / "out.csv")
    out = pd.read_csv(tmp_path / "out.csv")
    assert out["mine"].sum() == 10
    assert out["species"].dropna().tolist() == [*labels[:9], "cat"]


def test_the_export_is_the_target_with_labels(target, tmp_path):
    session = open_session(target)
    session.label(4, "dog")
    session.write(tmp_path / "out.csv")
    before, after = pd.read_csv(target), pd.read_csv(tmp_path / "out.csv")
    pd.testing.assert_frame_equal(before.drop(columns="species"), after.drop(columns="species"))
    assert after["species"].dropna().to_dict() == {4: "dog"}
    with pytest.raises(InvalidInputError, match="must be another file than the target"):
        session.write(target)


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_other_forms_are_exported_as_they_came(tmp_path, ending):
    X = np.random.default_rng(0).normal(size=(20, 3))
    known = np.arange(20) < 4
    y = np.array([row % 2 for row in range(20)])
    l2t.write_domain(l2t.Domain(X, y, labeled=known), tmp_path / f"target.{ending}")
    options = {} if ending == "npz" else {"labeled": "labeled"}
    session = LabellingSession(tmp_path / f"target.{ending}", **options)
    assert session.classes == ("0", "1")
    session.label(9, "1")
    session.label(11, "2")
    session.write(tmp_path / f"out.{ending}")
    out = l2t.read_domain(tmp_path / f"out.{ending}", **options)
    assert out.X.tolist() == X.tolist()
    assert np.flatnonzero(out.labeled).tolist() == [0, 1, 2, 3, 9, 11]
    assert [int(out.y[row]) for row in (0, 1, 9, 11)] == [0, 1, 1, 2]


def test_suggested_rows_come_from_the_forecast_and_are_not_repeated(target):
    session = open_session(target)
    first = session.suggested(30)
    assert len(set(first)) == 30
    session.label(first[0], "cat")
    session.skip(first[1])
    assert session.suggested(28) == first[2:]
    session.adopt(PredictionUpdate(Estimate(1, None), (50, first[0], 51), ""))
    assert session.suggested(2) == [50, 51]
    for row in session.suggested(60)[:-1]:
        session.label(row, "cat")
    assert session.suggested(9) == [first[1]], "a skipped row comes last"
    assert session.progress.n_labelled == 59


def test_a_prediction_needs_labels_and_then_tells_what_to_expect(target, tmp_path):
    session = open_session(target)
    found, forecast = session.predict()
    assert found is None
    assert forecast.sentence.startswith("There is no prediction yet: ")
    session.adopt(forecast)
    assert not session.progress.is_due
    for row in range(12):
        session.label(row, TRUE[row % 3])
    assert session.progress.is_due
    found, forecast = session.predict()
    assert found.given.sum() == 12
    assert len(forecast.rows) == 30
    session.adopt(forecast)
    session.adopt(forecast)
    assert not session.progress.is_due
    assert session.suggested(30) == list(forecast.rows)
    assert open_session(target).progress.curve == session.progress.curve
    assert [each.n_labels for each in session.progress.curve] == [12]
    low, high = forecast.estimate.low, forecast.estimate.high
    assert low is None or low <= forecast.estimate.expected <= high


def test_classes_of_a_source_are_offered_if_the_target_has_none_or_shares_one(tmp_path):
    source = write_animals(tmp_path, "source.csv", labelled=60)
    target = write_animals(tmp_path, "target.csv")
    session = open_session(target, sources=[source])
    assert session.classes == ("cat", "dog", "owl")
    few = write_animals(tmp_path, "few.csv", species=["fox"] * 2 + [""] * 58)
    assert open_session(few, sources=[source]).classes == ("fox",)


def test_labels_that_are_numbers_are_one_label_however_they_are_spelled(tmp_path):
    target = write_animals(tmp_path, species=["1", "2"] + [""] * 58)
    session = open_session(target)
    session.label(5, "2.0")
    session.label(6, "3")
    assert session.classes == ("1", "2", "3")
    assert session.domain.classes == (1, 2, 3)
    session.label(7, "none of them")
    assert set(session.domain.classes) == {"1", "2", "3", "none of them"}


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "x" * 201])
def test_a_class_has_a_name_of_one_line(target, name):
    with pytest.raises(InvalidInputError, match="must be one line"):
        open_session(target).label(0, name)


def test_wrong_rows_and_files_are_refused(target):
    session = open_session(target)
    with pytest.raises(InvalidInputError, match="row must be below 60, got 60"):
        session.label(60, "cat")
    with pytest.raises(InvalidInputError, match="labels must be another file"):
        open_session(target, labels=target)
    with pytest.raises(InvalidInputError, match="strategy must be"):
        open_session(target, strategy="best")
    with pytest.raises(InvalidInputError, match="impute must not drop"):
        open_session(target, impute="drop")
    assert not session.file.path.exists()
