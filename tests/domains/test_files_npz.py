"""npz: arrays by name, and archives that lie."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from l2t.domains import Domain, read_domain, read_domains, read_tables, write_domain
from l2t.exceptions import FileFormatError, InvalidInputError, L2TWarning

X = np.arange(6.0).reshape(3, 2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.npz"


def npy(array: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), **options)
    return buffer.getvalue()


def archive(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members.items():
            file.writestr(name, content)


def header(text: str, version: tuple[int, int] = (1, 0)) -> bytes:
    size = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + size + text.encode()


def refused(path: Path, sentence: str) -> None:
    with pytest.raises(FileFormatError, match=sentence) as caught:
        read_domain(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message


def test_a_name_that_is_damaged_hides_no_array(path: Path) -> None:
    """The directory at the end of a zip file has each name again: only a copy of it changes here."""
    whole = Domain(X, ["a", "b", "a"], labeled=[True, False, True])
    before, name, after = write_domain(whole, path).read_bytes().rpartition(b"labeled.npy")
    path.write_bytes(before + name.replace(b"l", b"L", 1) + after)
    refused(path, "is damaged or of another format: File name in directory 'Labeled.npy' and")
    last = before.rindex(b"PK\x01\x02")
    # A comment on the array before that spans the rest of the directory.
    first = before.rindex(b"PK\x01\x02", 0, last)
    comment = struct.pack("<H", len(before) - last + len(name))
    path.write_bytes(before[: first + 32] + comment + before[first + 34 :] + name + after)
    refused(path, "is damaged: its directory lacks an array")


def test_class_indices_become_names(path: Path) -> None:
    np.savez(path, X=X, y=np.array([1, 0, 1], np.int16), classes=np.array(["cat", "dog"]))
    domain = read_domain(path)
    assert domain.y is not None
    assert domain.y.tolist() == ["dog", "cat", "dog"]
    assert domain.labeled is None


def test_without_classes_y_is_the_label(path: Path) -> None:
    for y in ([3, 4, 3], ["a", "b", "a"], [0.5, 1.5, 0.5], [True, False, True]):
        np.savez(path, X=X, y=np.array(y))
        assert read_domain(path) == Domain(X, y)


def test_minus_one_and_nan_are_missing(path: Path) -> None:
    np.savez(path, X=X, y=np.array([1, -1, 0]), classes=np.array([7, 8]))
    assert read_domain(path) == Domain(X, [8, None, 7], labeled=[True, False, True])
    np.savez(path, X=X, y=np.array([1.0, np.nan, 0.0]))
    assert read_domain(path) == Domain(X, [1.0, None, 0.0], labeled=[True, False, True])
    np.savez(path, X=X, y=np.array([1, -1, 0]), classes=np.array([7, 8]), labeled=[0, 0, 1])
    assert read_domain(path) == Domain(X, [8, None, 7], labeled=[False, False, True])


def test_a_blank_label_is_missing(path: Path) -> None:
    expected = Domain(X, ["a", None, "b"], labeled=[True, False, True])
    for blank in ("", "  "):
        np.savez(path, X=X, y=np.array(["a", blank, "b"]))
        assert read_domain(path) == expected
    np.savez(path, X=X, y=np.array(["a", "NA", "b"]))
    assert read_domain(path, missing="NA") == expected
    np.savez(path, X=X, y=np.array([1, -1, 2]))
    assert read_domain(path, missing="-1").labeled_rows(default=True).tolist() == [
        True,
        False,
        True,
    ]
    assert read_domain(path).classes == (-1, 1, 2)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia"])
def test_sparse_matrices_that_scipy_saved(path: Path, format: str) -> None:
    sparse.save_npz(path, sparse.csr_array(X).asformat(format))
    assert read_domain(path) == Domain(X)
    np.savez(path, y=np.array(["a", "", "b"]), **np.load(path))
    assert read_domain(path) == Domain(X, ["a", None, "b"], labeled=[True, False, True])


def test_damaged_sparse_matrices(path: Path) -> None:
    sparse.save_npz(path, sparse.csr_array(X))
    arrays = dict(np.load(path))
    for changes, sentence in (
        ({"shape": np.array([10**9, 10**9])}, "declares X of shape .*, more than its [0-9]+ bytes"),
        ({"shape": np.array([6])}, "is damaged or of another format|X must be 2-D"),
        ({"indices": arrays["indices"] + 9}, "X must be a valid sparse matrix|is damaged"),
        ({"indptr": arrays["indptr"][:2]}, "is damaged or of another format"),
        ({"format": np.array(b"other")}, "is damaged or of another format"),
    ):
        np.savez(path, **arrays | changes)
        refused(path, sentence)
    np.savez(path, **{name: array for name, array in arrays.items() if name != "indices"})
    refused(path, "is damaged or of another format")


def test_arrays_by_other_names(path: Path) -> None:
    words = np.array(["u", "v", "w"])
    np.savez(
        path, Z=X, kind=np.array([0, 1, 0]), classes=words, mine=np.array([1, 0, 1]), shape=words
    )
    domain = read_domain(path, features="Z", label="kind", labeled="mine", groups="shape")
    assert domain == Domain(X, [0, 1, 0], labeled=[True, False, True], groups=["u", "v", "w"])
    refused(path, "has no array 'X'; its arrays are 'Z', 'kind', 'classes', 'mine', 'shape'$")
    with pytest.raises(FileFormatError, match="has no array 'nope'; its arrays are 'Z'"):
        read_domain(path, features="Z", groups="nope")


def test_a_list_of_very_many_arrays_is_cut(path: Path) -> None:
    np.savez(path, **{f"a{i}": X for i in range(50)})
    refused(path, r"'a0', .* 'a5', \.\.\., 'a44', .* 'a49' \(50 in all\)$")


@pytest.mark.parametrize("dtype", ["<f2", ">f4", "<f8", ">f8", "u1", "<i8", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_plain_dtype_and_both_orders(path: Path, dtype: str, order: Any) -> None:
    array = np.array([[0, 1, 1], [1, 0, 1]], dtype=dtype, order=order)
    np.savez(path, X=array)
    domain = read_domain(path)
    assert domain.X.tolist() == array.astype(float).tolist()
    assert domain.X.dtype == (np.float32 if dtype in ("<f2", ">f4") else np.float64)


def test_a_member_of_format_2(path: Path) -> None:
    archive(path, {"X.npy": npy(X, version=(2, 0)), "readme.txt": b"other things are let be"})
    assert read_domain(path) == Domain(X)


def test_wrong_indices(path: Path) -> None:
    np.savez(path, X=X, y=np.array([0, 2, 1]), classes=np.array(["a", "b"]))
    refused(path, "array 'y' must hold indices of the 2 classes or -1, got 2 at row 1$")
    np.savez(path, X=X, y=np.array([0, -2, 1]), classes=np.array(["a", "b"]))
    refused(path, "got -2 at row 1$")
    np.savez(path, X=X, y=np.array([0.0, 1.0, 1.0]), classes=np.array(["a", "b"]))
    refused(path, "'y' must be a vector of class indices .* got float64 of shape")
    np.savez(path, X=X, y=np.array([0, 1, 1]), labeled=np.array([0, 1, 2]))
    refused(path, "array 'labeled', row 2: 2 is not 0, 1, true or false$")
    np.savez(path, X=X, y=np.array([0, 1, -1]), classes=np.array(["a", "b"]), labeled=[1, 1, 1])
    refused(path, "y must not be missing where labeled is True")


def test_a_missing_group(path: Path) -> None:
    np.savez(path, X=X, groups=np.array([1.0, 2.0, np.nan]))
    refused(path, "array 'groups', row 2: a group is missing$")


def test_what_cannot_be_written(path: Path) -> None:
    for domain, sentence in (
        (Domain(X, np.array([1, "a", 2], dtype=object)), "labels must be all str, .* int and str$"),
        (
            Domain(X, np.array(["a\0", "b", "c"], dtype=object)),
            "labels must not end with a zero character",
        ),
        (Domain(X, [2**70, 1, 2]), "labels must fit into 64 bits"),
        (Domain(X, groups=np.array([b"a", b"b", b"c"], dtype=object)), "groups .* got bytes$"),
        (Domain(X, groups=[1.0, np.nan, 2.0]), "groups must not be missing, got None at row 1$"),
    ):
        with pytest.raises(InvalidInputError, match=sentence):
            write_domain(domain, path)
        assert list(path.parent.iterdir()) == []


def test_objects_are_never_unpickled(path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (path.with_name("sprung"),)

    np.savez(path, X=X, y=np.array([Trap(), Trap(), Trap()], dtype=object), allow_pickle=True)
    refused(path, "array 'y' holds Python objects, whose unpickling may run code: save text as")
    assert not path.with_name("sprung").exists()


@pytest.mark.parametrize(
    "shape", ["(1000000000, 1000)", "(3, 3)", "(3, -2)", "(2**3,)", "(3,)", "3"]
)
def test_a_header_that_lies_about_the_shape(path: Path, shape: str) -> None:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}\n"
    archive(path, {"X.npy": header(text) + X.tobytes()})
    refused(path, "array 'X' is damaged|needs more memory than there is|X must be 2-D")


@pytest.mark.parametrize(
    ("descr", "sentence"),
    [
        ("'|O'", "holds Python objects"),
        ("[('a', '<f8')]", "must hold numbers, text or cells of them"),
        ("'<U0'", "X must be real numbers"),
        ("'|V8'", "must hold numbers, text or cells of them"),
        ("'nonsense'", "is damaged and cannot be read"),
        ("__import__('os')", "is damaged and cannot be read"),
        ("'<c16'", "X must be real numbers"),
        ("'<U2'", "X must be real numbers"),
    ],
)
def test_a_header_of_a_wrong_dtype(path: Path, descr: str, sentence: str) -> None:
    count = {"'<c16'": 3, "'<f8'": 6}.get(descr, 6)
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': ({count},)}}\n"
    archive(path, {"X.npy": header(text) + X.tobytes()})
    refused(path, sentence)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY\x09\x00",
        header("(" * 9000),
        header("{}" + " " * 20_000, (2, 0)),
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff",
    ],
)
def test_damaged_headers(path: Path, content: bytes) -> None:
    archive(path, {"X.npy": content})
    refused(path, "array 'X' (is damaged|must hold numbers)")


def test_other_archives(path: Path) -> None:
    archive(path, {"table.csv": b"a,b\n", "other.csv": b""})
    with pytest.raises(FileFormatError, match="has no array 'X'"):
        read_domain(path, format="npz")
    with zipfile.ZipFile(path, "w"):
        pass
    refused(path, "has no array 'X'; its arrays are none$")


def test_a_truncated_archive(path: Path) -> None:
    whole = write_domain(Domain(X, ["a", "b", "c"]), path).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused(path, "File is not a zip file$")


def test_a_changed_byte_is_found_by_the_sum(path: Path) -> None:
    archive(path, {"X.npy": npy(X)}, zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") - 3] ^= 1
    path.write_bytes(content)
    refused(path, "array 'X' is damaged")


def test_truths_are_zero_or_one(path: Path) -> None:
    text = "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}\n"
    archive(
        path, {"X.npy": npy(X), "y.npy": npy([1, 2, 3]), "labeled.npy": header(text) + b"\0\2\xff"}
    )
    domain = read_domain(path)
    assert domain.labeled is not None
    assert int(domain.labeled.view(np.uint8).sum()) == 2


@pytest.mark.parametrize(
    ("how", "rows"), [("mean", [[1, 4], [2, 2], [3, 6]]), ("drop", [[1, 4], [3, 6]])]
)
def test_missing_numbers_are_imputed(tmp_path: Path, how: str, rows: list[list[int]]) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, X=np.array([[1, 4], [np.nan, 2], [3, 6.0]]), y=np.array(["a", "b", "a"]))
    with pytest.warns(L2TWarning, match="missing cells"):
        assert read_domain(path, impute=how).X.tolist() == rows
    np.savez(path, X=np.array([[1, np.nan], [2, np.nan]]))
    with pytest.raises(FileFormatError, match=r"a.npz: X must have a number in column 1$"):
        read_domain(path, impute="mean")


def test_names_of_features_are_kept(path: Path) -> None:
    domain = Domain(X, ["a", "b", "a"], feature_names=["height", "größe"])
    read = read_domain(write_domain(domain, path))
    assert read == domain
    assert read.feature_names == ("height", "größe")
    write_domain(Domain(X), path)
    assert "feature_names" not in np.load(path)
    assert read_domain(path).feature_names is None
    for names in (np.array(["p", "q"]), np.array([[b"p"], [b"q"]])):
        np.savez(path, X=X, feature_names=names)
        assert read_domain(path).feature_names == ("p", "q")
    np.savez(path, X=X, feature_names=np.arange(2))
    assert read_domain(path).feature_names is None, "only texts are names"
    np.savez(path, X=X, feature_names=np.array(["p"]))
    refused(path, "feature_names must name the 2 columns of X, got 1")
    np.savez(path, X=X, feature_names=np.array(["p", "q"], dtype=object))
    refused(path, "array 'feature_names' holds Python objects")


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_columns_of_arrays_are_matched_by_name(tmp_path: Path, ending: str) -> None:
    wide = Domain(np.column_stack([X, X[:, 0] + 0.5]), ["a", "b", "a"], feature_names=list("pqr"))
    source = write_domain(wide, tmp_path / "source.npz")
    turned = wide.with_columns([1, 0])
    target = write_domain(turned, tmp_path / f"target.{ending}")
    with pytest.warns(L2TWarning, match="not every file has them as features: 'r'"):
        ours, theirs = read_domains([source, target])
    assert ours.feature_names == theirs.feature_names == ("q", "p")
    assert ours == theirs == turned
    assert read_tables([source, target])[0].roles.features == ["q", "p"]


def test_columns_without_names_are_matched_by_position_with_a_note(tmp_path: Path) -> None:
    named = write_domain(Domain(X, feature_names=["x", "z"]), tmp_path / "named.csv")
    bare = write_domain(Domain(X), tmp_path / "bare.npz")
    for paths, sides, names in (
        ((bare, named), "the target has names of columns and this file has none", ("x", "z")),
        ((named, bare), "this file has names of columns and the target has none", None),
    ):
        with pytest.warns(L2TWarning, match=f"{paths[0].name}: {sides}") as caught:
            source, target = read_domains(paths)
        assert len(caught) == 1
        assert source == target
        assert source.feature_names == target.feature_names == names


def test_a_feature_may_have_the_name_of_the_label_column(path: Path) -> None:
    write_domain(Domain(X, ["a", "b", "a"], feature_names=["label", "x"]), path)
    (table,) = read_tables([path])
    assert list(table.frame) == ["label", "x", "label_"]
    assert (table.roles.features, table.roles.label) == (["label", "x"], "label_")
