"""csv: what people, spreadsheets, pandas and R write, and errors that know their line."""

from __future__ import annotations

import io
import re
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from l2t.domains import Domain, read_domain, read_tables, write_domain
from l2t.exceptions import FileFormatError, InvalidInputError, L2TWarning

IRIS = "sepal,petal,species\n5.1,1.4,setosa\n6.3,4.7,versicolor\n"
TWO = Domain([[5.1, 1.4], [6.3, 4.7]], ["setosa", "versicolor"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.csv"


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def refused(path: Path, text: str, sentence: str, **named: Any) -> None:
    write(path, text)
    with pytest.raises(FileFormatError, match=sentence) as caught:
        read_domain(path, **named)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message


@pytest.mark.parametrize(
    "text",
    [
        IRIS,
        IRIS.rstrip("\n"),
        IRIS + "\n\n",
        "\n" + IRIS,
        IRIS.replace("\n", "\r\n"),
        IRIS.replace("\n", "\r"),
        IRIS.replace(",", ";"),
        IRIS.replace(",", "\t"),
        "\ufeff" + IRIS,
        "\ufeff" + IRIS.replace(",", ";").replace("\n", "\r\n"),
        IRIS.replace("setosa", '"setosa"').replace("5.1", '"5.1"').replace("sepal", '"sepal"'),
        IRIS.replace(",petal", ", petal").replace("1.4", " 1.4 "),
        IRIS.replace("5.1", "+51e-1"),
    ],
    ids=[
        *["plain", "no-newline", "blank-lines", "blank-first", "crlf", "cr", "semicolons", "tabs"],
        *["bom", "spreadsheet", "quotes", "spaces", "exponent"],
    ],
)
def test_the_same_table_in_many_dresses(path: Path, text: str) -> None:
    assert read_domain(write(path, text), label="species") == TWO


def test_cells_with_separators_quotes_and_lines(path: Path) -> None:
    labels = ['a,b;c\td"e', "two\nlines", "two\r\nlines", "a\rb", " padded ", "ünïcode 猫 🐈"]
    domain = Domain(np.arange(12.0).reshape(6, 2), labels)
    stripped = [label.strip() for label in labels]
    assert read_domain(write_domain(domain, path)) == Domain(domain.X, stripped)


def test_without_a_label_column_there_are_no_labels(path: Path) -> None:
    assert read_domain(write(path, "a,b\n1,2\n3,4\n")) == Domain([[1.0, 2.0], [3.0, 4.0]])


def test_a_column_called_label_is_the_label(path: Path) -> None:
    write(path, "a,label,b\n1,7,2\n3,8,4\n")
    assert read_domain(path) == Domain([[1.0, 2.0], [3.0, 4.0]], [7, 8])
    assert read_domain(path, features=["a", "label"]) == Domain([[1.0, 7.0], [3.0, 8.0]])


def test_features_by_name_and_in_that_order(path: Path) -> None:
    write(path, "a,b,c,d\n1,2,3,x\n4,5,6,y\n")
    assert read_domain(path, features=["c", "a"]) == Domain([[3.0, 1.0], [6.0, 4.0]])
    assert read_domain(path, features="b", label="d") == Domain([[2.0], [5.0]], ["x", "y"])
    assert read_domain(path, features=("a", "b", "c")).X.shape == (2, 3)


def test_numbers_without_a_header(path: Path) -> None:
    write(path, "5.1,3.5,0\n4.9,3.0,1\n")
    assert read_domain(path, label="2") == Domain([[5.1, 3.5], [4.9, 3.0]], [0, 1])
    write(path, "5.1,3.5,setosa\n4.9,3.0,virginica\n")
    assert read_domain(path, label="2") == Domain([[5.1, 3.5], [4.9, 3.0]], ["setosa", "virginica"])
    assert len(read_domain(write(path, "7\n8\n"))) == 2
    assert len(read_domain(write(path, "0,1\n1,0\n"))) == 2
    assert len(read_domain(write(path, "0,cat\n1,dog\n"), label="1")) == 2


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("columns", [None, ["u", "v"]])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("features", [2, 3])
def test_what_pandas_writes(
    path: Path, index: bool, columns: list[str] | None, separator: str, features: int
) -> None:
    X = np.random.default_rng(0).normal(size=(4, features))
    frame = pd.DataFrame(X, columns=columns and [*columns, "w"][:features])
    frame["label"] = ["a", None, "b", "a"]
    frame.to_csv(path, index=index, sep=separator)
    known = [True, False, True, True]
    assert read_domain(path) == Domain(X, ["a", None, "b", "a"], labeled=known)


@pytest.mark.parametrize("index", [True, False])
def test_what_pandas_writes_of_a_bare_array(path: Path, index: bool) -> None:
    X = np.random.default_rng(0).normal(size=(4, 3))
    pd.DataFrame(X).to_csv(path, index=index)
    assert read_domain(path) == Domain(X)


def test_pandas_reads_what_is_written(path: Path) -> None:
    domain = Domain([[0.1, 1e30], [1e-300, -0.3]], ["a", "b"], labeled=[True, False], groups=[1, 2])
    frame = pd.read_csv(io.StringIO(write_domain(domain, path, label="kind").read_text()))
    assert list(frame.columns) == ["x0", "x1", "kind", "labeled", "groups"]
    assert frame[["x0", "x1"]].to_numpy().tolist() == domain.X.tolist()
    assert frame["kind"].tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "-2", "+3"], [1, -2, 3]),
        (["1", "2.5", "1e3"], [1.0, 2.5, 1000.0]),
        (["True", "FALSE", "true"], [True, False, True]),
        (["1", "x", "2.5"], ["1", "x", "2.5"]),
        (["01", "02", "03"], ["01", "02", "03"]),
        (["1_0", "2", "3"], ["1_0", "2", "3"]),
        (["12345678901234567890123", "2", "3"], ["12345678901234567890123", "2", "3"]),
        (["inf", "1", "2"], [np.inf, 1.0, 2.0]),
        (["0x1F", "1", "2"], ["0x1F", "1", "2"]),
    ],
)
def test_the_type_of_labels(path: Path, cells: list[str], values: list[Any]) -> None:
    write(path, "x,kind,site\n" + "".join(f"1,{cell},{cell}\n" for cell in cells))
    domain = read_domain(path, label="kind", groups="site")
    assert domain == Domain([[1.0]] * 3, values, groups=values)


