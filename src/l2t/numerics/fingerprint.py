"""The sha256 of the content of an array, the same on every machine."""

from __future__ import annotations

import hashlib

import numpy as np

from l2t.typing import AnyArray


def fingerprint(array: AnyArray) -> str:
    """Return the sha256 of dtype, shape and bytes as hexadecimal digits.

    It does not depend on byte order and memory layout: the bytes are hashed little-endian in C order.

    >>> fingerprint(np.arange(3.0))[:16]
    '8ba00ca203f7a189'
    >>> fingerprint(np.arange(3.0)) == fingerprint(np.arange(3.0).astype(">f8"))
    True
    >>> fingerprint(np.arange(3.0)) == fingerprint(np.arange(3))
    False
    """
    if array.dtype.hasobject:
        raise TypeError(f"array must not hold Python objects, got dtype {array.dtype}")
    portable = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    digest = hashlib.sha256(f"{portable.dtype.str}|{array.shape}|".encode())
    digest.update(portable.data if portable.size else b"")
    return digest.hexdigest()
