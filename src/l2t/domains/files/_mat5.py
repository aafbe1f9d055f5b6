"""The MATLAB 5 container (-v6 and -v7): variables as nested, tagged elements.

An element is a tag (its type, the number of its bytes) and a body, padded to 8 bytes; a variable is
an element of type "matrix", deflated or not, whose body holds the flags, the dimensions, the name
and the data as elements again. Bodies are only ever cut out of the bytes that are there, and an
array is made when its dimensions agree with its body.

Why not ``scipy.io.loadmat``: on a damaged file it crashes the interpreter or never returns (each of
six runs of up to 300 files with one to four changed bytes ended so, scipy 1.17), which no
``except`` can turn into a sentence.
"""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from l2t.domains.files._parts import refuse_large
from l2t.exceptions import FileFormatError

__all__ = ["Variable", "read_value", "variables"]

_HEADER_BYTES = 128
_PEEK = 1024  # enough for flags, dimensions and name
_MATRIX, _COMPRESSED = 14, 15
_CELL, _CHAR, _SPARSE, _OPAQUE = 1, 4, 5, 17
_STORED = dict(enumerate(["i1", "u1", "i2", "u2", "i4", "u4", "f4"], start=1))
_STORED |= {9: "f8", 12: "i8", 13: "u8"}
_NUMERIC = dict(enumerate(["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"], start=6))
_CODECS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_LOGICAL, _COMPLEX = 1 << 9, 1 << 11


_Order = Literal["<", ">"]


@dataclass(frozen=True)
class Variable:
    """A variable by its header; its data stays packed until it is read."""

    name: str
    kind: int
    flags: int
    shape: tuple[int, ...]
    order: _Order
    packed: bool
    body: memoryview

    @property
    def is_matrix(self) -> bool:
        """Whether this is a table of real numbers."""
        number = self.kind in _NUMERIC or self.kind == _SPARSE
        return number and len(self.shape) == 2 and 0 not in self.shape


def variables(data: bytes) -> dict[str, Variable]:
    """Return the variables of a file by name."""
    mark = data[_HEADER_BYTES - 2 : _HEADER_BYTES]
    if not data.startswith(b"MATLAB 5.0") or mark not in (b"IM", b"MI"):
        raise FileFormatError("is not a MATLAB 5 file: save it with -v7")
    order: _Order = "<" if mark == b"IM" else ">"
    found: dict[str, Variable] = {}
    view, at = memoryview(data), _HEADER_BYTES
    while at < len(view):
        kind, size = _unpack(f"{order}II", view, at)
        body = view[at + 8 : at + 8 + size]
        if len(body) < size or kind not in (_MATRIX, _COMPRESSED):
            raise FileFormatError(f"is damaged or cut off at byte {at}")
        variable = _variable(body, kind == _COMPRESSED, order)
        if variable.name in found:
            raise FileFormatError(f"has more than one array {variable.name!r:.80}")
        if variable.name:  # without a name: where MATLAB keeps the workspaces of functions
            found[variable.name] = variable
        at += 8 + size
    return found


def read_value(variable: Variable) -> Any:
    """Return the data of a variable.

    Numbers are an array or a sparse matrix, rows of characters a list of str, cells a list of str,
    numbers and None (an empty cell).
    """
    what = f"array {variable.name!r:.80}"
    if variable.kind not in (*_NUMERIC, _SPARSE, _CHAR, _CELL):
        raise FileFormatError(
            f"{what} is a structure, function or object, where only numbers, characters and cells "
            "of them are read"
        )
    body = _inflated(variable, what) if variable.packed else variable.body
    elements = _Elements(body, variable.order, what)
    elements.header()
    return _value(variable.kind, variable.flags, variable.shape, elements)


