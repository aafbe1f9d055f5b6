"""Which format a file has, and files that are none."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from l2t.domains import Domain, read_domain, write_domain
from l2t.domains.files.formats import format_to_read
from l2t.exceptions import FileFormatError, InvalidInputError

FORMATS = ["npz", "csv", "parquet", "mat", "svmlight"]
DOMAIN = Domain([[0.0, 1.5], [2.0, 0.0], [0.25, 4.0]], [1, 2, 1])


def written(path: Path, format: str) -> Path:
    """Write the domain, with scipy and scikit-learn in the formats that are only read."""
    if format == "mat":
        savemat(path, {"X": DOMAIN.X, "y": DOMAIN.y}, appendmat=False)
    elif format == "svmlight":
        dump_svmlight_file(DOMAIN.X, DOMAIN.y, str(path), zero_based=False)
    else:
        write_domain(DOMAIN, path, format=format)
    return path


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["plain", "data.dat", "notes.txt", "v1.2"])
def test_the_content_tells_where_the_ending_does_not(
    tmp_path: Path, format: str, name: str
) -> None:
    path = written(tmp_path / name, format)
    assert read_domain(path) == DOMAIN


@pytest.mark.parametrize("format", ["npz", "parquet", "mat"])
@pytest.mark.parametrize("ending", [".csv", ".svm", ".npz", ".mat", ".pq"])
def test_a_binary_format_is_read_under_a_wrong_ending(
    tmp_path: Path, format: str, ending: str
) -> None:
    path = written(tmp_path / f"a{ending}", format)
    assert read_domain(path) == DOMAIN


@pytest.mark.parametrize(
    ("ending", "format"),
    [
        (".CSV", "csv"),
        (".tsv", "csv"),
        (".pq", "parquet"),
        (".libsvm", "svmlight"),
        (".svmlight", "svmlight"),
    ],
)
def test_other_endings(tmp_path: Path, ending: str, format: str) -> None:
    path = written(tmp_path / f"a{ending}", format)
    assert format_to_read(path) == format
    assert read_domain(path) == DOMAIN


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("# a comment\n\n-1 qid:3 1:0.5 7:2e-3 # more\n", "svmlight"),
        ("1\n1 2:3\n", "svmlight"),
        ("2020-01-01 12:30;5\n2020-01-02 12:30;6\n", "csv"),
        ("a,b\n1,2\n", "csv"),
        ("1\n2\n3\n", "csv"),
        ("time;12:30\n1;2\n", "csv"),
        ("PAR1,b\n1,2\n", "csv"),
    ],
)
def test_the_looks_of_text(tmp_path: Path, text: str, format: str) -> None:
    (tmp_path / "a").write_text(text, encoding="utf-8")
    assert format_to_read(tmp_path / "a") == format


def test_text_under_the_ending_of_a_binary_format(tmp_path: Path) -> None:
    for ending, sentence in (
        ("npz", "is not a complete zip archive"),
        ("mat", r"is damaged or not a MATLAB file \(save it with -v7\)"),
        ("pq", "damaged or of another format"),
    ):
        path = tmp_path / f"a.{ending}"
        path.write_text("a,b\n1,2\n" * 40)
        with pytest.raises(FileFormatError, match=f"a.{ending}: .*{sentence}"):
            read_domain(path)


@pytest.mark.parametrize(
    "head", [b"\x89HDF\r\n\x1a\n", b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: today"]
)
def test_matlab_73_is_told_how_to_be_saved(tmp_path: Path, head: bytes) -> None:
    (tmp_path / "a.mat").write_bytes(head + bytes(1000))
    with pytest.raises(FileFormatError, match=r"a.mat: is HDF5, .* save it with -v7$"):
        read_domain(tmp_path / "a.mat")


@pytest.mark.usefixtures("posix")
def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"a.csv: there is no such file$"):
        read_domain(tmp_path / "a.csv")
    with pytest.raises(FileFormatError, match=r"is a directory, not a file$"):
        read_domain(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileFormatError, match=r"pipe: is not a regular file$"):
        read_domain(tmp_path / "pipe")
    with pytest.raises(FileFormatError, match=r"there is no such file$"):
        read_domain(f"{tmp_path}/a\0b.csv")


@pytest.mark.parametrize("format", [None, *FORMATS])
def test_an_empty_file(tmp_path: Path, format: str | None) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(FileFormatError, match=r"a: is empty$"):
        read_domain(tmp_path / "a", format=format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.usefixtures("posix")
def test_an_unreadable_file(tmp_path: Path, format: str) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser may read everything")
    path = written(tmp_path / "a", format)
    path.chmod(0)
    with pytest.raises(FileFormatError, match="a: cannot be read: Permission denied"):
        read_domain(path)


def test_an_error_of_the_disk_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_domain(DOMAIN, tmp_path / "a.csv")

    def fail(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(FileFormatError, match=r"a.csv: cannot be read: Input/output error$"):
        read_domain(path)


def test_a_lack_of_memory_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_domain(DOMAIN, tmp_path / "a.csv")

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(FileFormatError, match=r"a.csv: needs more memory than there is$"):
        read_domain(path)


def test_what_the_domain_refuses_names_the_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=np.array([[1.0, np.nan]]))
    with pytest.raises(FileFormatError, match=r"a.npz: X must be finite, got nan at row 0"):
        read_domain(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", X=np.ones((2, 2)), y=np.ones(3))
    with pytest.raises(FileFormatError, match=r"a.npz: y must have one entry per row"):
        read_domain(tmp_path / "a.npz")


def test_parameters_are_checked(tmp_path: Path) -> None:
    npz = write_domain(DOMAIN, tmp_path / "a.npz")
    svm = written(tmp_path / "a.svm", "svmlight")
    with pytest.raises(InvalidInputError, match=r"format must be one of npz, .* got 'xls'"):
        read_domain(npz, format="xls")
    with pytest.raises(InvalidInputError, match=r"format must be one of npz, .* got 'xls'"):
        write_domain(DOMAIN, npz, format="xls")
    with pytest.raises(InvalidInputError, match="label must be a name, got 3"):
        read_domain(npz, label=3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="features must be distinct names"):
        read_domain(npz, features=[])
    with pytest.raises(InvalidInputError, match="features must be distinct names"):
        read_domain(npz, features=["X", "X"])
    with pytest.raises(InvalidInputError, match="features must be the name of one array in npz"):
        read_domain(npz, features=["X", "Z"])
    with pytest.raises(InvalidInputError, match="label cannot be chosen in svmlight files"):
        read_domain(svm, label="y")
    with pytest.raises(InvalidInputError, match="path must be a str or a path, got int"):
        read_domain(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="domain must be a Domain, got list"):
        write_domain([1], npz)  # type: ignore[arg-type]
    with pytest.raises(
        InvalidInputError, match=r"the file extension must be one of .*, got 'a.txt'$"
    ):
        write_domain(DOMAIN, tmp_path / "a.txt")
    with pytest.raises(
        InvalidInputError, match=r"format must be one of npz, csv, parquet, got 'mat'"
    ):
        write_domain(DOMAIN, tmp_path / "a.mat")
    with pytest.raises(InvalidInputError, match=r"a.npz: label .* got 'kind'"):
        write_domain(DOMAIN, npz, label="kind")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\x93NUMPY\x01\x00v\x00{'descr'", "is a single npy array"),
        (b"\x80\x04\x95\x00\x00", "is a pickle, which could run code and is not read"),
        (b"\xd0\xcf\x11\xe0", "is a spreadsheet in an old format: save it as xlsx or csv"),
    ],
)
def test_formats_that_are_not_read_are_named(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=sentence):
        read_domain(path)
