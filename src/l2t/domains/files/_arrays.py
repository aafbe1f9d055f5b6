"""npz and mat: arrays by name, X with the features and y with the labels."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np

from l2t.domains.domain import Domain
from l2t.domains.files import _labels
from l2t.domains.files._names import Names, listed, missing
from l2t.exceptions import FileFormatError, InvalidInputError
from l2t.typing import AnyArray

__all__ = ["read_mat", "read_npz", "write_mat", "write_npz"]

_HDF5 = (b"\x89HDF\r\n\x1a\n", b"MATLAB 7.3 MAT-file")


def read_npz(path: Path, names: Names) -> dict[str, Any]:
    """Read the arrays of an archive; where it has classes, y holds positions in them."""
    with path.open("rb") as handle:
        found = _archive(handle)
        features = _chosen(found, names.columns, ("X",))
        if features is None:
            raise missing("array", "X", found.files)
        label = _chosen(found, (names.label,), ("y",))
        decode = label == "y" and "classes" in found.files
        parts = _parts(found, features, None if decode else label, names)
        if decode:
            parts["y"] = _decoded(_array(found, "y"), _array(found, "classes"))
    return parts


def read_mat(path: Path, names: Names) -> dict[str, Any]:
    """Read the variables of a MATLAB file, in a process that scipy may crash on a damaged one."""
    with path.open("rb") as handle:
        if handle.read(32).startswith(_HDF5):
            raise FileFormatError(
                "is HDF5, as MATLAB writes with -v7.3, which is not read here: save it with -v7"
            )
    script = Path(__file__).with_name("_load_mat.py")
    done = subprocess.run(
        [sys.executable, "-P", str(script), str(path)], capture_output=True, check=False
    )
    if done.returncode != 0:
        sentence = done.stderr.decode(errors="replace") if done.returncode == 2 else ""
        raise FileFormatError(sentence or "is damaged or not a MATLAB file: save it with -v7")
    found = _archive(io.BytesIO(done.stdout))
    features = _chosen(found, names.columns, ("X", "fts"))
    label = _chosen(found, (names.label,), ("y", "labels", "label"))
    if features is None:
        features = _only_matrix(found, {label, names.labeled, names.groups, "labeled", "groups"})
    return _parts(found, features, label, names, convert=_from_matlab)


def write_npz(domain: Domain, handle: IO[bytes], label: str) -> None:
    """Write X, and where the domain has them y with classes, labeled and groups."""
    arrays = _arrays_of(domain, label, "npz")
    if domain.y is not None:
        arrays["y"] = domain.codes.astype(np.int32)
        arrays["classes"] = _labels.storable(list(domain.classes), "labels")
    if "groups" in arrays:
        arrays["groups"] = _labels.storable(arrays["groups"], "groups")
    np.savez_compressed(handle, allow_pickle=False, **arrays)


def write_mat(domain: Domain, handle: IO[bytes], label: str) -> None:
    """Write X, and where the domain has them y, labeled and groups."""
    from scipy.io import savemat

    arrays = _arrays_of(domain, label, "mat")
    for name in ("y", "groups"):
        if name in arrays:
            arrays[name] = _to_matlab(arrays[name], "labels" if name == "y" else name)
    savemat(handle, arrays, do_compression=True, oned_as="column")


def _archive(file: IO[bytes]) -> Any:
    if not zipfile.is_zipfile(file):  # numpy would take it for a pickle
        raise FileFormatError("is not a whole zip archive, as npz files are")
    file.seek(0)
    return np.load(file, allow_pickle=False)


def _array(found: Any, name: str) -> AnyArray:
    try:
        array = found[name]
    except MemoryError:
        raise
    except Exception as error:  # zipfile and numpy raise many on a damaged archive
        if "Object arrays" in str(error):
            raise FileFormatError(
                f"array {name!r:.80} holds Python objects, and unpickling them could run code"
            ) from None
        raise FileFormatError(f"array {name!r:.80} is damaged and cannot be read") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind == "V":
        raise FileFormatError(f"array {name!r:.80} must hold numbers, text or cells of them")
    return array


def _chosen(found: Any, names: Iterable[str | None], defaults: Iterable[str]) -> str | None:
    """Return the name that was given, else the first default that exists."""
    for name in names:
        if name is not None:
            if name not in found.files:
                raise missing("array", name, found.files)
            return name
    return next((name for name in defaults if name in found.files), None)


def _only_matrix(found: Any, others: Iterable[str | None]) -> str:
    arrays = {name: found[name] for name in found.files if name not in others}
    tables = [name for name, array in arrays.items() if array.dtype.kind in "biuf"]
    wide = [name for name in tables if min(arrays[name].shape) > 1]
    for only in (wide, tables):
        if len(only) == 1:
            return str(only[0])
    raise FileFormatError(
        "has neither X nor fts nor one single matrix; choose with features= "
        f"among its arrays {listed(found.files)}"
    )


def _parts(
    found: Any,
    features: str,
    label: str | None,
    names: Names,
    *,
    convert: Callable[[AnyArray], AnyArray] = lambda values: values,
) -> dict[str, Any]:
    """Return the arguments of `Domain`."""
    parts: dict[str, Any] = {"X": _array(found, features)}
    for role, name, check in (
        ("y", label, _labels.labels),
        ("labeled", _chosen(found, (names.labeled,), ("labeled",)), _labels.mask),
        ("groups", _chosen(found, (names.groups,), ("groups",)), _labels.groups),
    ):
        if name is not None:
            values = _array(found, name)
            if sum(side != 1 for side in values.shape) > 1:
                raise FileFormatError(f"array {name!r} must be a vector, got shape {values.shape}")
            values = values.astype(str) if values.dtype.kind in "SM" else values
            place = f"array {name!r}, row {{}}".format
            parts[role] = check(convert(values.ravel()).tolist(), place)
    return parts


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
    names = [*classes.tolist(), None]  # the last one is at -1
    return _labels.labels([names[code] for code in codes.tolist()], lambda row: f"'y', row {row}")


def _arrays_of(domain: Domain, label: str, format: str) -> dict[str, Any]:
    if label not in ("label", "y"):
        raise InvalidInputError(f"label is always y in {format} files, got {label!r}")
    arrays: dict[str, Any] = {"X": domain.X}
    if domain.y is not None:
        arrays["y"] = _labels.plain(domain.y, "labels", optional=True)
    if domain.labeled is not None:
        arrays["labeled"] = domain.labeled
    if domain.groups is not None:
        arrays["groups"] = _labels.plain(domain.groups, "groups")
    return arrays


def _from_matlab(values: AnyArray) -> AnyArray:
    """Return text without the blanks that MATLAB fills rows with, and whole numbers as int."""
    if values.dtype.kind != "U":
        return _labels.whole(values)
    return np.array([text.rstrip(" ") or None for text in values.tolist()], dtype=object)


def _to_matlab(values: list[Any], what: str) -> AnyArray:
    """Return labels as MATLAB keeps them: cells of text, or numbers with NaN for missing."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, str) for value in known):
        if any(value != value.rstrip(" ") or not value or "\0" in value for value in known):
            raise InvalidInputError(
                f"{what} must not be blank, end with a blank or have a zero character in mat files"
            )
        return np.array([[value or ""] for value in values], dtype=object)
    if len(known) == len(values):
        return _labels.storable(values, what)
    if isinstance(known[0], bool) or (type(known[0]) is int and max(map(abs, known)) > 2**53):
        raise InvalidInputError(
            f"{what} of which some are missing must be text or numbers up to 2**53 in mat files"
        )
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
