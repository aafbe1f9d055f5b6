"""Damaged files give a domain or one sentence, and a write that fails changes nothing."""

from __future__ import annotations

import gzip
import io
import os
import random
import stat
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow
import pyarrow.parquet
import pytest
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from l2t.domains import Domain, read_domain, write_domain
from l2t.domains.files import _writing
from l2t.exceptions import FileFormatError, L2TError

WRITTEN = ["npz", "csv", "parquet"]
FORMATS = [*WRITTEN, "mat", "svmlight"]
MUTANTS = 400
MATLAB_MUTANTS = 12  # each is read in a process of its own
RNG = np.random.default_rng(0)
FULL = Domain(
    RNG.normal(size=(5, 3)),
    list("abcab"),
    labeled=[True, False] * 2 + [True],
    groups=[1, 2, 3, 3, 1],
)
BARE = Domain(RNG.normal(size=(5, 3)).round(1), [1, 2, 3, 1, 2])


def valid(path: Path, kind: str) -> tuple[bytes, str, dict[str, str]]:
    """Return the bytes of a good file, its format and how to read it."""
    if kind == "npz, stored":
        with path.open("wb") as file:
            np.savez(file, X=FULL.X, y=FULL.codes, classes=np.array(FULL.classes))
        return path.read_bytes(), "npz", {}
    if kind in ("mat", "mat, sparse"):
        X = FULL.X if kind == "mat" else sparse.csc_array(FULL.X)
        savemat(path, {"X": X, "y": FULL.y}, appendmat=False, do_compression=kind == "mat")
        return path.read_bytes(), "mat", {}
    if kind == "svmlight":
        dump_svmlight_file(BARE.X, BARE.y, str(path), zero_based=False)
        return path.read_bytes(), kind, {}
    named = {"labeled": "labeled", "groups": "groups"} if kind in ("csv", "parquet") else {}
    return write_domain(FULL, path, format=kind).read_bytes(), kind, named


def mutate(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    way = chance.random()
    if way < 0.7:
        for _ in range(chance.randint(1, 4)):
            changed[chance.randrange(len(changed))] = chance.choice([0, 255, chance.randrange(256)])
        return bytes(changed)
    at = chance.randrange(len(changed))
    if way < 0.85:
        return bytes(changed[:at])
    changed[at : at + chance.randrange(20)] = chance.randbytes(chance.randrange(20))
    return bytes(changed)


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore::l2t.exceptions.L2TWarning")  # damaged columns are left out
@pytest.mark.parametrize("kind", [*FORMATS, "npz, stored", "mat, sparse"])
@pytest.mark.parametrize("explicit", [True, False])
def test_a_damaged_file_gives_a_domain_or_one_sentence(
    tmp_path: Path, kind: str, explicit: bool, proves: Any
) -> None:
    path = tmp_path / "file"
    content, format, named = valid(path, kind)
    chance = random.Random(f"{kind} {explicit}")
    refusals = []
    mutants = MATLAB_MUTANTS if format == "mat" else MUTANTS
    for _ in range(mutants):
        path.write_bytes(mutate(content, chance))
        try:
            read_domain(path, format=format if explicit else None, **named if explicit else {})
        except L2TError as error:
            refusals.append(str(error))
    assert len(refusals) > mutants // 4
    assert all(sentence.startswith(f"{path}: ") for sentence in refusals)
    assert not any("\n" in sentence for sentence in refusals)
    proves(
        f"A damaged file is read, or rejected with an error of one sentence: {kind}",
        mutants,
        "files",
    )


@pytest.mark.integration
def test_a_bit_that_flips_in_parquet_is_noticed(tmp_path: Path, proves: Any) -> None:
    """Or it changes nothing that is read: metadata that nobody asks for have no checksum."""
    path, chance = tmp_path / "file.parquet", random.Random(0)
    written = Domain(RNG.normal(size=(60, 8)), list("abc") * 20)
    content = write_domain(written, path).read_bytes()
    noticed, flips = 0, 500
    for _ in range(flips):
        changed = bytearray(content)
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        try:
            assert read_domain(path) == written
        except FileFormatError:
            noticed += 1
    assert noticed > flips // 2
    proves("A flipped bit in a parquet file that L2T wrote is noticed, or harmless", flips, "flips")


def test_a_parquet_file_that_hides_rows_is_refused(tmp_path: Path) -> None:
    """Its number of rows is written twice, where no checksum covers it."""
    path = write_domain(FULL, tmp_path / "file.parquet")
    content = path.read_bytes()
    places = [at for at, byte in enumerate(content) if byte == 2 * len(FULL.X)]  # as thrift has it
    refused = 0
    for at in places:
        path.write_bytes(content[:at] + bytes([2]) + content[at + 1 :])
        try:
            assert len(read_domain(path, labeled="labeled", groups="groups").X) == len(FULL.X)
        except FileFormatError:
            refused += 1
    assert refused > 2


def sheet_of_a_diagonal(size: int) -> bytes:
    """A workbook whose table has the square of its number of cells."""
    book = openpyxl.Workbook()
    for i in range(1, size + 1):
        book.active.cell(i, i, 1)
    book.save(buffer := io.BytesIO())
    return buffer.getvalue()


def sheet_of_one_text(rows: int) -> bytes:
    """A workbook of one long text, to which many cells refer."""
    book = openpyxl.Workbook()
    for _ in range(rows):
        book.active.append(["x" * 30_000])
    book.save(buffer := io.BytesIO())
    return buffer.getvalue()


def text_as_parquet(rows: int, *, nested: bool = False, **written: Any) -> bytes:
    """One long text to which many rows, or values of one row, refer; or many with its beginning."""
    text, table = "x" * 100_000, {"x": np.arange(rows)}
    if written:
        table["label"] = pyarrow.array([text + str(i) for i in range(rows)])
    else:
        codes = pyarrow.array(np.zeros(rows, dtype=np.int32))
        table["label"] = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array([text]))
    if nested:
        ends = pyarrow.array([0, rows], type=pyarrow.int32())
        table = {"x": [1.0], "label": pyarrow.ListArray.from_arrays(ends, table["label"])}
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(table), buffer, store_schema=False, **written)
    return buffer.getvalue()


