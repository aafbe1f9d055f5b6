"""svmlight: labels and sparse features, which are read."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from l2t.domains import Domain, read_domain, read_domains
from l2t.exceptions import FileFormatError

X = np.array([[0.0, 1.5, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.svm"


def test_what_scikit_learn_writes(path: Path) -> None:
    dump_svmlight_file(X[:, :2], [1, -1, 2], str(path), zero_based=False, comment="a comment")
    assert read_domain(path) == Domain(X[:, :2], [1, -1, 2])


def test_the_type_of_labels(path: Path) -> None:
    path.write_text("1.0 1:1\n2 1:2\n")
    assert read_domain(path) == Domain([[1.0], [2.0]], [1, 2])
    path.write_text("1.5 1:1\n2 1:2\n")
    assert read_domain(path) == Domain([[1.0], [2.0]], [1.5, 2.0])
    path.write_text("+1 1:1\ncat 1:2\n1.0 1:3\n")
    assert read_domain(path) == Domain([[1.0], [2.0], [3.0]], ["1", "cat", "1"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 1:x\n", "is not a valid svmlight file: could not convert string to float"),
        ("1:2 2:3\n", "line 1 must begin with one label, or with nan for none, got '1:2'"),
        ("# a\n\n1 1:1\n,2 1:1\n", "line 4 must begin with one label, .*, got ',2'"),
        ("1 2:1 1:1\n", "is not a valid svmlight file"),
        ("1 -3:1\n", "is not a valid svmlight file"),
        ("1,2 1:1\n", "is not a valid svmlight file"),
        ("1 99999999999999999999999:1\n", "is not a valid svmlight file"),
        ("1 2000000000:1\n", "declares X of shape \\(1, 2000000001\\), more than its 15 bytes can"),
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


def test_a_label_that_is_nan_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "data.svmlight"
    path.write_text("nan 1:1\n2 1:3\n")
    domain = read_domain(path)
    assert domain.classes == (2,)
    assert domain.codes.tolist() == [-1, 0]
    assert domain.labeled is not None
    assert domain.labeled.tolist() == [False, True]


def test_a_label_that_an_option_names_is_not_known(path: Path) -> None:
    path.write_text("-1.0 1:1\n+2 1:3\n-1 1:2\n")
    expected = Domain([[1.0], [3.0], [2.0]], [None, 2, None], labeled=[False, True, False])
    assert read_domain(path, missing="-1") == expected


def test_files_that_are_read_together_have_the_same_columns(tmp_path: Path) -> None:
    first, second = tmp_path / "a.svm", tmp_path / "b.svm"
    first.write_text("1 0:1 2:3\n2 1:2\n")
    second.write_text("1 1:5\n2 3:7\n")  # alone, it would look as if it began with 1
    source, target = read_domains([first, second])
    assert source == Domain([[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0]], [1, 2])
    assert target == Domain([[0.0, 5.0, 0.0, 0.0], [0.0, 0.0, 0.0, 7.0]], [1, 2])
    assert read_domains([second, second])[0].n_features == 3
    assert read_domains([second, second], zero_based=True)[0].n_features == 4
    assert read_domain(second, zero_based=True).n_features == 4
    assert read_domain(second, zero_based=False).n_features == 3
    with pytest.raises(
        FileFormatError, match=r"a.svm: zero_based must not be False, as the file has a feature 0"
    ):
        read_domains([first, second], zero_based=False)


def test_a_compressed_file(path: Path) -> None:
    packed = path.with_name("a.svm.gz")
    packed.write_bytes(gzip.compress(b"1 1:1.5\n2 2:1\n"))
    assert read_domain(packed) == Domain([[1.5, 0.0], [0.0, 1.0]], [1, 2])


def test_real_files_of_the_same_features() -> None:
    if "L2T_DATA" not in os.environ:
        pytest.skip("L2T_DATA does not name the folder of the real data")
    folder = Path(os.environ["L2T_DATA"]) / "amazon-reviews"
    domains = read_domains(sorted(folder.glob("*.svmlight")))
    assert {domain.n_features for domain in domains} == {5000}
    assert all(domain.classes == domains[0].classes for domain in domains)