def test_labels_that_look_like_numbers_become_numbers(path: Path) -> None:
    write_domain(Domain([[1.0], [2.0]], ["0", "1"]), path)
    assert read_domain(path).classes == (0, 1)


def test_blank_labels_are_not_known(path: Path) -> None:
    write(path, 'x,kind\n1,a\n2,\n3,"  "\n4,b\n')
    mask = [True, False, False, True]
    assert read_domain(path, label="kind") == Domain(
        [[1.0], [2.0], [3.0], [4.0]], ["a", None, None, "b"], labeled=mask
    )
    write(path, "x,kind\n1,7\n2,\n3,\n4,8.5\n")
    assert read_domain(path, label="kind").classes == (7.0, 8.5)
    write(path, "x,kind\n1,\n2,\n")
    assert read_domain(path, label="kind").classes == ()


@pytest.mark.parametrize("pair", ["10", "TF", "tf"])
def test_a_mask_column(path: Path, pair: str) -> None:
    yes, no = {"10": ("1", "0"), "TF": ("TRUE", "False"), "tf": (" true", "0.0")}[pair]
    write(path, f"x,kind,mine\n1,a,{yes}\n2,b,{no}\n3,,{no}\n")
    domain = read_domain(path, label="kind", labeled="mine")
    assert domain == Domain([[1.0], [2.0], [3.0]], ["a", "b", None], labeled=[True, False, False])


