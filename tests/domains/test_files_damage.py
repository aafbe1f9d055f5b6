"""Damaged files give a domain or one sentence, and a write that fails changes nothing."""

from __future__ import annotations

import os
import random
import stat
from pathlib import Path
from typing import Any

import numpy as np
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*FORMATS, "npz, stored", "mat, sparse"])
@pytest.mark.parametrize("told", [True, False])
def test_a_damaged_file_gives_a_domain_or_one_sentence(
    tmp_path: Path, kind: str, told: bool
) -> None:
    path = tmp_path / "file"
    content, format, named = valid(path, kind)
    chance = random.Random(f"{kind} {told}")
    refusals = []
    mutants = MATLAB_MUTANTS if format == "mat" else MUTANTS
    for _ in range(mutants):
        path.write_bytes(mutate(content, chance))
        try:
            read_domain(path, format=format if told else None, **named if told else {})
        except L2TError as error:
            refusals.append(str(error))
    assert len(refusals) > mutants // 4
    assert all(sentence.startswith(f"{path}: ") for sentence in refusals)
    assert not any("\n" in sentence for sentence in refusals)


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
    tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_domain(BARE, tmp_path / "file", format=format)
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileFormatError, match=r"file: cannot be written: No space left on device$"):
        write_domain(BARE, path, format=format)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_writing, "_plain", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_domain(BARE, tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_the_new_file_has_the_rights_of_the_old_one(tmp_path: Path) -> None:
    path = write_domain(BARE, tmp_path / "a.csv")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o600)
    write_domain(BARE, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "there" / "a.csv")
    write_domain(BARE, link)
    assert link.is_symlink()
    assert read_domain(tmp_path / "there" / "a.csv") == BARE


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
