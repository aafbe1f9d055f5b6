"""The column of labels of a target, where the user names none."""

from __future__ import annotations

import pandas as pd
import pytest

from l2t.labelling import LabellingSession

NOTES = [f"{word}, seen {row} times at the old mill" for row in range(30) for word in ("purrs",)]


def write(folder, **columns):
    frame = pd.DataFrame({"note": NOTES, "place": ["north", "south"] * 15, "size": range(30, 60)})
    frame.assign(**columns).to_csv(folder / "animals.csv", index=False)
    return folder / "animals.csv"


@pytest.mark.parametrize("name", ["topic", "class", "label"])
def test_a_column_with_few_names_in_few_rows_has_the_labels(tmp_path, name):
    target = write(tmp_path, **{name: ["cat", "dog", "cat", "owl"] + [""] * 26})
    session = LabellingSession(target)
    assert (session.label_column, session.classes) == (name, ("cat", "dog", "owl"))
    assert name not in session.cells(0)
    session.label(9, "owl")
    session.write(tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv")[name].notna().sum() == 5
    assert LabellingSession(**session.arguments).labels == {9: "owl"}  # as another process opens it


def test_complete_columns_are_features_of_a_target_without_labels(tmp_path):
    session = LabellingSession(write(tmp_path))
    assert (session.label_column, session.classes) == ("label", ())
    assert set(session.cells(0)) == {"note", "place", "size"}
    for row in range(6):
        session.label(row, ["cat", "dog"][row % 2])
    session.write(tmp_path / "out.csv")
    out = pd.read_csv(tmp_path / "out.csv")
    assert out["label"].notna().sum() == 6
    assert out["note"].tolist() == NOTES
