"""npz: the arrays X, y and classes (y holds positions in classes), or y with the labels themselves.

``numpy.load`` allocates what a header claims, so an archive of a few bytes may ask for all memory.
Here an array is made only after the claims of the archive, the member and the array agree with each
other and with what the file's bytes can unpack to.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from l2t.domains.domain import Domain
from l2t.domains.files._parts import Names, Parts, listed, refuse_large
from l2t.domains.files._values import as_mask, complete, gather, plain, storable, without_missing
from l2t.exceptions import FileFormatError, InvalidInputError, MissingColumnError

__all__ = ["read", "read_member", "write"]

_DEFLATE_RATIO = 1032  # no deflated byte unpacks to more
_MAX_HEADER = 10_000  # numpy's own bound: a longer header is an attack on its parser
_CHUNK = 2**22
_LENGTH_BYTES = {(1, 0): 2, (2, 0): 4}  # version 3 exists for the field names of records alone


def read(path: Path, names: Names) -> Parts:
    """Read the arrays of an archive."""
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise FileFormatError(f"is not a whole zip archive: {error}") from None
    with archive:
        members = _members(archive, path.stat().st_size)
        X = _named(archive, members, names.features[0] if names.features else None, "X", must=True)
        mask = _named(archive, members, names.labeled, "labeled")
        groups = _named(archive, members, names.groups, "groups")
        y = _named(archive, members, names.label, "y")
        if y is not None and names.label in (None, "y") and "classes" in members:
            y = _decoded(y, read_member(archive, members["classes"]))
    labeled = None if mask is None else as_mask(mask, f"array {names.labeled or 'labeled'!r}")
    if groups is not None:
        complete(groups, f"array {names.groups or 'groups'!r}")
    if y is not None:
        y, labeled = without_missing(y, labeled)
    return Parts(X, y, labeled, groups)


def write(domain: Domain, handle: BinaryIO, label: str) -> None:
    """Write X, and where the domain has them y with classes, labeled and groups."""
    if label not in ("label", "y"):
        raise InvalidInputError(f"label is always y in npz files, got {label!r}")
    arrays = {"X": domain.X}
    if domain.y is not None:
        plain(domain.y, "labels", optional=True)  # all of one type, or refused
        arrays["y"] = domain.codes.astype(np.int32)
        arrays["classes"] = storable(plain(gather(domain.classes), "labels"), "labels")
    if domain.labeled is not None:
        arrays["labeled"] = domain.labeled
    if domain.groups is not None:
        arrays["groups"] = storable(plain(domain.groups, "groups"), "groups")
    np.savez_compressed(handle, **arrays)  # type: ignore[arg-type]


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the arrays of an archive whose directory can be true."""
    members: dict[str, zipfile.ZipInfo] = {}
    total = 0
    for info in archive.infolist():
        if not info.filename.endswith(".npy"):
            continue
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise FileFormatError(f"has more than one array {name!r:.80}")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileFormatError(f"array {name!r:.80} is packed by a method other than deflate")
        ratio = 1 if info.compress_type == zipfile.ZIP_STORED else _DEFLATE_RATIO
        if info.compress_size > size or info.file_size > info.compress_size * ratio:
            raise FileFormatError(
                f"array {name!r:.80} says it has {info.file_size} bytes, more than its "
                f"{min(info.compress_size, size)} packed bytes can hold"
            )
        total += info.file_size
        members[name] = info
    refuse_large(total)
    if not members:
        raise FileFormatError("is a zip archive without arrays (.npy)")
    return members