class _Elements:
    """The elements in a body, one after the other."""

    def __init__(self, body: memoryview, order: _Order, what: str) -> None:
        self.body, self.order, self.what = body, order, what
        self.at = 0

    def next(self) -> tuple[int, memoryview]:
        """Return type and body of the next element."""
        kind, size = _unpack(f"{self.order}II", self.body, self.at)
        start, end = self.at + 8, self.at + 8 + size
        if kind >> 16:  # four bytes or fewer are kept in the tag itself
            kind, size, start = kind & 0xFFFF, kind >> 16, self.at + 4
            end = start + size
        body = self.body[start:end]
        if len(body) < size or (start % 8 and size > 4):
            raise FileFormatError(f"{self.what} is damaged or cut off")
        self.at = end + -end % 8
        return kind, body

    def numbers(self) -> npt.NDArray[Any]:
        """Return the next element as a flat array of the type in which it is stored."""
        kind, body = self.next()
        return self.unpacked(kind, body)

    def unpacked(self, kind: int, body: memoryview) -> npt.NDArray[Any]:
        """Return a body as a flat array."""
        if kind not in _STORED:
            raise FileFormatError(f"{self.what} is damaged: numbers of the unknown type {kind}")
        dtype = np.dtype(_STORED[kind]).newbyteorder(self.order)
        numbers = np.frombuffer(body[: len(body) - len(body) % dtype.itemsize], dtype=dtype)
        return numbers.astype(dtype.newbyteorder("="), copy=False)

    def header(self) -> tuple[int, int, tuple[int, ...], str]:
        """Return class, flags, dimensions and name."""
        flags, shape = self.numbers(), self.numbers()
        _, name = self.next()
        whole = flags.size > 0 and flags.dtype.kind == shape.dtype.kind.replace("i", "u") == "u"
        if not whole or not 2 <= shape.size <= 32 or shape.min() < 0:
            raise FileFormatError(f"{self.what} has a damaged header")
        bits = int(flags[0])
        return bits & 0xFF, bits, tuple(shape.tolist()), bytes(name).decode("latin-1")


def _variable(body: memoryview, packed: bool, order: _Order) -> Variable:
    what = "an array"
    start = body
    if packed:
        try:
            start = memoryview(zlib.decompressobj().decompress(body, _PEEK))[8:]
        except zlib.error as error:
            raise FileFormatError(f"{what} cannot be unpacked: {error}") from None
    elements = _Elements(start, order, what)
    flags = elements.numbers()
    if flags.size and int(flags[0]) & 0xFF == _OPAQUE:  # an object: no dimensions
        _, name = elements.next()
        return Variable(bytes(name).decode("latin-1"), _OPAQUE, 0, (), order, packed, body)
    elements.at = 0
    kind, bits, shape, title = elements.header()
    return Variable(title, kind, bits, shape, order, packed, body)


def _inflated(variable: Variable, what: str) -> memoryview:
    """Unpack the one matrix in a deflated element, and no more than it says it has."""
    stream = zlib.decompressobj()
    try:
        tag = stream.decompress(variable.body, 8)
        kind, size = _unpack(f"{variable.order}II", memoryview(tag), 0)
        if kind != _MATRIX:
            raise FileFormatError(f"{what} is damaged: packed content of the unknown type {kind}")
        refuse_large(size)
        body = stream.decompress(stream.unconsumed_tail, size + 1)
    except zlib.error as error:
        raise FileFormatError(f"{what} cannot be unpacked: {error}") from None
    if len(body) != size or not stream.eof:
        raise FileFormatError(f"{what} is damaged or cut off")
    return memoryview(body)


def _value(kind: int, flags: int, shape: tuple[int, ...], elements: _Elements) -> Any:
    if kind in _NUMERIC:
        return _dense(kind, flags, shape, elements)
    if kind == _SPARSE:
        return _sparse(flags, shape, elements)
    if kind == _CHAR:
        return _rows_of_text(shape, elements)
    return [_cell(elements) for _ in range(_fitting(shape, elements))]


