"""`l2t predict` and `l2t apply`, on files as people have them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import datasets

from l2t import load_model

pytestmark = pytest.mark.integration


def messy(name, rows=240):
    """Return a source and a target as frames with ids, text and missing cells, and the hidden labels."""
    data = getattr(datasets, f"load_{name}")(as_frame=True)
    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(data.data))[:rows]
    frame = data.data.iloc[chosen].reset_index(drop=True).astype(object)
    for column in rng.permutation(frame.shape[1])[:3]:
        frame.iloc[rng.permutation(len(frame))[:4], column] = ["NA", "?", "", "null"]
    frame.insert(0, "sample", [f"{i:05d}" for i in range(len(frame))])
    frame["site"] = rng.choice(["north", "south"], len(frame))
    frame["kind"] = [f"class {data.target[i]}" for i in chosen]
    source, target = frame[: len(frame) // 2], frame[len(frame) // 2 :].reset_index(drop=True)
    hidden = target["kind"].copy()
    known = np.concatenate([np.flatnonzero(hidden == kind)[:5] for kind in hidden.unique()])
    return source, target.assign(kind=hidden.where(hidden.index.isin(known), "")), hidden


@pytest.fixture
def wine(tmp_path, monkeypatch):
    """An empty working directory with the files source.csv and target.csv."""
    monkeypatch.chdir(tmp_path)
    source, target, hidden = messy("wine")
    source.to_csv("source.csv", index=False)
    target.to_csv("target.csv", index=False)
    return source, target, hidden


OPTIONS = ("--label", "kind", "--impute", "median")


@pytest.mark.parametrize("name", ["breast_cancer", "wine", "iris", "digits"])
def test_one_command_for_files_as_people_have_them(name, tmp_path, monkeypatch, l2t):
    monkeypatch.chdir(tmp_path)
    source, target, hidden = messy(name)
    source.to_csv("source.csv", index=False, sep=";")
    target.to_csv("target.csv", index=False, sep=";")
    result = l2t("predict", "source.csv", "target.csv", *OPTIONS, "-o", "predictions.csv")
    assert result.code == 0, result.err
    texts = {"dtype": str, "keep_default_na": False}
    own = pd.read_csv("target.csv", sep=";", **texts)
    written = pd.read_csv("predictions.csv", **texts)
    assert list(written.columns) == [*own.columns, "predicted", "probability", "given"]
    for column in ("sample", "site", "kind"):
        assert written[column].tolist() == own[column].tolist()
    numbers = [pd.to_numeric(each[own.columns[1]], errors="coerce") for each in (own, written)]
    np.testing.assert_array_equal(*numbers)
    assert set(written["predicted"]) <= set(hidden)
    assert pd.to_numeric(written["probability"]).between(0, 1).all()
    assert (written["given"] == "True").tolist() == (target["kind"] != "").tolist()
    right = (written["predicted"] == hidden)[target["kind"] == ""]
    assert right.mean() > 0.75
    assert "columns not used as features: 'sample' (id)" in result.err
    assert "category: site" in result.out
    assert "missing numbers are filled with the median" in result.out
    for words in ("logistic", "trained on", "cross-validated", "Used: "):
        assert words in result.out


def test_a_saved_model_predicts_further_rows(wine, l2t):
    result = l2t("predict", "source.csv", "target.csv", *OPTIONS, "-o", "p.csv", "--save", "m.l2t")
    assert result.code == 0, result.err
    assert "for further rows: l2t apply m.l2t NEW.csv -o predictions.csv\n" in result.err
    turned = pd.read_csv("target.csv", dtype=str, keep_default_na=False)[::-1]
    turned[[*turned.columns[::-1]]].assign(note="new").to_csv("new.csv", index=False)
    result = l2t("apply", "m.l2t", "new.csv", "-o", "out.csv", "--impute", "median")
    assert result.code == 0, result.err
    first, second = (pd.read_csv(name, dtype={"sample": str}) for name in ("p.csv", "out.csv"))
    assert list(second.columns) == [*turned.columns[::-1], "note", "predicted", "probability"]
    second = second[::-1].reset_index(drop=True)
    assert second["sample"].tolist() == first["sample"].tolist()
    assert second["predicted"].tolist() == first["predicted"].tolist()
    np.testing.assert_allclose(second["probability"], first["probability"])
    assert load_model("m.l2t").encoder.names == tuple(wine[1].columns[1:-1])
    np.savez("new.npz", X=np.zeros((2, 13)))
    result = l2t("apply", "m.l2t", "new.npz", "-o", "arrays.csv")
    assert "must be a csv, xlsx or parquet file" in result.err


@pytest.fixture
def complete(wine):
    """The same files with complete columns of numbers alone."""
    for name in ("source.csv", "target.csv"):
        table = pd.read_csv(name, na_values="?").drop(columns=["sample", "site"])
        holes = [
            each
            for each in table
            if each != "kind" and wine[0][each].isin(["NA", "?", "", "null"]).any()
        ]
        holes += [
            each
            for each in table
            if each != "kind" and wine[1][each].isin(["NA", "?", "", "null"]).any()
        ]
        table.drop(columns=holes).to_csv(name, index=False)


def test_a_saved_model_knows_the_columns_of_arrays_by_name(complete, l2t):
    options = ("--label", "kind", "-o", "p.csv", "--save", "m.l2t")
    assert l2t("predict", "source.csv", "target.csv", *options).code == 0
    names = list(load_model("m.l2t").feature_names)
    turned = pd.read_csv("target.csv")[names[::-1]]
    np.savez("new.npz", X=turned.to_numpy(float), feature_names=np.array(names[::-1]))
    np.savez("bare.npz", X=turned[names].to_numpy(float))
    expected = pd.read_csv("p.csv")["predicted"].tolist()
    for name, words in (("new", ""), ("bare", "bare.npz: the model has names of columns and this")):
        result = l2t(
            "apply", "m.l2t", f"{name}.npz", "-o", "out.csv", "--impute", "median", "--force"
        )
        assert result.code == 0, result.err
        assert words in result.err
        assert ("by position" in result.err) == bool(words)
        assert pd.read_csv("out.csv")["predicted"].tolist() == expected


@pytest.mark.parametrize("how", ["mean", "median"])
def test_further_rows_are_imputed_from_the_rows_of_the_model(complete, l2t, how):
    l2t("predict", "source.csv", "target.csv", *OPTIONS, "--save", "m.l2t")
    rows = pd.read_csv("target.csv", dtype=str, keep_default_na=False)
    model = load_model("m.l2t")
    usual = dict(zip(model.feature_names, getattr(model, f"{how}s"), strict=True))
    name = model.feature_names[0]
    rows.iloc[:1].assign(**{name: ""}).to_csv("gap.csv", index=False)
    rows.iloc[:1].assign(**{name: repr(float(usual[name]))}).to_csv("filled.csv", index=False)
    result = l2t("apply", "m.l2t", "gap.csv", "-o", "gap-out.csv")
    assert "--impute median" in result.err
    assert "ignore" not in result.err, "apply has no such option"
    for stem in ("gap", "filled"):
        found = l2t("apply", "m.l2t", f"{stem}.csv", "-o", f"{stem}-out.csv", "--impute", how)
        assert found.code == 0, found.err
    first, second = (pd.read_csv(f"{stem}-out.csv")["probability"] for stem in ("gap", "filled"))
    np.testing.assert_allclose(first, second)


def test_missing_cells_of_a_table_need_no_option(wine, l2t):
    sides = ("source.csv", "target.csv", "--label", "kind")
    assert l2t("predict", *sides, "--save", "m.l2t").code == 0
    rows = pd.read_csv("target.csv", dtype=str, keep_default_na=False).iloc[:2]
    rows.assign(alcohol="", site="elsewhere").to_csv("gap.csv", index=False)
    result = l2t("apply", "m.l2t", "gap.csv", "-o", "gap-out.csv")
    assert result.code == 0, result.err


@pytest.mark.usefixtures("memory")
def test_a_data_set_is_predicted_file_by_file(wine, l2t):
    assert l2t("predict", "source.csv", "target.csv", "--label=kind", "--save=m.l2t").code == 0
    rows = pd.read_csv("target.csv", dtype={"sample": str}, na_values="?")
    Path("data").mkdir()
    for name, some in (("data/0", rows[:50]), ("data/1", rows[50:]), ("whole", rows)):
        some.to_parquet(f"{name}.parquet", index=False, row_group_size=7)
    assert l2t("apply", "m.l2t", "whole.parquet", "-o", "whole.csv").code == 0  # in memory
    expected = pd.read_csv("whole.csv")[["predicted", "probability"]]
    for data, output in (
        ("whole.parquet", "one.parquet"),
        ("whole.parquet", "in"),
        ("data", "out/"),
    ):
        result = l2t("apply", "m.l2t", data, "-o", output, "--format=json")
        assert result.code == 0, result.err
        assert f"predictions written to {output}" in result.err
        found = pd.read_parquet(output)
        pd.testing.assert_frame_equal(found[list(rows)], pd.read_parquet("whole.parquet"))
        pd.testing.assert_frame_equal(found[list(expected)], expected, check_dtype=False)
        counts = {each["predicted"]: each["rows"] for each in json.loads(result.out)}
        assert counts == expected["predicted"].value_counts().to_dict()
    Path("out/1.parquet").unlink()
    result = l2t("apply", "m.l2t", "data", "-o", "out", "--jobs=2")
    assert "1 of 2 files were finished before; to write them again, pass --force" in result.err
    assert json.loads(l2t("apply", "m.l2t", "data", "-o", "out", "--format=json").out)
    for output, words in (
        ("one.parquet", "one.parquet exists; use --force to replace it"),
        ("whole.parquet", "an output must not replace an input"),
        ("m.l2t", "an output must not replace an input"),
    ):
        result = l2t("apply", "m.l2t", "whole.parquet", "-o", output)
        assert (result.code, words in result.err) == (1, True), result.err
    assert l2t("apply", "m.l2t", "whole.parquet", "-o", "one.parquet", "--force").code == 0
    result = l2t("apply", "m.l2t", "whole.parquet", "-o", "memory://one.parquet")
    assert result.code == 0, result.err
    result = l2t("apply", "m.l2t", "target.csv", "-o", "memory://one.csv")
    assert "output must be a local file for a table like target.csv" in result.err
    result = l2t("apply", "m.l2t", "target.csv", "-o", "one.csv", "--jobs=2")
    assert (result.code, "--jobs and --cluster are for parquet" in result.err) == (0, True)


def test_a_target_that_is_a_data_set(wine, l2t):
    rows = pd.read_csv("target.csv", dtype={"sample": str}, na_values="?")
    rows.to_parquet("target.parquet", index=False)
    for year in (2024, 2025):
        Path(f"target/year={year}").mkdir(parents=True)
        rows[rows.index % 2 == year % 2].to_parquet(f"target/year={year}/0.parquet", index=False)
    sides = ("source.csv", "target.parquet", "--label=kind", "-o", "whole.parquet")
    assert l2t("predict", *sides).code == 0
    sides = ("source.csv", "target", "--label=kind", "-o", "parts", "--save=m.l2t")
    result = l2t("predict", *sides)
    assert result.code == 0, result.err
    assert "predictions written to parts" in result.err
    whole, parts = (
        pd.read_parquet(path).set_index("sample") for path in ("whole.parquet", "parts")
    )
    parts = parts.loc[whole.index]
    assert list(parts.columns) == [*whole.columns, "year"]
    assert parts["predicted"].tolist() == whole["predicted"].tolist()
    assert parts["given"].tolist() == whole["given"].tolist()
    np.testing.assert_allclose(parts["probability"], whole["probability"], rtol=1e-6)
    for option, words in (
        ("--impute=drop", "impute must be 'med"),
        ("--suggest=2", "suggest must"),
    ):
        result = l2t("predict", *sides[:-2], "other", option)
        assert (result.code, words in result.err) == (1, True), result.err
    result = l2t("predict", "source.csv", "target", "--label=kind", "-o", "target")
    assert result.err.startswith("l2t: output must not be in or around the data, got 'target'")


def test_imputing_from_all_rows_reads_them_all(complete, l2t):
    assert l2t("predict", "source.csv", "target.csv", "--label=kind", "--save=m.l2t").code == 0
    rows = pd.read_csv("target.csv")
    rows.iloc[3, 0] = None
    rows.to_parquet("gap.parquet", index=False)
    result = l2t("apply", "m.l2t", "gap.parquet", "-o", "out.parquet", "--impute=drop")
    assert result.code == 0, result.err
    assert len(pd.read_parquet("out.parquet")) == len(rows) - 1
    Path("data").mkdir()
    Path("gap.parquet").rename("data/gap.parquet")
    result = l2t("apply", "m.l2t", "data", "-o", "out", "--impute=drop")
    assert "impute must be one of None, mean, median, got 'drop'" in result.err


def test_the_report_for_programs(wine, l2t):
    sides = ("source.csv", "target.csv", *OPTIONS, "--suggest", "3")
    record = json.loads(l2t("predict", *sides, "--format", "json").out)
    assert record["labelled"] == 15
    assert sum(row["used"] for row in record["report"]) == 1
    target = wine[1]
    for each in record["suggested"]:
        row = target.iloc[each["row"] - 1]
        assert (row["sample"], row["kind"]) == (each["sample"], "")
    assert len(record["suggested"]) == 3
    result = l2t("predict", *sides)
    assert "rows to label next, counted from 1:\n" in result.err
    assert all(each["sample"] in result.out for each in record["suggested"])
    assert max(map(len, result.out.partition("Used: ")[0].splitlines())) <= 80
    header = l2t("predict", *sides, "--format", "csv", "-q").out.splitlines()[0]
    assert (
        header
        == "name,features,classifier,trained_on,measured,error,expected,low,high,weight,used,reason,metric"
    )


def test_several_sources_and_none(wine, l2t):
    source = wine[0]
    source[:50].to_csv("first.csv", index=False)
    source[50:].rename(columns={"ash": "Ash"}).to_csv("second.csv", index=False)
    result = l2t("predict", "first.csv", "second.csv", "target.csv", *OPTIONS, "-o", "p.csv")
    assert result.code == 0, result.err
    assert (
        "first.csv: columns left out because not every file has them as features: 'ash'\n"
        in result.err
    )
    result = l2t("predict", "target.csv", *OPTIONS, "-o", "p.parquet")
    assert result.code == 0, result.err
    assert pd.read_parquet("p.parquet")["predicted"].notna().all()


def test_every_label_of_the_file_is_given(wine, l2t):
    wine[1].assign(kind=wine[2]).to_csv("all.csv", index=False)
    result = l2t("predict", "source.csv", "all.csv", *OPTIONS, "-o", "p.csv")
    assert result.code == 0
    assert "every row of all.csv has a label; the target comes last: is the order" in result.err
    assert pd.read_csv("p.csv")["given"].all()


def test_the_command_that_rank_prints_predicts(wine, l2t):
    Path("target_predicted.csv").touch()
    result = l2t("rank", "source.csv", "target.csv", *OPTIONS, "--ignore", "site,sample")
    assert result.code == 0, result.err
    words = shlex.split(result.err.splitlines()[-1].removeprefix("next: l2t "))
    assert words[:3] == ["predict", "source.csv", "target.csv"]
    assert words[-1] == "target_predicted-2.csv"
    pasted = l2t(*words)
    assert pasted.code == 0, pasted.err
    assert Path("target_predicted-2.csv").exists()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("predict source.csv target.csv -o p.npz", "p.npz: format must be one of csv, parquet"),
        ("predict source.csv target.csv -o target.csv", "an output must not replace an input"),
        ("predict source.csv target.csv -o p.csv --save p.csv", "an output must not replace an"),
        ("predict source.csv target.csv --save no/m.l2t", "its directory does not exist"),
        ("predict source.csv target.csv --save source.csv --force", "must not replace an input"),
        (
            "predict source.csv done.csv",
            "done.csv: must not have a column 'predicted', because the",
        ),
        ("predict source.csv bare.csv", "'kind'"),
        ("apply source.csv target.csv -o p.csv", "source.csv: is "),
        ("apply absent.l2t target.csv -o p.csv", "absent.l2t: there is no such file"),
    ],
)
def test_mistakes_are_one_sentence(line, sentence, wine, l2t):
    wine[1].assign(predicted=1).to_csv("done.csv", index=False)
    wine[1].rename(columns={"kind": "Kind"}).to_csv("bare.csv", index=False)
    before = sorted(Path().iterdir())
    words = shlex.split(line)
    result = l2t(*words, *(OPTIONS if words[0] == "predict" else ()), "-q")
    assert result.code == 1
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert sentence in result.err
    assert sorted(Path().iterdir()) == before


def test_files_are_written_although_nobody_reads_what_is_printed(wine):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "l2t", "predict", "source.csv", "target.csv", *OPTIONS]
    command += ["-o", "predictions.csv", "--save", "model.l2t"]
    with os.fdopen(write, "w") as closed:
        subprocess.run(command, stdout=closed, stderr=subprocess.DEVNULL, check=False)
    assert len(pd.read_csv("predictions.csv")) == len(wine[1])
    assert list(load_model("model.l2t").classes_) == sorted(set(wine[2]))


def test_notes_on_what_may_be_a_mistake(wine, l2t):
    wine[1].replace({"kind": {"": "-1"}}).to_csv("marked.csv", index=False)
    found = l2t("predict", "source.csv", "marked.csv", *OPTIONS)
    assert "the label -1 counts as a class" in found.err
    assert "every row of marked.csv has a label" in found.err
    assert "predictions were not written to a file; add -o predictions.csv" in found.err
    found = l2t("predict", "source.csv", "marked.csv", *OPTIONS, "--missing=-1")
    assert (found.code, "counts as a class" in found.err) == (0, False)


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """An empty working directory, and features and labels of a source and a target with 15 labels."""
    monkeypatch.chdir(tmp_path)
    X, y = datasets.load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    (X, T), (y, classes) = np.split(X[order], 2), np.split(y[order] + 1, 2)
    known = np.isin(np.arange(75), [np.flatnonzero(classes == c)[:5] for c in (1, 2, 3)])
    return (X, y), (T, classes, known)


def write_svmlight(path, X, labels):
    lines = (" ".join(f"{i}:{x}" for i, x in enumerate(row, 1)) for row in X)
    Path(path).write_text("".join(f"{y} {line}\n" for y, line in zip(labels, lines, strict=True)))


def write_table(path, X, **columns):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(**columns)
    frame.to_parquet(path) if path.endswith("parquet") else frame.to_csv(path, index=False)


def predictions(l2t, *arguments):
    """Return the rows of the output that are predictions, and what was printed."""
    result = l2t("predict", *arguments, "-o", "out.csv", "--force")
    assert result.code == 0, result.err
    written = pd.read_csv("out.csv", dtype={"predicted": str})
    return written[["predicted", "probability", "given"]], result.out + result.err


FORMS = [
    "svmlight nan",
    "svmlight -1",
    "npz blank",
    "npz nan",
    "npz -1",
    "csv blank",
    "parquet null",
]


@pytest.mark.parametrize("names", [(1, 2, 3), ("control", "sick", "treated")])
@pytest.mark.parametrize("form", FORMS)
def test_unlabelled_rows_in_every_format(form, names, rows, l2t):
    (X, y), (T, classes, known) = rows
    labels, hidden = (np.array(names)[codes - 1] for codes in (y, classes))
    write_table("source.csv", X, kind=labels)
    write_table("target.csv", T, kind=hidden, seen=known.astype(int))
    expected, _ = predictions(l2t, "source.csv", "target.csv", "--label=kind", "--labeled=seen")
    format, mark = form.split()
    mark = {"blank": "", "null": None}.get(mark, mark)
    texts = np.where(known, hidden.astype(str), mark)
    files, options = (f"source.{format}", f"target.{format}"), []
    if format == "svmlight":
        write_svmlight(files[0], X, labels)
        write_svmlight(files[1], T, texts)
    elif format == "npz":
        numbers = texts.astype(float) if (mark == "nan" and names[0] == 1) else texts
        np.savez(files[0], X=X, y=labels)
        np.savez(files[1], X=T, y=numbers)
        options += ["--missing=nan"] if numbers is texts and mark == "nan" else []
    else:
        write_table(files[0], X, kind=labels)
        write_table(files[1], T, kind=texts)
        options += ["--label=kind"]
    options += ["--missing=-1"] if mark == "-1" else []
    found, printed = predictions(l2t, *files, *options)
    found["predicted"] = found["predicted"].str.removesuffix(".0")  # floats, as the target has them
    pd.testing.assert_frame_equal(found, expected)
    assert "About" in printed
    assert "counts as a class" not in printed


def test_sparse_matrices_with_and_without_labels(rows, l2t):
    (X, y), (T, classes, known) = rows
    np.savez("source.npz", X=X, y=y)
    np.savez("target.npz", X=T, y=np.where(known, classes, np.nan))
    expected, _ = predictions(l2t, "source.npz", "target.npz")
    for name, matrix, labels in (("a", X, y), ("b", T, np.where(known, classes, np.nan))):
        sparse.save_npz(f"{name}.npz", sparse.csr_matrix(matrix))
        np.savez(f"{name}.npz", y=labels, **np.load(f"{name}.npz"))
    found, _ = predictions(l2t, "a.npz", "b.npz")
    pd.testing.assert_frame_equal(found, expected)
    sparse.save_npz("bare.npz", sparse.csr_matrix(T))
    found, _ = predictions(l2t, "a.npz", "bare.npz")
    assert (found["predicted"].astype(int) == classes).mean() > 0.8


@pytest.mark.parametrize("form", ["csv", "parquet", "npz", "svmlight"])
def test_numbers_and_their_text_are_one_label_in_all_files(form, rows, l2t):
    (X, y), (T, classes, known) = rows
    write_table("source.csv", X, kind=y)
    write_table("target.csv", T, kind=np.where(known, classes.astype(str), ""))
    expected, _ = predictions(l2t, "source.csv", "target.csv", "--label=kind")
    path = f"other.{form}"
    if form == "svmlight":
        write_svmlight(path, X, y.astype(float))
    elif form == "npz":
        np.savez(path, X=X, y=y.astype(str))
    else:
        write_table(path, X, kind=y.astype(str) if form == "parquet" else y.astype(float))
    found, _ = predictions(l2t, path, "target.csv", "--label=kind")
    pd.testing.assert_frame_equal(found, expected)


def test_a_hidden_label_changes_no_prediction(rows, l2t):
    (X, y), (T, classes, known) = rows
    write_table("source.csv", X, kind=y)
    results = []
    for hidden in (classes.astype(str), "abc", "-1", "1.5", ""):
        write_table(
            "target.csv", T, kind=np.where(known, classes.astype(str), hidden), seen=known * 1
        )
        results.append(
            predictions(l2t, "source.csv", "target.csv", "--label=kind", "--labeled=seen")
        )
    for found, printed in results[1:]:
        pd.testing.assert_frame_equal(found, results[0][0])
        assert printed == results[0][1]


def test_a_class_of_letters_and_digits_in_one_file(rows, l2t):
    (X, y), (T, classes, known) = rows
    labels = np.where(np.arange(75) == 0, "3A", y.astype(str))
    write_table("source.csv", X, kind=labels)
    write_table("target.csv", T, kind=np.where(known, classes.astype(str), ""))
    found, printed = predictions(l2t, "source.csv", "target.csv", "--label=kind")
    assert "Source and target share the classes 1, 2, 3;" in printed
    assert set(found["predicted"]) <= {"1", "2", "3", "3A"}


def test_a_column_y_beside_the_label(rows, l2t):
    (X, y), (T, classes, known) = rows
    write_table("source.csv", X, kind=y)
    write_table("target.csv", T, kind=np.where(known, classes.astype(str), ""))
    for path in ("source.csv", "target.csv"):
        pd.read_csv(path, dtype=str).rename(columns={"b": "y"}).to_csv(path, index=False)
    _, printed = predictions(l2t, "source.csv", "target.csv", "--label=kind")
    assert (
        printed.count("column 'y' is used as a feature; if it holds labels, pass ignore='y'") == 2
    )