def test_a_mask_or_group_column_must_be_named(path: Path) -> None:
    domain = Domain([[1.0], [2.0]], ["a", "b"], labeled=[True, False], groups=["u", "v"])
    write_domain(domain, path)
    assert read_domain(path, labeled="labeled", groups="groups") == domain
    assert read_domain(path, features=["x0"]) == Domain([[1.0], [2.0]], ["a", "b"])
    text = path.read_text()
    refused(path, text, "column 'labeled' must have a role: pass labeled='labeled' .*, keep=")
    with pytest.warns(L2TWarning, match=r"columns not used as features: 'groups' \(id\)$"):
        assert read_domain(path, labeled="labeled").groups is None
    domain = Domain([[1.0], [2.0]], ["a", "b"], groups=[7, 7])
    text = write_domain(domain, path).read_text()
    refused(path, text, "column 'groups' must have a role: pass groups=")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "x0,x3\n1,2\n3,abc\n",
            "numbers, got 'abc' in column 'x3', line 3; if 'abc' means missing, pass missing='abc' .*, or "
            "leave out columns: ignore='x3'",
        ),
        ("x0,x3\n1,2\n3,1_000\n", "numbers, got '1_000' in column 'x3', line 3; if '1_000'"),
        (
            "x0,x3\n1,2\n\n3,\n",
            "1 missing cell in column 'x3', line 4; fill missing cells: impute='median' ",
        ),
        (
            "x0,x3\n1,2\n3,nan\n",
            "1 missing cell in column 'x3', line 3; fill missing cells: impute='median' ",
        ),
        (
            "x0,x3\n-inf,2\n3,4\n",
            "got -inf in column 'x0', line 2; leave out columns: ignore='x0' ",
        ),
        (  # which pandas below 3 does not take for a number
            "x0,x3\n1e999,2\n",
            "(?:got inf in column 'x0', line 2;|column 'x0', line 2: '1e999' is not a number;) ",
        ),
        ("x0,x3\n1,2\n3\n", "line 3 has 1 cells, where line 1 has 2$"),
        ("x0,x3\n1,2\n3,4,5\n", "line 3 has 3 cells, where line 1 has 2$"),
        ("1,2\n3,4,5\n", "line 2 has 3 cells, where line 1 has 2$"),
        ("x0,x3\n", "has a header but no rows$"),
        ("\n\r\n\n", "has only blank lines$"),
        ("a,b,a\n1,2,3\n", "has more than one column 'a'$"),
        ('a,b\n1,"2\n', "line 2: unexpected end of data$"),
        ("1.5 2.5\n3.5 4.5\n", "column '1.5 2.5', line 2: '3.5 4.5' is not a number"),
        ("1,5;2,5\n3,5;4,5\n", "'1,5' and 1 more like it in column '0', line 1, '2,5'"),
        (
            "a;b\n1;2,5\n",
            "'2,5' in column 'b', line 2; if a comma is the decimal mark, pass decimal=',' .*, or if it "
            "separates thousands, thousands=','",
        ),
        ("label\na\n", "has no feature columns; its columns are 'label'$"),
        (",,\n,,\n", "2 missing cells in column '0', line 1, 2 missing cells in column '1'"),
    ],
)
def test_errors_know_their_place(path: Path, text: str, sentence: str) -> None:
    refused(path, text, sentence)


def test_a_line_number_counts_lines_within_cells(path: Path) -> None:
    text = 'x,kind\n1,"two\nlines"\noops,b\n'
    sentence = "features must be finite numbers, got 'oops' in column 'x', line 4; if 'oops' means"
    refused(path, text, sentence, label="kind")


def test_errors_of_the_other_columns(path: Path) -> None:
    text = "x,kind,mine,site\n1,a,1,u\n2,b,maybe,\n"
    features = {"features": ["x"]}
    refused(
        path,
        text,
        "'mine', line 3: 'maybe' is not 0, 1, true or false$",
        labeled="mine",
        **features,
    )
    refused(path, text, "column 'site', line 3: a group is missing$", groups="site", **features)
    refused(
        path, text, "has no column 'z'; its columns are 'x', 'kind', 'mine', 'site'$", label="z"
    )
    refused(path, text, "has no column 'z'", features=["x", "z"])
    refused(path, text, "column 'x' cannot have two roles$", label="x", **features)
    refused(path, "x,kind\n1,a\n2\n", "line 3 has 1 cells, where line 1 has 2$", label="kind")
    text = "x,kind,mine\n1,,1\n2,b,1\n"
    refused(path, text, "y must not be missing where labeled is True", label="kind", labeled="mine")
    refused(path, "x,mine\n1,1\n", "labeled marks rows as labelled, but y", labeled="mine")


def test_a_list_of_very_many_columns_is_cut(path: Path) -> None:
    text = ",".join(f"c{i}" for i in range(300)) + "\n" + ",".join("1" * 300) + "\n"
    refused(
        path, text, r"'c0', .* 'c5', \.\.\., 'c294', .* 'c299' \(300 in all\)$", label="species"
    )