def _dense(kind: int, flags: int, shape: tuple[int, ...], elements: _Elements) -> npt.NDArray[Any]:
    _refuse_complex(flags, elements)
    numbers = elements.numbers()
    if numbers.size != math.prod(shape):
        raise FileFormatError(
            f"{elements.what} says its shape is {shape}, but holds {numbers.size} numbers"
        )
    refuse_large(numbers.size * 8)  # doubles may be stored in one byte each
    with np.errstate(all="ignore"):  # what does not fit becomes infinite, which a domain refuses
        typed = numbers.astype(np.bool_ if flags & _LOGICAL else _NUMERIC[kind])
    return typed.reshape(shape, order="F")


def _sparse(flags: int, shape: tuple[int, ...], elements: _Elements) -> Any:
    _refuse_complex(flags, elements)
    rows, starts = elements.numbers(), elements.numbers()
    kind, body = elements.next()
    height, width = shape[0], shape[-1]
    used = int(starts[-1]) if starts.size else 0
    # MATLAB keeps sparse truths in bytes that it calls doubles.
    in_bytes = flags & _LOGICAL and len(body) == used
    values = elements.unpacked(2 if in_bytes else kind, body)
    # scipy would write what lies outside of the matrix to memory outside of it. (Its check_format
    # is no help: it looks at nothing where the last start is zero.)
    whole = (
        {rows.dtype.kind, starts.dtype.kind} == {"i"}
        and starts.size == width + 1
        and starts[0] == 0
        and bool((starts[1:] >= starts[:-1]).all())
        and used <= min(rows.size, values.size)
        and bool(((rows[:used] >= 0) & (rows[:used] < height)).all())
    )
    if not whole:
        raise FileFormatError(f"{elements.what} is not a whole sparse matrix")
    return sparse.csc_array((values[:used], rows[:used], starts), shape=(height, width))


def _rows_of_text(shape: tuple[int, ...], elements: _Elements) -> list[str]:
    kind, body = elements.next()
    codec = _CODECS.get(kind)
    if codec is None:
        raise FileFormatError(f"{elements.what} is damaged: characters of the unknown type {kind}")
    if codec in ("utf-16", "utf-32"):
        codec += "-le" if elements.order == "<" else "-be"
    try:
        text = bytes(body).decode(codec)
    except UnicodeDecodeError:
        raise FileFormatError(f"{elements.what} holds text that is not {codec}") from None
    if shape[0] == 1:  # a character beyond the 16 bits of MATLAB's may count once or twice
        return [text]
    if len(text) != math.prod(shape):
        raise FileFormatError(
            f"{elements.what} says its shape is {shape}, but holds {len(text)} characters"
        )
    return [text[row :: shape[0]] for row in range(shape[0] if text else 0)]


def _cell(elements: _Elements) -> Any:
    """Return what is in one cell: a str, a number, or None if it is empty."""
    kind, body = elements.next()
    if kind != _MATRIX:
        raise FileFormatError(f"{elements.what} is damaged or cut off")
    if not body:
        return None
    inner = _Elements(body, elements.order, elements.what)
    kind, flags, shape, _ = inner.header()
    if kind != _CHAR and kind not in _NUMERIC:
        raise FileFormatError(f"{elements.what} must hold one text or number a cell")
    value = _value(kind, flags, shape, inner)
    items = value if isinstance(value, list) else value.ravel().tolist()
    if len(items) > 1:
        raise FileFormatError(
            f"{elements.what} must hold one text or number a cell, got shape {shape}"
        )
    return items[0] if items else None


def _fitting(shape: tuple[int, ...], elements: _Elements) -> int:
    """Return how many cells there are, which take eight bytes each or more."""
    count = math.prod(shape)
    if count > len(elements.body) // 8:
        raise FileFormatError(f"{elements.what} says its shape is {shape}, but is too short for it")
    return count


def _refuse_complex(flags: int, elements: _Elements) -> None:
    if flags & _COMPLEX:
        raise FileFormatError(f"{elements.what} holds complex numbers")


def _unpack(layout: str, data: memoryview, at: int) -> tuple[int, int]:
    try:
        first, second = struct.unpack_from(layout, data, at)
    except struct.error:
        raise FileFormatError("is damaged or cut off") from None
    return first, second
