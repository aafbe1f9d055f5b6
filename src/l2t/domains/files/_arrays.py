"""npz and mat: arrays by name, X with the features and y with the labels. svmlight: sparse rows."""

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
from l2t.domains.files._columns import Names, missing
from l2t.domains.files._disk import reading
from l2t.domains.files._formats import unpacked
from l2t.exceptions import FileFormatError
from l2t.typing import AnyArray
from l2t.validation import check_memory, free_memory

#: Dense bytes of svmlight rows that are never too many, and most of them for each byte of the file.
_SMALL, _SPARSEST = 2**26, 10_000
_HDF5 = (b"\x89HDF\r\n\x1a\n", b"MATLAB 7.3 MAT-file")


def read_npz(path: Path, names: Names) -> dict[str, Any]:
    """Read the arrays of an archive; where it has classes, y holds positions in them."""
    with path.open("rb") as handle:
        return _parts(archive(handle), names)


def read_mat(path: Path, names: Names) -> dict[str, Any]:
    """Read the variables of a MATLAB file, in a process that scipy may crash on a damaged one."""
    with path.open("rb") as handle:
        if handle.read(32).startswith(_HDF5):
            wrong = "is HDF5, as MATLAB writes with -v7.3, which is not read here: save it with -v7"
            raise FileFormatError(wrong)
    script = str(Path(__file__).with_name("_load_mat.py"))
    command = [sys.executable, "-P", script, str(path)]
    most = str(int(min(free_memory() / 2, 2**62)))
    done = subprocess.run([*command, most], capture_output=True, check=False)
    if done.returncode != 0:
        sentence = done.stderr.decode(errors="replace") if done.returncode == 2 else ""
        raise FileFormatError(sentence or "is damaged or not a MATLAB file: save it with -v7")
    return _parts(archive(io.BytesIO(done.stdout)), names, matlab=True)


def read_svmlight(paths: Sequence[Path], zero_based: bool | None) -> list[dict[str, Any]]:
    """Read files of the same features, whose number and first index are decided for all together."""
    if not paths:
        return []
    from sklearn.datasets import load_svmlight_file  # here: other formats need not wait for it

    files = []
    for path in paths:
        with reading(path), unpacked(path) as handle:
            try:
                X, y = load_svmlight_file(handle, dtype=np.float64, zero_based=True)
            except (ValueError, OverflowError) as error:
                raise FileFormatError(f"is not a whole svmlight file: {error}") from None
            if zero_based is False and 0 in X.indices:
                raise FileFormatError("has a feature 0, so that zero_based must not be False")
            files.append((X, _labels.labels(_labels.whole(y).tolist(), lambda row: f"row {row}")))
    start = 0 if zero_based or any(0 in X.indices for X, _ in files) else 1
    width = max((X.shape[1] for X, _ in files), default=0)
    for path, (X, _) in zip(paths, files, strict=True):
        rows, size = X.shape[0], path.stat().st_size
        if 8 * rows * width > max(_SMALL, _SPARSEST * size):
            wrong = f"declares {rows} x {width} features, far more than its {size} bytes can hold"
            raise FileFormatError(f"{path}: {wrong}")
        X.resize(X.shape[0], width)
    return [{"X": X[:, start:], "y": y} for X, y in files]


def archive(file: IO[bytes]) -> Any:
    """Open an archive of arrays by name, and check its directory: damage there would hide an array."""
    if not zipfile.is_zipfile(file):  # numpy would take it for a pickle
        raise FileFormatError("is not a whole zip archive")
    file.seek(0)
    found = np.load(file, allow_pickle=False)
    for member in found.zip.filelist:  # opening one compares its two names
        found.zip.open(member).close()
    file.seek(-12 - len(found.zip.comment), io.SEEK_END)  # where the number of members is
    if int.from_bytes(file.read(2), "little") not in (len(found.files), 0xFFFF):
        raise FileFormatError("is damaged: its directory lacks an array")
    return found


def _parts(found: Any, names: Names, *, matlab: bool = False) -> dict[str, Any]:
    """Return the arguments of `Domain`."""
    features = _chosen(found, next(iter(names.columns), None), "X", "fts")
    if features is None:
        raise missing("array", "X", found.files)
    parts: dict[str, Any] = {"X": _array(found, features)}
    label = None if names.optional and names.label not in found.files else names.label
    for role, name, check in (
        ("y", _chosen(found, label, "y", "labels", "label"), _labels.labels),
        ("labeled", _chosen(found, names.labeled, "labeled"), _labels.mask),
        ("groups", _chosen(found, names.groups, "groups"), _labels.groups),
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
    """Return the name that was given, else the first default that exists."""
    if name is None:
        return next((default for default in defaults if default in found.files), None)
    if name not in found.files:
        raise missing("array", name, found.files)
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
    """Return the labels of class indices, None for -1."""
    if codes.dtype.kind not in "iu" or codes.ndim != 1 or classes.ndim != 1:
        raise FileFormatError(
            "array 'y' must be a vector of class indices and 'classes' one of names, "
            f"got {codes.dtype} of shape {codes.shape} and {classes.dtype} of shape {classes.shape}"
        )
    wrong = (codes < -1) | (codes >= len(classes))
    if wrong.any():
        raise FileFormatError(
            f"array 'y' must hold positions in {len(classes)} classes or -1, "
            f"got {codes[wrong][0]} at row {int(wrong.argmax())}"
        )
    names = np.array([*classes.tolist(), None], dtype=object)  # the last one is at -1
    return names[codes]


def _from_matlab(values: AnyArray) -> AnyArray:
    """Return text without the blanks that MATLAB fills rows with, and whole numbers as int."""
    if values.dtype.kind != "U":
        return _labels.whole(values)
    return np.array([text.rstrip(" ") or None for text in values.tolist()], dtype=object)