def _named(
    archive: zipfile.ZipFile,
    members: dict[str, zipfile.ZipInfo],
    name: str | None,
    default: str,
    *,
    must: bool = False,
) -> npt.NDArray[Any] | None:
    wanted = default if name is None else name
    if wanted in members:
        return read_member(archive, members[wanted])
    if name is None and not must:
        return None
    raise MissingColumnError(f"has no array {wanted!r}; its arrays are {listed(list(members))}")


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> npt.NDArray[Any]:
    """Read one array whose header agrees with the size of its member."""
    what = f"array {info.filename.removesuffix('.npy')!r:.80}"
    try:
        with archive.open(info) as member:
            shape, by_columns, dtype, taken = _header(member, what)
            _refuse_dtype(dtype, what)
            size = math.prod(shape) * dtype.itemsize
            if min(shape, default=0) < 0 or size != info.file_size - taken:
                raise FileFormatError(
                    f"{what} says it is {dtype} of shape {shape}, which is {size} bytes, "
                    f"but has {info.file_size - taken}"
                )
            refuse_large(math.prod(shape) * 8)  # what float64 needs, which whole numbers become
            raw = _bytes(member, size, what)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise FileFormatError(f"{what} cannot be unpacked: {error}") from None
    # Bytes other than 0 and 1 are no bool that numpy could count with.
    flat = raw != 0 if dtype.kind == "b" else raw.view(dtype)
    flat = flat.astype(dtype.newbyteorder("="), copy=False)
    return flat.reshape(shape, order="F" if by_columns else "C")


def _header(member: Any, what: str) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Return shape, whether by columns, dtype, and how many bytes said so."""
    start = member.read(8)
    width = _LENGTH_BYTES.get(tuple(start[6:8]))
    if start[:6] != b"\x93NUMPY" or width is None:
        raise FileFormatError(f"{what} does not begin like an array of format 1.0 or 2.0")
    length = member.read(width)
    said = int.from_bytes(length, "little")
    if said > _MAX_HEADER:
        raise FileFormatError(f"{what} has a header of {said} bytes, of at most {_MAX_HEADER}")
    text = io.BytesIO(length + member.read(said))
    parse = (
        np.lib.format.read_array_header_1_0 if width == 2 else np.lib.format.read_array_header_2_0
    )
    try:
        shape, by_columns, dtype = parse(text, max_header_size=_MAX_HEADER)
    except Exception as error:  # literal_eval and dtype fail in many ways on a damaged header
        raise FileFormatError(f"{what} has a damaged header: {type(error).__name__}") from error
    return shape, by_columns, dtype, len(start) + width + said


def _refuse_dtype(dtype: np.dtype[Any], what: str) -> None:
    if dtype.hasobject:
        raise FileFormatError(
            f"{what} holds Python objects, which are not read because unpickling can run code"
        )
    if dtype.kind not in "biufcmMUS" or dtype.itemsize == 0:
        raise FileFormatError(f"{what} must hold plain numbers or text, got dtype {dtype}")


def _bytes(member: Any, size: int, what: str) -> npt.NDArray[np.uint8]:
    """Read exactly so many bytes; memory is touched only as bytes arrive."""
    raw = np.empty(size, dtype=np.uint8)
    filled = 0
    while chunk := member.read(_CHUNK):  # reading to the end checks the sum of the member, too
        raw[filled : filled + len(chunk)] = np.frombuffer(chunk, dtype=np.uint8)
        filled += len(chunk)
    if filled != size:
        raise FileFormatError(f"{what} ends after {filled} of {size} bytes")
    raw.flags.writeable = False  # so that the domain need not copy it
    return raw


def _decoded(codes: npt.NDArray[Any], classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the labels of class indices, None for -1."""
    if codes.dtype.kind not in "iu" or codes.ndim != 1 or classes.ndim != 1:
        raise FileFormatError(
            "array 'y' must be a row of class indices and 'classes' one of names, "
            f"got {codes.dtype} of shape {codes.shape} and {classes.dtype} of shape {classes.shape}"
        )
    wrong = (codes < -1) | (codes >= len(classes))
    if wrong.any():
        raise FileFormatError(
            f"array 'y' must hold positions in {len(classes)} classes or -1, "
            f"got {codes[wrong][0]} at row {int(wrong.argmax())}"
        )
    if (codes < 0).any():
        known = classes.tolist()
        return gather([None if code < 0 else known[code] for code in codes.tolist()])
    labels: npt.NDArray[Any] = classes[codes]
    return labels
