"""mat: what MATLAB, Octave and scipy write, and what a damaged file may not do."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io.matlab
from scipy import sparse
from scipy.io import savemat

from l2t.domains import Domain, read_domain
from l2t.exceptions import FileFormatError

pytestmark = pytest.mark.integration

X = np.arange(6.0).reshape(3, 2) / 4
WORDS = np.array(["ant", "beetle", "猫"], dtype=object)
SAMPLES = Path(scipy.io.matlab.__file__).parent / "tests" / "data"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.mat"


def save(path: Path, packed: bool = False, **arrays: Any) -> Path:
    savemat(path, arrays, do_compression=packed, oned_as="row")
    return path


def refused(path: Path, sentence: str, **named: Any) -> None:
    with pytest.raises(FileFormatError, match=sentence) as caught:
        read_domain(path, **named)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "y", [np.array([1, 2, 1]), np.array([1.0, 2.0, 1.0]), np.array([[1], [2], [1]], np.uint8)]
)
def test_labels_in_a_row_or_a_column(path: Path, packed: bool, y: Any) -> None:
    assert read_domain(save(path, packed, X=X, y=y)) == Domain(X, [1, 2, 1])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "y", [WORDS, WORDS[:, None], WORDS[None, :], np.array(["ant", "beetle", "cat"])]
)
def test_labels_as_cells_and_as_rows_of_characters(path: Path, packed: bool, y: Any) -> None:
    expected = ["ant", "beetle", y.ravel()[2]]
    assert read_domain(save(path, packed, X=X, y=y)) == Domain(X, expected)


@pytest.mark.parametrize("names", [np.array(["p", "longer"], object), np.array(["p", "longer"])])
def test_names_of_features_as_cells_and_as_rows_of_characters(path: Path, names: Any) -> None:
    assert read_domain(save(path, X=X, feature_names=names)).feature_names == ("p", "longer")


def test_missing_labels(path: Path) -> None:
    mask = [True, False, True]
    save(path, X=X, y=np.array([1.0, np.nan, 2.0]))
    assert read_domain(path) == Domain(X, [1, None, 2], labeled=mask)
    save(path, X=X, y=np.array(["a", "", "b"], dtype=object))
    assert read_domain(path) == Domain(X, ["a", None, "b"], labeled=mask)
    save(path, X=X, y=np.array([1.5, np.empty((0, 0)), 2.5], dtype=object))
    assert read_domain(path) == Domain(X, [1.5, None, 2.5], labeled=mask)


def test_arrays_by_default_and_by_name(path: Path) -> None:
    y = np.array([1, 2, 3])
    assert read_domain(save(path, fts=X, labels=y)) == Domain(X, [1, 2, 3])
    assert read_domain(save(path, X=X, label=y, note="hello")) == Domain(X, [1, 2, 3])
    save(path, A=X, B=X, kind=y, mine=[1, 0, 1], site=WORDS)
    domain = read_domain(path, features="B", label="kind", labeled="mine", groups="site")
    assert domain == Domain(X, y, labeled=[True, False, True], groups=WORDS)
    refused(path, "has no array 'X'; its arrays are 'A', 'B', 'kind', 'mine', 'site'$")
    refused(path, "has no array 'z'; its arrays are 'A'", features="z")


@pytest.mark.parametrize("packed", [False, True])
def test_sparse_features(path: Path, packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_domain(save(path, packed, X=sparse.csc_array(X))) == Domain(X)
    truths = sparse.csc_array(X > 0.6)
    assert read_domain(save(path, packed, X=truths)) == Domain((X > 0.6).astype(float))
    save(path, packed, X=sparse.csc_array((2**31 - 1, 3)))
    monkeypatch.setattr("l2t.domains.files.arrays.free_memory", lambda: 2**30)
    refused(path, "needs more memory than .* half of what is free")


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
def test_every_class_of_numbers(path: Path, dtype: str) -> None:
    domain = read_domain(save(path, X=np.array([[0, 1], [1, 1]], dtype=dtype)))
    assert domain.X.tolist() == [[0.0, 1.0], [1.0, 1.0]]
    assert domain.X.dtype == (np.float32 if dtype == "f4" else np.float64)


def test_other_things_in_the_file(path: Path) -> None:
    save(path, X=X, y={"a": 1})
    refused(path, "array 'y' must hold numbers, text or cells of them$")
    refused(path, "array 'y' must hold numbers", features="y")
    save(path, X=X + 1j)
    refused(path, "X must be real numbers, got dtype complex128$")
    save(path, X=WORDS)
    refused(path, "X must be real numbers, got dtype <U6$")
    save(path, X=X, y=X)
    refused(path, r"array 'y' must be a vector, got shape \(3, 2\)$")
    save(path, X=X, y=[1, 2])
    refused(path, r"y must have one entry per row of X \(3\), got shape \(2,\)$")
    save(path, X=X, y=np.array([[1, 2], 3, 4], dtype=object))
    refused(path, "array 'y' must hold numbers, text or cells of them$")
    save(path, X=X, y=np.array([WORDS, 3, 4], dtype=object))
    refused(path, "array 'y' must hold numbers, text or cells of them$")
    save(path, X=np.empty((0, 3)))
    refused(path, "X must be 2-D with at least one row")
    save(path, X=X, labeled=[0, 1, 2], y=[1, 2, 3])
    refused(path, "array 'labeled', row 2: 2 is not 0, 1, true or false$")
    save(path, X=X, groups=np.array(["a", "", "b"], dtype=object))
    refused(path, "array 'groups', row 1: a group is missing$")


def test_a_file_that_crashes_scipy_is_damaged(path: Path) -> None:
    save(path, X=sparse.csc_array([[1.0, 2.0], [3.0, 0.0], [4.0, 5.0]]))
    content = path.read_bytes()
    old = struct.pack("<iii", 0, 3, 5)
    assert old in content
    for starts in ([0, 900, 5], [0, 3, 2**31 - 1], [0, -5, 5], [2**30, 3, 5]):
        path.write_bytes(content.replace(old, struct.pack("<iii", *starts), 1))
        refused(path, "is damaged")


def test_dimensions_that_lie(path: Path) -> None:
    save(path, X=X)
    content = path.read_bytes().replace(struct.pack("<II", 3, 2), struct.pack("<II", 2**30, 2**30))
    path.write_bytes(content)
    refused(path, "is damaged")


@pytest.mark.parametrize("packed", [False, True])
def test_a_truncated_file(path: Path, packed: bool) -> None:
    whole = save(path, packed, X=X, y=WORDS).read_bytes()
    for size in (100, 130, 200, len(whole) - 3):
        path.write_bytes(whole[:size])
        refused(path, "is damaged|has no array")