def zeros_as_parquet(rows: int) -> bytes:
    """A run of one value, which takes a few bytes."""
    column = pyarrow.array(np.zeros(rows))
    pyarrow.parquet.write_table(pyarrow.table({"x": column}), buffer := io.BytesIO())
    return buffer.getvalue()


def list_as_parquet(values: int) -> bytes:
    """One row with a list of one value, again and again."""
    zeros = pyarrow.array([np.zeros(values)])
    pyarrow.parquet.write_table(pyarrow.table({"x": [1.0], "list": zeros}), buffer := io.BytesIO())
    return buffer.getvalue()


def zeros_as_arrays(kind: str) -> bytes:
    buffer, X = io.BytesIO(), np.zeros((1000, 2000))
    if kind == "mat":
        savemat(buffer, {"X": X, "y": np.zeros(1000)}, do_compression=True)
    else:
        np.savez_compressed(buffer, X=X)
    return buffer.getvalue()


BOMBS = {
    "npz": lambda: zeros_as_arrays("npz"),
    "mat": lambda: zeros_as_arrays("mat"),
    "csv.gz": lambda: gzip.compress(b"a,b\n" + b"1,2\n" * 2_000_000),
    "svm.gz": lambda: gzip.compress(b"1 1:1\n" * 2_000_000),
    "svm": lambda: b"1 450000000:1\n",
    "parquet": lambda: zeros_as_parquet(1_000_000),
    "text.parquet": lambda: text_as_parquet(1000),
    "zeros.parquet": lambda: list_as_parquet(1_000_000),
    "list.parquet": lambda: text_as_parquet(1000, nested=True),
    "delta.parquet": lambda: text_as_parquet(
        100, use_dictionary=False, column_encoding={"label": "DELTA_BYTE_ARRAY"}
    ),
    "xlsx": lambda: sheet_of_a_diagonal(500),
    "text.xlsx": lambda: sheet_of_one_text(100),
}


@pytest.mark.parametrize("ending", BOMBS)
def test_a_small_file_that_means_much_is_refused(
    tmp_path: Path, ending: str, proves: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("validation", "domains.files.formats", "domains.files.arrays"):
        monkeypatch.setattr(f"l2t.{module}.free_memory", lambda: 10 * 2**20)
    path = tmp_path / f"bomb.{ending}"
    path.write_bytes(BOMBS[ending]())
    assert path.stat().st_size < 200_000
    rule = r"free memory|of what is free|can hold"
    with pytest.raises(FileFormatError, match=rf"bomb.*: .*(?:{rule})"):
        read_domain(path)
    proves(f"A small file whose declared size exceeds the memory is rejected: {ending}", 1, "files")


@pytest.mark.parametrize("format", FORMATS)
def test_bytes_of_no_format(tmp_path: Path, format: str) -> None:
    path = tmp_path / "file"
    chance = random.Random(format)
    for size in (1, 3, 10, 200, 3000):
        path.write_bytes(b"\xff" + chance.randbytes(size))
        with pytest.raises(FileFormatError, match=r"file: "):
            read_domain(path, format=format)
        with pytest.raises(FileFormatError, match=r"file: "):
            read_domain(path)


def fail(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("format", WRITTEN)
def test_a_failed_write_leaves_the_old_file_and_no_other(
    tmp_path: Path, format: str, proves: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_domain(BARE, tmp_path / "file", format=format)
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileFormatError, match=r"file: cannot be written: No space left on device$"):
        write_domain(BARE, path, format=format)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    proves(f"A write that fails leaves the old file: {format}", 1, "files")


def test_an_interrupted_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_writing, "_plain", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_domain(BARE, tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("posix")
def test_nobody_else_reads_a_private_file_while_it_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_domain(BARE, tmp_path / "private.csv")
    path.chmod(0o600)
    modes = []

    def spy(*_: Any) -> None:
        modes.extend(stat.S_IMODE(each.stat().st_mode) for each in tmp_path.glob(".l2t-*"))

    monkeypatch.setattr("l2t.domains.files.write", spy)
    write_domain(BARE, path)
    assert modes == [0o600]


@pytest.mark.usefixtures("posix")
def test_the_new_file_has_the_rights_of_the_old_one(tmp_path: Path, proves: Any) -> None:
    path = write_domain(BARE, tmp_path / "a.csv")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o600)
    write_domain(BARE, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    proves("A file that is replaced keeps its permissions", 1, "files")


@pytest.mark.usefixtures("posix")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "there" / "a.csv")
    write_domain(BARE, link)
    assert link.is_symlink()
    assert read_domain(tmp_path / "there" / "a.csv") == BARE


@pytest.mark.usefixtures("posix")
def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"its directory does not exist$"):
        write_domain(BARE, tmp_path / "nowhere" / "a.csv")
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(FileFormatError, match=r"a.csv: is not a regular file$"):
        write_domain(BARE, tmp_path / "a.csv")
    with pytest.raises(FileFormatError, match=r"is not a regular file$"):
        write_domain(BARE, "/dev/null", format="csv")
    with pytest.raises(FileFormatError, match="cannot be written: File name too long"):
        write_domain(BARE, tmp_path / ("a" * 300 + ".csv"))
