"""Exports that are damaged or hostile are refused whole."""

from __future__ import annotations

import io
import json
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

from l2t.exceptions import FileFormatError, StoreError
from l2t.experiences.store import open_store
from l2t.testing.stores import random_run

RUNS = [random_run(number, status="failed" if number == 2 else "done") for number in range(4)]

OTHER = random_run(20, n_domains=21)  # on domains of its own


@pytest.fixture
def archive(tmp_path):
    with open_store("memory://") as store:
        for run in RUNS:
            store.add(run)
        return store.export(tmp_path / "export.zip")


def rewritten(path: Path, change) -> Path:
    """Write the archive anew with other members."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in members.items():
            new.writestr(name, content)
    return path


def refused(path: Path) -> str:
    with open_store("memory://") as store:
        store.add(OTHER)
        with pytest.raises(FileFormatError) as caught:
            store.merge(path)
        assert store.keys() == {OTHER.key}
        assert store.check() == []
    said = str(caught.value)
    assert said.startswith(f"{path}: ")
    assert "\n" not in said
    return said


def lines(members: dict[str, bytes], name: str, change) -> None:
    rows = [json.loads(line) for line in members[name].splitlines()]
    change(rows)
    members[name] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def npy(array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def arrays(members):
    return [name for name in members if name.startswith("arrays/")]


CHANGES = {
    "a stranger": lambda m: m.update({"../evil.py": b""}),
    "a pickle": lambda m: m.update({arrays(m)[0]: npy(np.array([{}], dtype=object))}),
    "another array": lambda m: m.update({arrays(m)[0]: npy(np.zeros(3))}),
    "no array": lambda m: m.pop(arrays(m)[-1]),
    "no runs": lambda m: m.pop("runs.jsonl"),
    "no manifest": lambda m: m.pop("manifest.json"),
    "a future version": lambda m: m.update(
        {"manifest.json": b'{"format": "l2t experiences", "version": 2}'}
    ),
    "no JSON": lambda m: m.update({"runs.jsonl": b"{"}),
    "a list": lambda m: m.update({"runs.jsonl": b"[]\n"}),
    "deep JSON": lambda m: m.update({"runs.jsonl": b"[" * 100_000}),
    "other params": lambda m: lines(m, "runs.jsonl", lambda r: r[-1].update(params="{}")),
    "another key": lambda m: lines(m, "runs.jsonl", lambda r: r[0].update(key="0" * 64)),
    "a column more": lambda m: lines(m, "runs.jsonl", lambda r: r[0].update(evil=1)),
    "a number": lambda m: lines(m, "runs.jsonl", lambda r: r[0].update(reason=1)),
    "a large number": lambda m: lines(m, "runs.jsonl", lambda r: r[0].update(created_at=2**80)),
    "an odd status": lambda m: lines(m, "runs.jsonl", lambda r: r[0].update(status="odd")),
    "no domains": lambda m: m.update({"domains.jsonl": b""}),
    "other labels": lambda m: lines(
        m, "domains.jsonl", lambda r: [d.update(y_values='[["int","7"]]') for d in r]
    ),
    "other rows": lambda m: lines(m, "domains.jsonl", lambda r: [d.update(n_rows=13) for d in r]),
    "scores of no kind": lambda m: lines(m, "runs.jsonl", lambda r: r[0].update(scores=[3])),
    "scores of NaN": lambda m: lines(
        m,
        "runs.jsonl",
        lambda r: [s.update(accuracy_after=float("nan")) for d in r for s in d["scores"]],
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_does_not_prove_itself_is_refused(archive, what):
    refused(rewritten(archive, CHANGES[what]))


def test_a_member_that_claims_too_much(archive):
    raw = bytearray(archive.read_bytes())
    with zipfile.ZipFile(archive) as file:
        size = file.getinfo("runs.jsonl").file_size
    at = raw.rindex(size.to_bytes(4, "little"))
    raw[at : at + 4] = (2**31).to_bytes(4, "little")
    archive.write_bytes(raw)
    refused(archive)


def test_damaged_archives_are_merged_whole_or_not_at_all(archive):
    content = archive.read_bytes()
    chance = random.Random(0)
    refusals = []
    for _ in range(100):
        changed = bytearray(content)
        if chance.random() < 0.3:
            del changed[chance.randrange(len(changed)) :]
        else:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        archive.write_bytes(changed)
        with open_store("memory://") as store:
            try:
                assert store.merge(archive) == len(RUNS)
            except FileFormatError as error:
                refusals.append(str(error))
                assert store.keys() == set()
            assert store.check() == []
    assert len(refusals) > 50
    assert not any("\n" in said for said in refusals)


def test_other_files(tmp_path):
    text = tmp_path / "a.zip"
    text.write_text("no zip")
    assert "not a whole zip archive" in refused(text)
    assert "No such file" in refused(tmp_path / "nothing.zip")
    assert "s a directory" in refused(tmp_path)


def test_an_export_that_cannot_be_written(tmp_path):
    with open_store("memory://") as store:
        for path in (tmp_path, tmp_path / "no" / "a.zip"):
            with pytest.raises(StoreError, match=r"not a regular file|directory does not exist"):
                store.export(path)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_store_travels_too(tmp_path):
    with open_store("memory://") as store:
        path = store.export(tmp_path / "a.zip")
        assert store.merge(path) == 0


def test_arrays_can_be_read_by_numpy_alone(archive):
    with np.load(archive) as file:
        names = [name for name in file.files if name.startswith("arrays/")]
        assert any(np.array_equal(file[name], RUNS[0].W) for name in names)
