"""mat: what MATLAB, Octave and scipy write, and what a damaged file may not do."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io.matlab
from scipy import sparse
from scipy.io import loadmat, savemat

from l2t.domains import Domain, read_domain, write_domain
from l2t.domains.files import _parts
from l2t.domains.files._mat5 import read_value, variables
from l2t.exceptions import FileFormatError, InvalidInputError

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
    assert read_domain(save(path, data=X, label=y, note="hello")) == Domain(X, [1, 2, 3])
    assert read_domain(save(path, data=np.arange(3.0)[:, None], y=y)) == Domain([[0], [1], [2]], y)
    save(path, A=X, B=X, kind=y, mine=[1, 0, 1], site=WORDS)
    domain = read_domain(path, features="B", label="kind", labeled="mine", groups="site")
    assert domain == Domain(X, y, labeled=[True, False, True], groups=WORDS)
    refused(
        path, "has neither X nor fts nor one single matrix; .* 'A', 'B', 'kind', 'mine', 'site'$"
    )
    refused(path, "has no array 'z'; its arrays are 'A'", features="z")


@pytest.mark.parametrize("packed", [False, True])
def test_sparse_features(path: Path, packed: bool) -> None:
    assert read_domain(save(path, packed, X=sparse.csc_array(X))) == Domain(X)
    truths = sparse.csc_array(X > 0.6)
    assert read_domain(save(path, packed, X=truths)) == Domain((X > 0.6).astype(float))
    save(path, packed, X=sparse.csc_array((2**31 - 1, 3)))
    refused(path, "a sparse X is made dense and may need at most 4 GiB")


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
def test_every_class_of_numbers(path: Path, dtype: str) -> None:
    domain = read_domain(save(path, X=np.array([[0, 1], [1, 1]], dtype=dtype)))
    assert domain.X.tolist() == [[0.0, 1.0], [1.0, 1.0]]
    assert domain.X.dtype == (np.float32 if dtype == "f4" else np.float64)


def test_scipy_reads_what_is_written(path: Path) -> None:
    domain = Domain(X, WORDS, labeled=[True, True, False], groups=[3, 3, 4])
    read = loadmat(write_domain(domain, path))
    assert read["X"].tolist() == X.tolist()
    assert [cell[0] for cell in read["y"].ravel()] == WORDS.tolist()
    assert read["labeled"].ravel().tolist() == [1, 1, 0]
    assert read["groups"].ravel().tolist() == [3, 3, 4]


def test_the_files_of_matlab_that_scipy_brings() -> None:
    if not SAMPLES.is_dir():
        pytest.skip("this scipy is installed without its test data")
    compared = 0
    for path in sorted(SAMPLES.glob("test*_[567].*.mat")):
        if "hdf5" in path.name:
            continue
        for name, variable in variables(path.read_bytes()).items():
            try:
                got = read_value(variable)
            except FileFormatError:  # complex numbers, structures, functions, nested cells
                continue
            want = loadmat(path, mat_dtype=True, variable_names=[name])[name]
            if isinstance(got, list):
                cells = (
                    [cell.ravel().tolist() for cell in want.ravel()] if want.dtype == object else []
                )
                assert got == ([(cell or [None])[0] for cell in cells] or want.tolist())
            else:
                assert got.dtype == want.dtype.newbyteorder("=")
                if sparse.issparse(got):
                    got, want = got.toarray(), want.toarray()
                np.testing.assert_array_equal(got, want)
            compared += 1
    assert compared > 30


def test_other_things_in_the_file(path: Path) -> None:
    save(path, X=X, y={"a": 1})
    refused(path, "array 'y' is a structure, function or object, where only numbers, characters")
    refused(path, "array 'y' is a structure", features="y")
    save(path, X=X + 1j)
    refused(path, "array 'X' holds complex numbers$")
    save(path, X=WORDS)
    refused(path, "array 'X' holds text or cells, not numbers$")
    save(path, X=X, y=X)
    refused(path, r"array 'y' must be a vector, got shape \(3, 2\)$")
    save(path, X=X, y=[1, 2])
    refused(path, "array 'X' has 3 rows, but 'y' has 2$")
    save(path, X=X, y=np.array([[1, 2], 3, 4], dtype=object))
    refused(path, r"array 'y' must hold one text or number a cell, got shape \(1, 2\)$")
    save(path, X=X, y=np.array([WORDS, 3, 4], dtype=object))
    refused(path, "array 'y' must hold one text or number a cell$")
    save(path, X=np.empty((0, 3)))
    refused(path, "X must be 2-D with at least one row")
    save(path, X=X, labeled=[0, 1, 2], y=[1, 2, 3])
    refused(path, "array 'labeled' must be 0, 1, true or false, got 2$")
    save(path, X=X, groups=np.array(["a", "", "b"], dtype=object))
    refused(path, "array 'groups', row 1: a group is missing$")


def lie(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


def test_dimensions_that_lie(path: Path) -> None:
    save(path, X=X)
    lie(path, struct.pack("<II", 3, 2), struct.pack("<II", 2**31 - 1, 2**31 - 1))
    refused(path, r"array 'X' says its shape is \(2147483647, 2147483647\), but holds 6 numbers$")
    save(path, X=X, y=WORDS[:, None])
    lie(path, struct.pack("<II", 3, 1), struct.pack("<II", 2**31 - 1, 1))
    refused(path, r"array 'y' says its shape is \(2147483647, 1\), but is too short for it$")
    save(path, X=X, y=np.array(["ant", "bee", "cat"]))
    lie(path, struct.pack("<II", 3, 3), struct.pack("<II", 2**31 - 1, 3))
    refused(path, r"array 'y' says its shape is \(2147483647, 3\), but holds 9 characters$")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([0, 1, 2], [0, 1, 1000]),  # a row outside of the matrix
        ([0, 1, 2], [0, -1, 2]),
        ([0, 3, 5], [0, 900, 5]),  # starts that go back
        ([0, 3, 5], [0, 900, 0]),
        ([0, 3, 5], [0, 3, 900]),
        ([0, 3, 5], [0, 3, -5]),
        ([0, 3, 5], [2, 3, 5]),
    ],
)
def test_a_sparse_matrix_that_points_outside(path: Path, old: list[int], new: list[int]) -> None:
    save(path, X=sparse.csc_array([[1.0, 2.0], [3.0, 0.0], [4.0, 5.0]]))
    lie(path, struct.pack("<iii", *old), struct.pack("<iii", *new))
    refused(path, "array 'X' is not a whole sparse matrix$")


def test_two_arrays_of_one_name(path: Path) -> None:
    save(path, X=X)
    content = path.read_bytes()
    path.write_bytes(content + content[128:])
    refused(path, "has more than one array 'X'$")


def test_an_array_of_too_many_bytes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(path, packed=True, X=np.zeros((1000, 100)))
    monkeypatch.setattr(_parts, "MAX_BYTES", 2**19)
    refused(path, "says it unpacks to 0.000745 GiB, of at most 0.000488 GiB$")
    save(path, X=np.zeros((1000, 100), np.uint8))
    refused(path, "says it unpacks to 0.000745 GiB")


@pytest.mark.parametrize("packed", [False, True])
def test_a_truncated_file(path: Path, packed: bool) -> None:
    whole = save(path, packed, X=X, y=WORDS).read_bytes()
    for size in (100, 130, 200, len(whole) - 3):
        path.write_bytes(whole[:size])
        refused(path, "is damaged or cut off|is not a MATLAB 5 file|cannot be unpacked")


def test_what_cannot_be_written(path: Path) -> None:
    mask = [True, True, False]
    for domain, sentence in (
        (
            Domain(X, ["a", "b ", "c"]),
            "labels must not be blank, end with a blank or have a zero character",
        ),
        (Domain(X, ["a", "", "c"]), "labels must not be blank"),
        (Domain(X, ["a", "b\0b", "c"]), "zero character in mat files"),
        (Domain(X, [True, False, None], labeled=mask), "of which some are missing must be text"),
        (Domain(X, [2**60, 1, None], labeled=mask), "of which some are missing must be text"),
        (Domain(X, groups=[1.0, np.nan, 2.0]), "groups must not be missing"),
    ):
        with pytest.raises(InvalidInputError, match=sentence):
            write_domain(domain, path)
    assert list(path.parent.iterdir()) == []