def test_bytes_that_are_no_text(path: Path) -> None:
    for content in (b"a,b\n1,2\n\xff\xfe,3\n", b"a,label\n" + b"1,x\n" * 50_000 + b"1,\xe9\n"):
        path.write_bytes(content)
        with pytest.raises(
            FileFormatError, match=r"is not UTF-8 text; pass its encoding, such as "
        ):
            read_domain(path)
    path.write_bytes("a,label\n1,x\n".encode("utf-16") + b"\0")
    with pytest.raises(FileFormatError, match=r"data.csv: is not UTF-16 text"):
        read_domain(path)


@pytest.mark.parametrize(
    ("codec", "given"), [("utf-16", None), ("utf-8-sig", None), ("cp1252", "cp1252")]
)
def test_encodings(path: Path, codec: str, given: str | None) -> None:
    path.write_bytes("größe,label\n1,Bär\n2,Füchse\n".encode(codec))
    domain = read_domain(path, encoding=given)
    assert domain.feature_names == ("größe",)
    assert domain.classes == ("Bär", "Füchse")


def test_decimal_commas_and_thousands(path: Path) -> None:
    expected = Domain([[1.5, 1234.25], [-2.0, 1e6]], ["1,5", "2"])
    write(path, "a;b;label\n1,5;1.234,25;1,5\n-2;1.000.000;2\n")
    assert read_domain(path, decimal=",", thousands=".") == expected
    write(path, 'a,b,label\n1.5,"1,234.25","1,5"\n-2,"1,000,000",2\n')
    assert read_domain(path, thousands=",") == expected
    write(path, "a\tb\n1,5\tx\n")
    refused(path, path.read_text(), "column 'b', line 2: 'x' is not a number", decimal=",")
    write(path, "a;b\n1,5;2\nx;3\n")
    refused(path, path.read_text(), "got 'x' in column 'a', line 3", decimal=",")
    for marks in ({"decimal": ""}, {"thousands": "::"}):
        with pytest.raises(InvalidInputError, match="decimal and thousands must be one character"):
            read_domain(path, **marks)


