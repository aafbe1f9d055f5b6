"""Reading npz and mat files (named arrays, such as X and y) and svmlight files (sparse rows)."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from l2t.domains.files import _labels
from l2t.domains.files._columns import ReadOptions, missing_name
from l2t.domains.files._disk import reading
from l2t.domains.files._formats import unpacked
from l2t.exceptions import FileFormatError
from l2t.typing import AnyArray
from l2t.validation import check_memory, free_memory

#: svmlight: bytes of the dense X that are always accepted, and the most per byte of the file.
_SMALL, _SPARSEST = 2**26, 10_000
_HDF5 = (b"\x89HDF\r\n\x1a\n", b"MATLAB 7.3 MAT-file")


def read_npz(path: Path, options: ReadOptions) -> dict[str, Any]:
    """Read the arrays of an archive; if it has `classes`, y holds indices into them."""
    with path.open("rb") as handle:
        return _parts(archive(handle), options)


def read_mat(path: Path, options: ReadOptions) -> dict[str, Any]:
    """Read the variables of a MATLAB file in a subprocess, which scipy may crash on a damaged file."""
    with path.open("rb") as handle:
        if handle.read(32).startswith(_HDF5):
            wrong = (
                "is HDF5, as MATLAB writes it with -v7.3, which is not supported: save it with -v7"
            )
            raise FileFormatError(wrong)
    script = str(Path(__file__).with_name("_load_mat.py"))
    command = [sys.executable, "-P", script, str(path)]
    most = str(int(min(free_memory() / 2, 2**62)))
    done = subprocess.run([*command, most], capture_output=True, check=False)
    if done.returncode != 0:
        sentence = done.stderr.decode(errors="replace") if done.returncode == 2 else ""
        raise FileFormatError(sentence or "is damaged or not a MATLAB file: save it with -v7")
    return _parts(archive(io.BytesIO(done.stdout)), options, matlab=True)


def read_svmlight(paths: Sequence[Path], zero_based: bool | None) -> list[dict[str, Any]]:
    """Read files with the same features; their number and first index are chosen for all files together."""
    if not paths:
        return []
    from sklearn.datasets import load_svmlight_file  # here: other formats need not wait for it

    files = []
    for path in paths:
        with reading(path), unpacked(path) as handle:
            try:
                X, y = load_svmlight_file(handle, dtype=np.float64, zero_based=True)
            except (ValueError, OverflowError) as error:
                raise FileFormatError(f"is not a valid svmlight file: {error}") from None
            if zero_based is False and 0 in X.indices:
                raise FileFormatError("zero_based must not be False, as the file has a feature 0")
            y = _labels.labels(_labels.floats_to_int(y).tolist(), "row {}".format)
            files.append((X, y))
    start = 0 if zero_based or any(0 in X.indices for X, _ in files) else 1
    width = max((X.shape[1] for X, _ in files), default=0)
    for path, (X, _) in zip(paths, files, strict=True):
        rows, size = X.shape[0], path.stat().st_size
        if 8 * rows * width > max(_SMALL, _SPARSEST * size):
            wrong = f"declares X of shape ({rows}, {width}), more than its {size} bytes can hold"
            raise FileFormatError(f"{path}: {wrong}")
        X.resize(X.shape[0], width)
    return [{"X": X[:, start:], "y": y} for X, y in files]


def archive(file: IO[bytes]) -> Any:
    """Open an npz archive and check its directory, because numpy does not notice a missing entry."""
    if not zipfile.is_zipfile(file):  # numpy would load it as a pickle
        raise FileFormatError("is not a complete zip archive")
    file.seek(0)
    found = np.load(file, allow_pickle=False)
    for member in found.zip.filelist:  # opening a member checks its name against the directory
        found.zip.open(member).close()
    file.seek(-12 - len(found.zip.comment), io.SEEK_END)  # the number of members
    if int.from_bytes(file.read(2), "little") not in (len(found.files), 0xFFFF):
        raise FileFormatError("is damaged: its directory lacks an array")
    return found


def _parts(found: Any, options: ReadOptions, *, matlab: bool = False) -> dict[str, Any]:
    """Return the arguments of `Domain`."""
    features = _chosen(found, next(iter(options.columns), None), "X", "fts")
    if features is None:
        raise missing_name("array", "X", found.files)
    parts: dict[str, Any] = {"X": _array(found, features)}
    label = None if options.optional and options.label not in found.files else options.label
    for role, name, check in (
        ("y", _chosen(found, label, "y", "labels", "label"), _labels.labels),
        ("labeled", _chosen(found, options.labeled, "labeled"), _labels.mask),
        ("groups", _chosen(found, options.groups, "groups"), _labels.groups),
    ):
        if name is None:
            continue
        values = _array(found, name)
        if name == "y" and "classes" in found.files and not matlab:
            values = _decoded(values, _array(found, "classes"))
        if sum(side != 1 for side in values.shape) > 1:
            raise FileFormatError(f"array {name!r} must be a vector, got shape {values.shape}")
        values = values.ravel().astype(str) if values.dtype.kind in "SM" else values.ravel()
        values = _from_matlab(values) if matlab else values
        parts[role] = check(values.tolist(), f"array {name!r}, row {{}}".format)
    return parts


def _chosen(found: Any, name: str | None, *defaults: str) -> str | None:
    """Return `name`, or the first of `defaults` that the file has."""
    if name is None:
        return next((default for default in defaults if default in found.files), None)
    if name not in found.files:
        raise missing_name("array", name, found.files)
    return name


def _array(found: Any, name: str) -> AnyArray:
    check_memory(f"array {name!r:.80}", found.zip.getinfo(f"{name}.npy").file_size)
    try:
        array = found[name]
    except MemoryError:
        raise
    except Exception as error:  # zipfile and numpy raise many on a damaged archive
        wrong = "is damaged and cannot be read"
        if "Object arrays" in str(error):
            wrong = "holds Python objects, and unpickling them could run code"
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
    """Return text without MATLAB's padding blanks, and whole numbers as int."""
    if values.dtype.kind != "U":
        return _labels.floats_to_int(values)
    return np.array([text.rstrip(" ") or None for text in values.tolist()], dtype=object)
