"""Labels: which are missing, what type they have, and which of several domains are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from l2t.domains import Domain, read_domains, read_tables, write_domain
from l2t.domains.labels import known_labels, label_key, unify_labels

X = np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize("spelling", [1, 1.0, "1", "1.0", "1.", "+1", np.int8(1), np.float32(1)])
def test_spellings_of_one_label(spelling: Any) -> None:
    assert label_key(spelling) == label_key(1)


@pytest.mark.parametrize("name", ["01", "1.10", "1e3", "1A", "", "1" * 30, "one", "1_0", " 1"])
def test_names_that_only_look_like_numbers(name: str) -> None:
    assert label_key(name) == name


def test_labels_are_spelled_as_in_the_target() -> None:
    source, other = Domain(X, [1.0, 2.0, 3.0, 1.0]), Domain(X, ["1", "b", "2.0", "1"])
    target = Domain(X, ["1", "2", "x", "y"], labeled=[True, True, False, False])
    unified = unify_labels([source, other, target])
    assert [domain.classes for domain in unified[:2]] == [("1", "2", "3"), ("1", "2", "b")]
    assert unified[2] is target
    numbers = Domain(X, [1, 2, 1, 2], labeled=[True] * 4)
    unified = unify_labels([other, numbers])
    assert set(unified[0].classes) == {1, 2, "b"}
    assert unified[1] is numbers


def test_one_domain_with_two_spellings() -> None:
    for y in ([1, "1", 1.0, "2"], ["2", 1.0, "1", 1]):
        (mixed,) = unify_labels([Domain(X, np.array(y, dtype=object), labeled=[True] * 4)])
        assert len(mixed.classes) == 2


def test_hidden_labels_decide_nothing() -> None:
    source = Domain(X, ["1", "2", "1", "2"])
    known = [True, True, False, False]
    for hidden in (["1", "2"], ["abc", "?"], [None, 3.5]):
        target = Domain(X, np.array([1, 2, *hidden], dtype=object), labeled=known)
        unified, same = unify_labels([source, target])
        assert unified.classes == (1, 2)
        assert same.y is not None
        assert same.y[:2].tolist() == [1, 2]


def _write(path: Path, labels: list[Any]) -> Path:
    frame = pd.DataFrame({"a": [0.5, 1.5, 2.5, 3.5], "kind": labels})
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".npz":
        np.savez(path, a=frame[["a"]], kind=frame["kind"].to_numpy(dtype=type(labels[0])))
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("first", "second", "classes"),
    [
        (["1", "2", "3", "3A"], ["1", "2", "3", "3"], {"1", "2", "3", "3A"}),
        (["1", "2", "3", "3"], ["1.0", "2.0", "3.0", "3.0"], {1.0, 2.0, 3.0}),
        (["true", "False", "true", "true"], ["TRUE", "false", "true", "true"], {True, False}),
    ],
)
def test_one_type_for_all_files(
    tmp_path: Path, order: int, first: list[Any], second: list[Any], classes: set[Any]
) -> None:
    paths = [_write(tmp_path / "a.csv", first), _write(tmp_path / "b.csv", second)][::order]
    domains = read_domains(paths, label="kind")
    assert {label for domain in domains for label in domain.classes} == classes
    types = {type(label) for domain in domains for label in domain.classes}
    assert len(types) == 1
    assert types <= {type(label) for label in classes} | {int}  # 1 or 1.0, as in the last file


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
def test_text_in_one_format_and_numbers_in_another(tmp_path: Path, suffix: str) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    typed = _write(tmp_path / f"a{suffix}", ["1", "2", "3", "3"])
    untyped = _write(tmp_path / "b.csv", ["1", "2", "3", "3"])
    for paths in ([typed, untyped], [untyped, typed]):
        features: Any = {"features": "a"} if suffix == ".npz" else {}
        domains = read_domains(paths, label="kind", **features)
        assert [domain.classes for domain in domains] == [("1", "2", "3")] * 2


def test_hidden_labels_of_a_file_are_not_read(tmp_path: Path) -> None:
    source = _write(tmp_path / "source.csv", ["1", "2", "1", "2"])
    target = tmp_path / "target.csv"
    for hidden in ("2", "abc", "1.5", ""):
        target.write_text(f"a,kind,seen\n0,1,1\n1,2,1\n2,{hidden},0\n3,1,0\n")
        first, second = read_domains([source, target], label="kind", labeled="seen")
        assert first.classes == (1, 2)
        assert second.y is not None
        assert second.y[:2].tolist() == [1, 2]


@pytest.mark.parametrize("name", ["NA", "N/A", "nan", "None", "null", "?", "control"])
def test_a_class_named_like_a_missing_cell(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"a,kind\n0.5,{name}\n1.5,u\n2.5,\n3.5, \n")
    (table,) = read_tables([path], label="kind")
    assert set(table.domain.classes) == {name, "u"}
    assert table.domain.labeled is not None
    assert table.domain.labeled.tolist() == [True, True, False, False]
    noted = [
        note for note in table.notes if f"labels counted as classes: {name!r} (1 rows)" in note
    ]
    assert len(noted) == (name != "control")
    (table,) = read_tables([path], label="kind", missing=name)
    assert table.domain.classes == ("u",)
    assert table.notes == ()
    again = write_domain(Domain(X, [name, "u", name, "u"]), tmp_path / "b.csv")
    assert set(read_tables([again])[0].domain.classes) == {name, "u"}


@pytest.mark.parametrize("mark", [-1, -1.0, "-1", "-1.0", "-1.00", " -1 ", "-1."])
def test_spellings_of_the_mark_of_unlabelled_rows(mark: Any) -> None:
    y = np.array(["a", mark, "b"], dtype=object)
    assert known_labels(y).tolist() == [True, False, True]


@pytest.mark.parametrize("label", ["1", "-10", "- 1", True, "-1a"])
def test_labels_that_are_no_mark(label: Any) -> None:
    assert known_labels(np.array([label], dtype=object)).all()


def test_truth_values_and_their_names_are_one_label() -> None:
    truths, names = [True, False, True, False], ["True", "False", "True", "false"]
    for first, second, classes in (
        (truths, names, ("False", "True")),
        (names, truths, (False, True)),
        (truths, ["true", "maybe", "maybe", "true"], ("False", "true")),
    ):
        target = Domain(X, second, labeled=[True] * 4)
        source, _ = unify_labels([Domain(X, first), target])
        assert source.classes == classes
    assert label_key(True) != label_key(1)


def test_dates_are_one_label_with_and_without_midnight(tmp_path: Path) -> None:
    days = ["2020-01-01", "2020-01-02", "2020-01-01", "2020-01-02"]
    for times in (days, np.array(days, "datetime64[ns]"), [f"{day} 00:00:00" for day in days]):
        source, _ = unify_labels([Domain(X, times), Domain(X, days, labeled=[True] * 4)])
        assert source.classes == tuple(days[:2])
    assert label_key("2020-01-01 00:00:01") == "2020-01-01 00:00:01"
    paths = [_write(tmp_path / "a.csv", days)]
    for ending in ("parquet", "xlsx"):
        frame = pd.DataFrame({"a": [0.5, 1.5, 2.5, 3.5], "kind": pd.to_datetime(days)})
        paths.append(tmp_path / f"a.{ending}")
        frame.to_parquet(paths[-1]) if ending == "parquet" else frame.to_excel(
            paths[-1], index=False
        )
    for domain in read_domains(paths, label="kind"):
        assert domain.classes == tuple(days[:2])
