"""Reading npz and mat files (named arrays, such as X and y) and svmlight files (sparse rows)."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from scipy import sparse

from l2t.domains.files import _labels
from l2t.domains.files._columns import DomainArguments, ReadOptions, missing_name
from l2t.domains.files.disk import reading
from l2t.domains.files.formats import load_in_child, unpacked
from l2t.domains.labels import label_key
from l2t.exceptions import FileFormatError
from l2t.typing import AnyArray, Matrix
from l2t.validation import check_memory, free_memory

#: svmlight: bytes of the dense X that are always accepted, and the most per byte of the file.
_SMALL, _SPARSEST = 2**26, 10_000
#: Arrays of `scipy.sparse.save_npz`.
_SPARSE = frozenset(("data", "shape", "format"))
_EXACT = 2**53  # float64 represents all whole numbers up to this one
#: An opened npz archive; numpy has no usable types for its attributes.
Archive: TypeAlias = Any
_HDF5 = (b"\x89HDF\r\n\x1a\n", b"MATLAB 7.3 MAT-file")


def read_npz(path: Path, options: ReadOptions) -> DomainArguments:
    """Read the arrays of an archive; if it has `classes`, y holds indices into them."""
    with path.open("rb") as handle:
        return _parts(archive(handle), options)


def read_mat(path: Path, options: ReadOptions) -> DomainArguments:
    """Read the variables of a MATLAB file in a subprocess, which scipy may crash on a damaged file."""
    with path.open("rb") as handle:
        if handle.read(32).startswith(_HDF5):
            wrong = (
                "is HDF5, as MATLAB writes it with -v7.3, which is not supported: save it with -v7"
            )
            raise FileFormatError(wrong)
    content = load_in_child("mat", path, free_memory() / 2)
    return _parts(archive(io.BytesIO(content)), options, matlab=True)


def read_svmlight(
    files: Sequence[tuple[Path, Iterable[str]]], zero_based: bool | None
) -> list[DomainArguments]:
    """Read files with the same features; their number and first index are chosen for all files together.

    Each file comes with the texts of a missing label.
    """
    if not files:
        return []
    from sklearn.datasets import load_svmlight_file  # here: other formats need not wait for it

    read = []
    for path, missing in files:
        with reading(path), unpacked(path) as handle:
            lines = _SvmlightLines(handle)
            try:
                X, _ = load_svmlight_file(lines, dtype=np.float64, zero_based=True)
            except (ValueError, OverflowError) as error:
                raise FileFormatError(f"is not a valid svmlight file: {error}") from None
            if zero_based is False and 0 in X.indices:
                raise FileFormatError("zero_based must not be False, as the file has a feature 0")
            read.append((X, _labels.labels(lines.labels, "row {}".format, missing)))
    start = 0 if zero_based or any(0 in X.indices for X, _ in read) else 1
    width = max((X.shape[1] for X, _ in read), default=0)
    for (path, _), (X, _) in zip(files, read, strict=True):
        with reading(path):
            _check_size((X.shape[0], width), path.stat().st_size)
        X.resize(X.shape[0], width)
    return [{"X": X[:, start:], "y": y} for X, y in read]


class _SvmlightLines(io.RawIOBase):
    """The lines of a svmlight file with 0 in place of their labels, which may be text; nan is None."""

    def __init__(self, handle: IO[bytes]) -> None:
        self._lines = enumerate(handle, start=1)
        self.labels: list[str | None] = []

    def readable(self) -> bool:
        return True

    def readline(self, size: int | None = -1) -> bytes:
        for number, line in self._lines:
            cells = line.partition(b"#")[0].split(maxsplit=1)
            if not cells:
                continue
            label = cells[0].decode()
            if ":" in label or "," in label:
                rule = f"line {number} must begin with one label, or with nan for none"
                raise ValueError(f"{rule}, got {label!r:.80}")
            # As a number is written elsewhere: programs write 1 as 1.0 or +1.
            self.labels.append(None if label.lower() == "nan" else str(label_key(label)))
            return b" ".join([b"0", *cells[1:], b"\n"])
        return b""


def _check_size(shape: tuple[int, ...], size: int) -> None:
    """Reject a sparse matrix that is much larger than the file it comes from."""
    if 8 * np.prod(shape, dtype=float) > max(_SMALL, _SPARSEST * size):
        wrong = f"declares X of shape {shape}, more than its {size} bytes can hold"
        raise FileFormatError(wrong)


def archive(file: IO[bytes]) -> Archive:
    """Open an npz archive and check its directory, because numpy does not notice a missing entry."""
    if not zipfile.is_zipfile(file):  # numpy would load it as a pickle
        raise FileFormatError("is not a complete zip archive")
    file.seek(0)
    content = np.load(file, allow_pickle=False)
    for member in content.zip.filelist:  # opening a member checks its name against the directory
        content.zip.open(member).close()
    file.seek(-12 - len(content.zip.comment), io.SEEK_END)  # the number of members
    if int.from_bytes(file.read(2), "little") not in (len(content.files), 0xFFFF):
        raise FileFormatError("is damaged: its directory lacks an array")
    return content


def _parts(content: Archive, options: ReadOptions, *, matlab: bool = False) -> DomainArguments:
    """Return the arguments of `Domain`."""
    features = _chosen(content, next(iter(options.columns), None), "X", "fts")
    if features is None and _SPARSE.issubset(content.files) and not matlab:
        parts: DomainArguments = {"X": _sparse_matrix(content)}
    elif features is None:
        raise missing_name("array", "X", content.files)
    else:
        parts = {"X": _array(content, features)}
    label = None if options.optional and options.label not in content.files else options.label
    for role, name in (
        ("y", _chosen(content, label, "y", "labels", "label")),
        ("labeled", _chosen(content, options.labeled, "labeled")),
        ("groups", _chosen(content, options.groups, "groups")),
    ):
        if name is None:
            continue
        values, place = _array(content, name), f"array {name!r}, row {{}}".format
        indices = name == "y" and "classes" in content.files and not matlab
        if indices:
            values = _decoded(values, _array(content, "classes"))
        if sum(side != 1 for side in values.shape) > 1:
            raise FileFormatError(f"array {name!r} must be a vector, got shape {values.shape}")
        values = values.ravel().astype(str) if values.dtype.kind in "SM" else values.ravel()
        cells = (_from_matlab(values) if matlab else values).tolist()
        if role == "labeled":
            parts[role] = _labels.mask(cells, place)
        elif role == "groups":
            parts[role] = _labels.groups(cells, place, trim=matlab)
        else:  # a class may have a blank name; a blank label in a plain array is missing
            parts[role] = _labels.labels(cells, place, options.missing, trim=not indices)
    if (names := _feature_names(content, matlab=matlab)) is not None:
        parts["feature_names"] = names
    return parts


def _feature_names(content: Archive, *, matlab: bool) -> list[str] | None:
    """Return the texts of the array `feature_names`; None if the file has no such array of texts."""
    if "feature_names" not in content.files:
        return None
    array = _array(content, "feature_names")
    if array.dtype.kind not in "US":
        return None
    names = array.ravel().astype(str).tolist()
    return [name.strip() for name in names] if matlab else names  # MATLAB pads texts with blanks


def _sparse_matrix(content: Archive) -> Matrix:
    """Return the matrix of a file that `scipy.sparse.save_npz` wrote; `Domain` checks its indices."""
    shape = tuple(_array(content, "shape").ravel().tolist())
    _check_size(shape, content.zip.fp.seek(0, io.SEEK_END))
    for name in content.files:
        _array(content, name)  # a damaged array, or one that does not fit into memory, is named
    content.zip.fp.seek(0)
    matrix = sparse.load_npz(content.zip.fp)
    if matrix.ndim != 2:
        raise FileFormatError(f"X must be 2-D, got a sparse array of shape {shape}")
    return matrix


def _chosen(content: Archive, name: str | None, *defaults: str) -> str | None:
    """Return `name`, or the first of `defaults` that the file has."""
    if name is None:
        return next((default for default in defaults if default in content.files), None)
    if name not in content.files:
        raise missing_name("array", name, content.files)
    return name


def _array(content: Archive, name: str) -> AnyArray:
    check_memory(f"array {name!r:.80}", content.zip.getinfo(f"{name}.npy").file_size)
    try:
        array = content[name]
    except MemoryError:
        raise
    except Exception as error:  # zipfile and numpy raise many on a damaged archive
        wrong = "is damaged and cannot be read"
        if "Object arrays" in str(error):
            wrong = "holds Python objects, whose unpickling may run code: save text as dtype=str"
        raise FileFormatError(f"array {name!r:.80} {wrong}") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind == "V":
        raise FileFormatError(f"array {name!r:.80} must hold numbers, text or cells of them")
    return array


def _decoded(codes: AnyArray, classes: AnyArray) -> AnyArray:
    """Return the labels for class indices; None for -1."""
    if codes.dtype.kind not in "iu" or codes.ndim != 1 or classes.ndim != 1:
        raise FileFormatError(
            "array 'y' must be a vector of class indices and 'classes' a vector of names, "
            f"got {codes.dtype} of shape {codes.shape} and {classes.dtype} of shape {classes.shape}"
        )
    wrong = (codes < -1) | (codes >= len(classes))
    if wrong.any():
        raise FileFormatError(
            f"array 'y' must hold indices of the {len(classes)} classes or -1, "
            f"got {codes[wrong][0]} at row {int(wrong.argmax())}"
        )
    names = np.array([*classes.tolist(), None], dtype=object)  # index -1 is the last
    return names[codes]


def _from_matlab(values: AnyArray) -> AnyArray:
    """Return numbers as int if none has a fraction: MATLAB stores all numbers as floats."""
    if values.dtype.kind != "f":
        return values
    known = values[~np.isnan(values)]
    if not (np.abs(known) <= _EXACT).all() or (known != np.floor(known)).any():
        return values
    return np.array([None if value != value else int(value) for value in values.tolist()], object)
