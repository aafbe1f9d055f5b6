"""svmlight: numeric labels and sparse features, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from l2t.domains import Domain, read_domain, write_domain
from l2t.exceptions import FileFormatError, InvalidInputError

X = np.array([[0.0, 1.5, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.svm"


def test_what_scikit_learn_writes(path: Path) -> None:
    dump_svmlight_file(X[:, :2], [1, -1, 2], str(path), zero_based=False, comment="a comment")
    assert read_domain(path) == Domain(X[:, :2], [1, -1, 2])


def test_the_text_that_is_written(path: Path) -> None:
    write_domain(Domain(X, [1, -1, 2]), path)
    assert path.read_text() == "1 2:1.5 3:0.0\n-1\n2 1:2.0\n"
    read, y = load_svmlight_file(str(path))
    assert read.toarray().tolist() == X.tolist()
    assert y.tolist() == [1, -1, 2]


def test_the_type_of_labels(path: Path) -> None:
    path.write_text("1.0 1:1\n2 1:2\n")
    assert read_domain(path) == Domain([[1.0], [2.0]], [1, 2])
    path.write_text("1.5 1:1\n2 1:2\n")
    assert read_domain(path) == Domain([[1.0], [2.0]], [1.5, 2.0])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 1:x\n", "is not a whole svmlight file: could not convert string to float"),
        ("cat 1:2\n", "is not a whole svmlight file"),
        ("1 2:1 1:1\n", "is not a whole svmlight file"),
        ("1 -3:1\n", "is not a whole svmlight file"),
        ("1,2 1:1\n", "is not a whole svmlight file"),
        ("1 99999999999999999999999:1\n", "is not a whole svmlight file"),
        ("1 2000000000:1\n", "a sparse X is made dense and may need at most 4 GiB"),
        ("1 1:nan\n", "X must be finite, got nan at row 0"),
        ("# nothing\n", "X must be 2-D with at least one row"),
    ],
)
def test_errors(path: Path, text: str, sentence: str) -> None:
    path.write_text(text)
    with pytest.raises(FileFormatError, match=sentence) as caught:
        read_domain(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"y": ["a", "b", "c"]}, "labels must be int or float in svmlight files, got str$"),
        ({"y": [True, False, True]}, "labels must be int or float in svmlight files, got bool$"),
        ({"y": [2**60, 1, 2]}, "labels must be whole numbers up to"),
        ({}, "svmlight files need a label for every row, but y is None$"),
        ({"y": [1, 2, 3], "labeled": [True] * 3}, "hold neither a labeled mask nor groups$"),
        ({"y": [1, 2, 3], "groups": [1, 2, 3]}, "hold neither a labeled mask nor groups$"),
    ],
)
def test_what_would_be_lost_is_refused(path: Path, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInputError, match=f"a.svm: .*{sentence}"):
        write_domain(Domain(X, **given), path)
    assert list(path.parent.iterdir()) == []


def test_a_label_that_is_nan_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "data.svmlight"
    path.write_text("nan 1:1\n2 1:3\n")
    domain = read_domain(path)
    assert domain.classes == (2,)
    assert domain.codes.tolist() == [-1, 0]
    assert domain.labeled is not None
    assert domain.labeled.tolist() == [False, True]
