"""The content of an array as one sha256, the same on every machine."""

from __future__ import annotations

import hashlib

import numpy as np

from l2t.typing import AnyArray


def fingerprint(array: AnyArray) -> str:
    """Return the sha256 of dtype, shape and bytes as hexadecimal digits.

    Byte order and memory layout do not count: the bytes are taken little-endian in C order.

    >>> fingerprint(np.arange(3.0))[:16]
    '8ba00ca203f7a189'
    >>> fingerprint(np.arange(3.0)) == fingerprint(np.arange(3.0).astype(">f8"))
    True
    >>> fingerprint(np.arange(3.0)) == fingerprint(np.arange(3))
    False
    """
    if array.dtype.hasobject:
        raise TypeError(f"only plain arrays have bytes of their own, got dtype {array.dtype}")
    portable = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    digest = hashlib.sha256(f"{portable.dtype.str}|{array.shape}|".encode())
    digest.update(portable.data if portable.size else b"")
    return digest.hexdigest()