@pytest.mark.parametrize("ending", ["gz", "zip"])
def test_a_compressed_table(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame({"x": [0.1, 2.5], "label": ["a", "b"]})
    path = tmp_path / f"data.csv.{ending}"
    frame.to_csv(path, index=False)
    expected = Domain([[0.1], [2.5]], ["a", "b"])
    assert read_domain(path) == expected
    assert read_domain(path.rename(tmp_path / "other")) == expected
    content = (tmp_path / "other").read_bytes()
    (tmp_path / "other").write_bytes(content[: len(content) // 2])
    with pytest.raises(FileFormatError, match=r"other: is damaged"):
        read_domain(tmp_path / "other", format="csv")


def test_an_archive_of_two_tables(tmp_path: Path) -> None:
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "x\n1\n")
        archive.writestr("b.csv", "x\n1\n")
    with pytest.raises(FileFormatError, match=r"must be a zip archive of one table, got 2 files$"):
        read_domain(path)


@pytest.mark.parametrize("name", ["label", "class", "target", "y"])
def test_numeric_labels_of_any_name(path: Path, name: str) -> None:
    write(path, f"a,{name}\n0.5,3\n1.5,4\n")
    assert read_domain(path, label=name) == Domain([[0.5], [1.5]], [3, 4])


def test_an_endless_cell(path: Path) -> None:
    refused(path, 'a,b\n1,"' + "2\n" * 100_000, r"line \d+: field larger than field limit")


def test_more_numbers_than_one_block(path: Path) -> None:
    domain = Domain(np.random.default_rng(0).normal(size=(30_000, 10)))
    assert read_domain(write_domain(domain, path)) == domain


def test_numbers_beside_text_are_read_exactly(path: Path) -> None:
    numbers = np.random.default_rng(0).normal(size=1000)
    write(path, "a,b\n" + "".join(f"{number!r},1.5\n" for number in numbers.tolist()) + "none,2\n")
    with pytest.warns(L2TWarning, match="filled with the mean"):
        domain = read_domain(path, missing="none", impute="mean")
    np.testing.assert_array_equal(domain.X[:-1, 0], numbers)


@pytest.mark.parametrize("without", [(), ("pyarrow.csv",)])
def test_a_large_frame_is_written_as_a_small_one_is(
    path: Path, without: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(path, 'name,x,kind\n"a ""b"", c",1.5,u\nd\u00e9f,2,NA\n007,3.25,\n')
    (table,) = read_tables([path], label="kind")
    written = []
    for large in (10**6, 0):
        monkeypatch.setattr("l2t.domains.files._writing._LARGE", large)
        for module in without if large == 0 else ():
            monkeypatch.setitem(sys.modules, module, None)
        table.write(path.with_name("out.csv"), columns={"given": [True, False, True]})
        written.append(pd.read_csv(path.with_name("out.csv"), keep_default_na=False))
    pd.testing.assert_frame_equal(*written)
    assert written[0]["name"].tolist() == ['a "b", c', "déf", "007"]
    assert written[0]["kind"].tolist() == ["u", "NA", ""]


def test_what_cannot_be_written(path: Path) -> None:
    for domain, sentence in (
        (Domain([[1.0]], [" "]), "column 'label' must not hold blank text"),
        (Domain([[1.0]], groups=[""]), "column 'groups' must not hold blank text"),
        (Domain([[1.0]], np.array(["\ud800"], dtype=object)), "must be valid Unicode"),
    ):
        with pytest.raises(InvalidInputError, match=f"data.csv: .*{sentence}"):
            write_domain(domain, path)
    for label in ("x0", "labeled", "groups", "", " a", 3):
        with pytest.raises(InvalidInputError, match="label must "):
            write_domain(Domain([[1.0]], [1]), path, label=label)  # type: ignore[arg-type]
    assert list(path.parent.iterdir()) == []


def test_names_of_features_are_kept(tmp_path: Path) -> None:
    domain = Domain([[1.0, 2.0]], ["a"], feature_names=["height", "width"])
    path = write_domain(domain, tmp_path / "named.csv")
    assert path.read_text().splitlines()[0].replace('"', "") == "height,width,label"
    assert read_domain(path).feature_names == ("height", "width")
    (tmp_path / "bare.csv").write_text("1,2\n3,4\n")
    assert read_domain(tmp_path / "bare.csv").feature_names is None


def test_a_column_can_be_left_out(path: Path) -> None:
    write(path, "file,x,z,kind\na.png,1,2,a\nb.png,3,4,b\n")
    expected = Domain([[1.0, 2.0], [3.0, 4.0]], ["a", "b"])
    assert read_domain(path, label="kind", ignore="file") == expected
    assert read_domain(path, label="kind", ignore=["file", "z"]).feature_names == ("x",)
    for role in ("id", "ignore", "keep"):
        sentence = "has no column 'flie'; did you mean 'file'"
        refused(path, path.read_text(), sentence, label="kind", **{role: "flie"})
    refused(path, path.read_text(), "has no column 'Kind'; did you mean 'kind'", label="Kind")
    with pytest.raises(InvalidInputError, match="ignore must be a name, got 3"):
        read_domain(path, ignore=[3])  # type: ignore[list-item]
    with pytest.raises(
        InvalidInputError, match="ignore cannot be chosen in npz files, whose columns have no names"
    ):
        read_domain(write_domain(expected, path.with_suffix(".npz")), ignore="file")


def test_a_column_that_numbers_the_rows_is_an_id(path: Path) -> None:
    for first in ("", "Unnamed: 0"):  # as pandas writes an index, and writes it once more
        write(path, f"{first},x\n0,5\n1,6\n2,7\n")
        assert read_domain(path) == Domain([[5.0], [6.0], [7.0]])
    write(path, "nr,x,z\n" + "".join(f"{i},5,{i % 3}\n" for i in range(1, 11)))
    with pytest.warns(L2TWarning, match=r"as features: 'nr' \(id\); .* line --keep nr\)$"):
        assert read_domain(path).feature_names == ("x", "z")
    assert read_domain(path, id="nr").feature_names == ("x", "z")
    assert read_domain(path, keep="nr").X[:, 0].tolist() == list(range(1, 11))
    assert read_domain(path, features=["nr"]).X[:, 0].tolist() == list(range(1, 11))
    for first in ("x0", "nr"):  # numbered features may count, and few rows by chance
        rows = 20 if first == "x0" else 9
        write(path, f"{first},x1\n" + "".join(f"{i},{i % 3}\n" for i in range(rows)))
        assert read_domain(path).n_features == 2


@pytest.mark.parametrize("name", ["id", "ID", "patient_id", "patientId", "Sample ID", "uuid"])
def test_whole_numbers_under_the_name_of_an_id(path: Path, name: str) -> None:
    write(path, f"x,{name}\n1,0842\n2,0917\n3,0111\n")
    with pytest.warns(L2TWarning, match=rf"features: '{name}' \(id\); to use a number"):
        assert read_domain(path).feature_names == ("x",)
    (table,) = read_tables([path])
    assert table.roles.ids == (name,)
    assert table.frame[name].tolist() == ["0842", "0917", "0111"]
    write(path, f"x,{name}\n1,8\n2,8\n3,1\n")  # not all different
    assert read_domain(path).n_features == 2
    write(path, f"x,{name}\n1,.5\n2,.25\n3,1\n")  # not whole
    assert read_domain(path).n_features == 2


def test_text_is_an_id_where_all_values_differ(path: Path) -> None:
    text = "file,site,x,kind\n" + "".join(f"{i}.png,{'ab'[i % 2]},{i / 3},c\n" for i in range(5))
    with pytest.warns(L2TWarning) as warned:
        assert read_domain(write(path, text), label="kind").feature_names == ("x",)
    assert [str(each.message) for each in warned] == [
        f"{path}: columns not used as features: 'file' (id), 'site' (text)",
    ]
    refused(path, text, "'a' is not a number; if these are the labels, pass label='site' .*, else")


@pytest.mark.parametrize("name", ["label", "labels", "class", "Class"])
def test_numbers_under_the_name_of_a_label_are_no_feature_by_silence(path: Path, name: str) -> None:
    text = f"a,{name},kind\n0.5,3,u\n1.5,4,v\n"
    sentence = (
        rf"column '{name}' must have a role: pass label='{name}' \(.* --label {name}\), "
        rf"keep='{name}' \(on the command line --keep {name}\) if it is a feature, or ignore="
    )
    refused(path, text, sentence, label="kind")
    assert read_domain(path, label=name, ignore="kind").classes == (3, 4)
    assert read_domain(path, label="kind", keep=name).feature_names == ("a", name)
    assert read_domain(path, label="kind", features=["a", name]).n_features == 2
    assert read_domain(path, label="kind", ignore=name).feature_names == ("a",)


@pytest.mark.parametrize("cell", ["1\0002", "\00012", "12\000"])
@pytest.mark.parametrize("thousands", [None, ","])
def test_a_nul_in_a_number_is_not_dropped(path: Path, cell: str, thousands: str | None) -> None:
    text = f"a,b\n{cell},3\n4,5\n"
    sentence = r"features must be finite numbers, got .*x00.* in column 'a', line 2; leave out"
    refused(path, text, sentence, thousands=thousands)


@pytest.mark.parametrize(("mark", "other"), [(".", ","), (",", ".")])
def test_one_mark_cannot_be_decimal_and_thousands(path: Path, mark: str, other: str) -> None:
    write(path, "a;b\n0.5;3\n4;5\n")
    sentence = f"decimal and thousands must differ, got '{mark}' for both; pass decimal='{other}'"
    with pytest.raises(InvalidInputError, match=re.escape(sentence)):
        read_domain(path, decimal=mark, thousands=mark)


@pytest.mark.parametrize("name", ["y", "Y", "target"])
def test_a_column_y_or_target_beside_the_label_is_a_feature_with_a_note(
    path: Path, name: str
) -> None:
    write(path, f"x,{name},kind\n0.5,3,u\n1.5,4,v\n")
    (table,) = read_tables([path], label="kind")
    assert table.domain.feature_names == ("x", name)
    advice = f"if it holds labels, pass ignore={name!r} (on the command line --ignore {name})"
    assert table.notes == (f"{path}: column {name!r} is used as a feature; {advice}",)
    for options in ({"keep": name}, {"features": ["x", name]}, {"ignore": name}):
        assert read_tables([path], label="kind", **options)[0].notes == ()
    refused(path, f"x,{name}\n0.5,3\n1.5,4\n", f"column '{name}' must have a role: pass label=")


@pytest.mark.parametrize("text", ["NA", "N/A", "null", "NaN", "?", "None", "", "  ", "-"])
def test_what_means_missing(path: Path, text: str) -> None:
    label = text if text in ("-", "  ") else ""  # the texts of a missing number are classes
    write(path, f"a,b,kind\n1,2,u\n{text},3,{label}\n5,{text},v\n")
    options: dict[str, Any] = {"missing": ["-"], "label": "kind"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", L2TWarning)
        known = [True, False, True]
        y = ["u", None, "v"]
        for how, X in (
            ("mean", [[1, 2], [3, 3], [5, 2.5]]),
            ("median", [[1, 2], [3, 3], [5, 2.5]]),
        ):
            assert read_domain(path, impute=how, **options) == Domain(
                np.float64(X), y, labeled=known
            )
        dropped = read_domain(path, impute="drop", **options)
    assert dropped == Domain([[1.0, 2.0]], ["u"])


def test_numbers_that_mean_missing(path: Path) -> None:
    write(path, "a,kind\n1,u\n-999,-999\n3,v\n")
    with pytest.warns(L2TWarning):
        domain = read_domain(path, label="kind", missing="-999", impute="mean")
    assert domain == Domain([[1.0], [2.0], [3.0]], ["u", None, "v"])


def test_imputing_says_how_much(path: Path) -> None:
    write(path, "a,b,c,kind\n1,2,5,u\n,3,6,\n5,?,7,v\n1,NA,8,v\n")
    for how, words in (
        ("median", "missing cells filled with the median of their column: 3 in 2 columns"),
        ("drop", "rows left out because of missing cells: 3 of 4"),
    ):
        (table,) = read_tables([path], label="kind", impute=how)
        assert f"{path}: {words}" in table.notes
    assert table.frame.to_dict("records") == [{"a": 1, "b": 2, "c": 5, "kind": "u"}]
    sentence = (
        "got 1 missing cell in column 'a', line 3, 2 missing cells in column 'b', line 4; fill"
    )
    refused(path, path.read_text(), sentence, label="kind")
    sentence = r"leave out columns: ignore=\['a', 'b'\] \(on the command line --ignore a,b\)$"
    refused(path, path.read_text(), sentence, label="kind")
    refused(path, "a,b\n1,\n2,NA\n", "2 missing cells in column 'b', line 2; leave", impute="mean")
    refused(path, "a,b\n1,\n,2\n", "impute='drop' leaves no row: pass", impute="drop")
    with pytest.raises(InvalidInputError, match="impute must be one of None, mean, median, drop"):
        read_domain(path, impute="zero")


def test_a_first_row_of_numbers_is_data(path: Path) -> None:
    for text, marks in (
        ("1,5;2,5\n3,5;4,5\n", {"decimal": ","}),
        ("1.5;2.5\n3.5;4.5\n", {}),
        ("1.000,5;2,5\n3,5;4,5\n", {"decimal": ",", "thousands": "."}),
        ("5.1,NA\n4.9,3.0\n", {"impute": "drop"}),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", L2TWarning)
            assert len(read_domain(write(path, text), **marks)) == 2 - ("impute" in marks)


def test_labels_that_differ_in_blanks_alone_are_one_class(path: Path) -> None:
    write(path, "x,kind\n4,brown bear\n2,fox\n3,brown bear \n")
    assert read_domain(path, label="kind").classes == ("brown bear", "fox")


@pytest.mark.parametrize(
    ("cell", "decimal", "thousands"),
    [("0.5", ",", "."), ("1.50", ",", "."), ("1,5", ".", ","), ("1,5000", ".", ",")],
)
@pytest.mark.parametrize("others", ["7", "same"])
def test_a_mark_that_separates_no_thousands_is_no_number(
    tmp_path: Path, cell: str, decimal: str, thousands: str, others: str
) -> None:
    cells = [cell, *([cell] if others == "same" else [others]) * 2]
    sentence = (
        rf"got '{cell}'.* in column 'a'.*; thousands='{re.escape(thousands)}' must separate groups of "
        rf"three digits; if it is the decimal mark, pass decimal='{re.escape(thousands)}'"
    )
    marks = {"decimal": decimal, "thousands": thousands}
    text = "a;b\n" + "".join(f"{cell};1\n" for cell in cells)
    refused(tmp_path / "a.csv", text, sentence, **marks)
    path = tmp_path / "a.parquet"
    pd.DataFrame({"a": cells, "b": [1.0, 2.0, 3.0]}).to_parquet(path)
    with pytest.raises(FileFormatError, match=sentence):
        read_domain(path, **marks)


def test_marks_that_separate_thousands(path: Path) -> None:
    text = "a;b\n-1.234.567,5;1\n+12.345;2\n123;3\n0,5;4\n"
    domain = read_domain(write(path, text), decimal=",", thousands=".")
    assert domain.X[:, 0].tolist() == [-1234567.5, 12345.0, 123.0, 0.5]
