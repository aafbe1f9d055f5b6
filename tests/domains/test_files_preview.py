"""A first look at files: roles that are guessed, marks of decimals, and words for missing cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import l2t
from l2t.domains.files import preview_file, read_tables
from l2t.exceptions import FileFormatError


def write(tmp_path, text, name="a.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def roles(path, **options):
    return {each.name: each.role for each in preview_file(path, **options).columns}


def test_a_messy_table(tmp_path):
    labels, sites = ("lynx", "cat", *[""] * 6), ("north", "south") * 4
    heights = ("0", "1", "2", "unknown", "4", "5", "6", "7")
    rows = zip(range(8), sites, heights, labels, strict=True)
    lines = [f"A{i};{site};{i},5;{height};{label}" for i, site, height, label in rows]
    text = "\n".join(["id;site;weight;height;species", *lines])
    found = preview_file(write(tmp_path, text))
    assert (found.n_rows, found.n_features, found.decimal, found.missing) == (
        8,
        3,
        ",",
        ("unknown",),
    )
    assert (
        roles(tmp_path / "a.csv")
        == {
            "id": "id",
            "site": "feature",
            "weight": "feature",
            "height": "feature",
            "species": "label",
        }
        or roles(tmp_path / "a.csv")["species"] == "feature"
    )
    columns = {each.name: each for each in found.columns}
    assert (columns["height"].n_missing, columns["weight"].n_missing) == (1, 0)
    assert not columns["site"].is_unusable
    assert columns["site"].n_distinct == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,class\n1,0\n2,1\n", {"a": "feature", "class": "label"}),
        ("a,kind\n1,u\n2,v\n3,u\n", {"a": "feature", "kind": "label"}),
        ("a,note\n1,u\n2,v\n3,w\n", {"a": "feature", "note": "id"}),
        (
            "kind,label,a\nu,x,1\nu,y,2\nv,x,3\n",
            {"kind": "feature", "label": "label", "a": "feature"},
        ),
        (
            "a,labeled,label\n1,0,u\n2,1,v\n",
            {"a": "feature", "labeled": "labeled", "label": "label"},
        ),
        ("a,b\n1,\n2,\n", {"a": "feature", "b": "ignore"}),
        ("0.5,1.5\n2.5,3.5\n", {"0": "feature", "1": "feature"}),
    ],
)
def test_roles(tmp_path, text, expected):
    assert roles(write(tmp_path, text)) == expected


def test_a_column_with_few_labels_comes_before_complete_text(tmp_path):
    """A target of penguins: `species` is known in 4 of 10 rows, `sex` in all of them."""
    species = ["Adelie", "Gentoo", "Adelie", "Gentoo", *[""] * 6]
    rows = [f"{label},{i},{'fm'[i % 2]}" for i, label in enumerate(species)]
    path = write(tmp_path, "\n".join(["species,bill,sex", *rows]))
    expected = {"species": "label", "bill": "feature", "sex": "feature"}
    assert roles(path) == expected
    assert roles(path, label="sex") == expected  # a guess from a file where both are complete
    remarks = path.read_text().replace("Adelie", "tagged twice", 1).replace("Gentoo", "wet", 1)
    assert roles(write(tmp_path, remarks.replace("Gentoo", "old")))["sex"] == "label"


@pytest.mark.parametrize(
    "labels",
    [
        ["Adelie", "Gentoo"],
        ["class 1", "class 2", "class 3"],
        ["1", "2", "1", "2"],
        ["0", "1"],
    ],
)
def test_a_column_with_one_label_per_class_or_few_numbers_comes_before_complete_text(
    tmp_path, labels
):
    species = [*labels, *[""] * 8]
    rows = [f"{label},{i / 2},{'fm'[i % 2]}" for i, label in enumerate(species)]
    path = write(tmp_path, "\n".join(["species,bill,sex", *rows]))
    expected = {"species": "label", "bill": "feature", "sex": "feature"}
    assert roles(path) == expected
    assert roles(path, label="sex") == expected


@pytest.mark.parametrize("cells", [["0.5", "1.5"], ["1", "1"], [str(i) for i in range(11)]])
def test_other_numbers_in_a_few_rows_are_a_feature(tmp_path, cells):
    rows = [f"{cell},{'fm'[i % 2]}" for i, cell in enumerate([*cells, *[""] * 12])]
    path = write(tmp_path, "\n".join(["age,sex", *rows]))
    assert roles(path) == {"age": "feature", "sex": "label"}


def test_the_label_of_another_file_is_the_label(tmp_path):
    path = write(tmp_path, "kind,other,a\nu,x,1\nv,x,2\nu,y,3\n")
    assert roles(path)["other"] == "label"
    assert roles(path, label="kind") == {"kind": "label", "other": "feature", "a": "feature"}
    assert roles(path, label="absent")["other"] == "label"


def test_arrays_have_their_roles_by_name(tmp_path):
    domain = l2t.Domain(np.eye(3), ["u", None, "v"], labeled=[True, False, True])
    found = preview_file(l2t.write_domain(domain, tmp_path / "a.npz"))
    assert (found.columns, found.n_features, found.n_labelled) == ((), 3, 2)
    assert found.classes == ("u", "v")


@pytest.mark.parametrize("name", ["control", "NA", "?"])
def test_a_class_named_like_a_missing_cell(tmp_path, name):
    labels, weights = ("1", "2", "1", "2", name, name, ""), (1, 2, 3, 4, 5, 6, "unknown")
    lines = [f"{weight},{label}" for weight, label in zip(weights, labels, strict=True)]
    found = preview_file(write(tmp_path, "\n".join(["weight,class", *lines])))
    assert found.missing == ("unknown",)
    weight, label = found.columns
    assert (weight.role, weight.n_missing) == ("feature", 1)
    assert (label.role, label.n_missing, label.n_distinct) == ("label", 1, 3)
    (table,) = read_tables(
        [tmp_path / "a.csv"],
        per_file=[{"label": "class", "missing_numbers": ["control", "unknown"]}],
        impute="mean",
    )
    assert set(table.domain.classes) == {"1", "2", name}


def test_other_tables(tmp_path):
    frame = pd.DataFrame({"id": [1, 2, 3], "a": [0.5, None, 2.0], "label": ["u", "v", "u"]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    for name in ("a.parquet", "a.xlsx"):
        assert roles(tmp_path / name) == {"id": "id", "a": "feature", "label": "label"}


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(FileFormatError, match="has a header but no rows"):
        preview_file(write(tmp_path, "a,b\n"))


def test_files_with_columns_of_their_own_are_read_together(tmp_path):
    first = write(tmp_path, "b,a,kind\n1,2,u\n3,4,v\n", "first.csv")
    second = write(tmp_path, "a;x;b;species\n5;1;6;\n7;1;8;w\n", "second.csv")
    per_file = [
        {"label": "kind", "features": ["b", "a"]},
        {"label": "species", "features": ["a", "b"], "ignore": ["x"]},
    ]
    source, target = read_tables([first, second], per_file=per_file)
    assert source.domain.X.tolist() == [[2.0, 1.0], [4.0, 3.0]]
    assert target.domain.feature_names == ("a", "b")
    assert source.domain.classes == ("u", "v")
    assert target.labelled.labeled.tolist() == [False, True]
    with pytest.raises(FileFormatError, match=r"second.csv: .*no column 'y'"):
        read_tables([first, second], per_file=[per_file[0], per_file[1] | {"ignore": ["y"]}])
