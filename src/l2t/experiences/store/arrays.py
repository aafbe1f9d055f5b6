"""Arrays as compressed npy bytes, known by their sha256; nothing is pickled."""

from __future__ import annotations

import hashlib
import io
import zlib
from typing import Any

import numpy as np

from l2t.exceptions import InvalidInputError, StoreCorruptError
from l2t.typing import AnyArray

__all__ = ["LARGEST", "decode", "keep"]

LARGEST = 2**30 - 2**20  #: bytes; neither SQLite nor PostgreSQL holds a larger value
_LEVEL = 1  # features are mostly noise: higher levels take several times as long for little


def keep(array: Any, what: str, kept: dict[str, dict[str, Any]]) -> str | None:
    """Add the row of an array of numbers to `kept`, and return its hash; None stays None."""
    if array is None:
        return None
    plain = np.asarray(array)
    if plain.dtype.kind not in "biuf" or plain.dtype.itemsize > 8:
        raise InvalidInputError(f"{what} must be an array of numbers, got dtype {plain.dtype}")
    if plain.nbytes > LARGEST:
        raise InvalidInputError(f"{what} must have at most {LARGEST} bytes, got {plain.nbytes}")
    file = io.BytesIO()
    # In one byte order and memory layout, so that equal arrays have equal hashes.
    np.save(file, np.asarray(plain, plain.dtype.newbyteorder("<"), order="C"), allow_pickle=False)
    hash = hashlib.sha256(file.getbuffer()).hexdigest()
    if hash not in kept:
        kept[hash] = {"hash": hash, "data": zlib.compress(file.getbuffer(), _LEVEL)}
    return hash


def decode(row: Any) -> AnyArray:
    """Return the array of a row, read-only; a StoreCorruptError where it has not the row's hash."""
    try:
        content = zlib.decompressobj().decompress(row.data, LARGEST + 2**20)
        if hashlib.sha256(content).hexdigest() != row.hash:
            raise ValueError("its content has another hash")
        array: AnyArray = np.load(io.BytesIO(content), allow_pickle=False)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
    except (ValueError, TypeError, EOFError, zlib.error, MemoryError) as error:
        raise StoreCorruptError(f"array {row.hash!s:.12} is damaged: {error}") from None
    array.flags.writeable = False
    return array
