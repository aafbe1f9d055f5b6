"""Arrays come back bit by bit, and bytes that are not theirs are refused."""

from __future__ import annotations

import zlib
from types import SimpleNamespace

import numpy as np
import pytest

from l2t.exceptions import StoreCorruptError
from l2t.experiences.store.arrays import decode, encode
from l2t.numerics import fingerprint


def row_of(array):
    return SimpleNamespace(**encode(fingerprint(array), array))


def older(array):
    """The row of an array as version 0.1.0 wrote it."""
    places = array.reshape(-1).view(np.uint8).reshape(array.size, array.itemsize).T
    told = {"codec": "shuffle-zlib", "data": zlib.compress(places.tobytes())}
    return SimpleNamespace(**vars(row_of(array)) | told)


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


def test_zeros_take_almost_no_space_and_noise_none_that_it_did_not_take():
    rng = np.random.default_rng(0)
    noise = rng.integers(1, 2**32, size=10_000, dtype=np.uint32)
    assert row_of(noise).codec == "raw"
    assert len(row_of(noise).data) == noise.nbytes
    half = np.where(rng.random(noise.size) < 0.5, noise, 0)
    assert len(row_of(half).data) < 0.55 * half.nbytes
    np.testing.assert_array_equal(decode(row_of(half)), half)
    assert len(row_of(np.zeros(10_000)).data) < 100


def test_arrays_of_older_stores_are_read():
    array = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    np.testing.assert_array_equal(decode(older(array)), array)


@pytest.mark.parametrize("write", [row_of, older], ids=["new", "older"])
@pytest.mark.parametrize("shape", ["[1]", "[999, 1000]", "[1000, 1001]", "[1000000, 1000000000]"])
def test_bytes_that_would_unpack_to_another_shape_are_not_unpacked(write, shape):
    row = write(np.zeros((1000, 1000)))
    row.shape = shape
    with pytest.raises(
        StoreCorruptError, match=r"it has \d+ bytes or more where its shape says \d+"
    ):
        decode(row)


def test_marks_of_numbers_that_are_missing_are_told():
    row = row_of(np.arange(80.0))
    marks = np.packbits(np.ones(80, dtype=np.uint8)).tobytes()
    row.data = zlib.compress(marks + b"12345678", wbits=-15)
    with pytest.raises(StoreCorruptError, match="it has 8 bytes or more where its shape says 640"):
        decode(row)


def test_a_shape_beyond_all_memory_is_told():
    row = row_of(np.arange(80.0))
    row.shape = "[1000000000000000000000000]"
    with pytest.raises(StoreCorruptError, match="cannot be read"):
        decode(row)
