"""Arrays come back bit by bit, and bytes that are not theirs are rejected."""

from __future__ import annotations

import hashlib
import io
import zlib
from types import SimpleNamespace

import numpy as np
import pytest

from l2t.exceptions import InvalidInputError, StoreCorruptError
from l2t.experiences.store import rows
from l2t.experiences.store.rows import add_array, decode


def row_of(array):
    kept = {}
    return SimpleNamespace(**kept[add_array(array, "W", kept)])


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "f2", "f4", "f8", ">f8"])
@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (50, 3), (2, 3, 4), (90, 100)])
def test_arrays_come_back(dtype, shape):
    array = np.asarray(np.random.default_rng(0).normal(size=shape) * 9).astype(dtype)
    found = decode(row_of(array))
    assert (found.shape, found.dtype) == (shape, array.dtype.newbyteorder("="))
    np.testing.assert_array_equal(found, array)
    assert not found.flags.writeable


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_every_bit_comes_back(dtype):
    array = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 5e-324, 1.0] * 3, dtype=dtype)
    assert decode(row_of(array)).tobytes() == array.tobytes()


def test_byte_order_and_memory_layout_do_not_change_the_hash():
    array = np.arange(12.0).reshape(3, 4)
    others = (array.astype(">f8"), np.asfortranarray(array), np.repeat(array, 2, axis=1)[:, ::2])
    assert {row_of(each).hash for each in (array, *others)} == {row_of(array).hash}
    for other in (array.T, array.ravel(), array.astype("f4"), array + 1):
        assert row_of(other).hash != row_of(array).hash


def test_the_bytes_are_those_of_a_npy_file():
    array = np.arange(12.0).reshape(3, 4)
    content = zlib.decompress(row_of(array).data)
    np.testing.assert_array_equal(np.load(io.BytesIO(content)), array)
    assert hashlib.sha256(content).hexdigest() == row_of(array).hash
    assert len(row_of(np.zeros(100_000)).data) < 10_000


def test_the_same_array_is_kept_once():
    kept = {}
    hashes = {add_array(np.arange(3), "W", kept), add_array(np.arange(3), "y", kept)}
    assert hashes == kept.keys()


def packed(content):
    hash = hashlib.sha256(content).hexdigest()
    return SimpleNamespace(hash=hash, data=zlib.compress(content))


def pickled():
    file = io.BytesIO()
    np.save(file, np.array([{}], dtype=object), allow_pickle=True)
    return file.getvalue()


def npy(shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    text = header.ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(8)


@pytest.mark.parametrize(
    "row",
    [
        packed(b""),
        packed(b"no array"),
        packed(pickled()),
        packed(npy("(1000000000000,)")),
        packed(npy("(99,)")),
        SimpleNamespace(hash="0" * 64, data=b"no deflate stream"),
        SimpleNamespace(hash="0" * 64, data=row_of(np.arange(3)).data),
        SimpleNamespace(hash=row_of(np.arange(99)).hash, data=row_of(np.arange(99)).data[:-9]),
        SimpleNamespace(hash=None, data=None),
    ],
)
def test_what_is_not_the_array_of_its_hash_is_damaged(row):
    with pytest.raises(StoreCorruptError, match="is damaged: "):
        decode(row)


def test_arrays_too_large_for_a_database_are_neither_kept_nor_unpacked(monkeypatch):
    large = row_of(np.zeros(300_000))
    monkeypatch.setattr(rows, "MAX_BYTES", 1000)
    with pytest.raises(InvalidInputError, match="W must have at most 1000 bytes, got 2400000"):
        row_of(np.zeros(300_000))
    with pytest.raises(StoreCorruptError, match="does not match its hash"):
        decode(large)
