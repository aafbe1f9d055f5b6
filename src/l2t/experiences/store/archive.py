"""A store as one portable file: a zip of JSON lines, and of arrays as npy by their hashes.

``manifest.json`` says what the file is; ``runs.jsonl`` has a run with its scores a line, ``domains.jsonl``
a domain a line, ``functions.jsonl`` the versions of the agent's function, where there are any, and
``arrays/<hash>.npy`` the arrays. Everything that is read proves itself by its hash. An archive that claims
more than its bytes can hold is refused before it is unpacked.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
from sqlalchemy import BigInteger, Connection, Table, delete, insert, select

from l2t.domains.files._disk import replacing
from l2t.exceptions import FileFormatError, L2TError, StoreError
from l2t.experiences.store.arrays import decode, encode
from l2t.experiences.store.contents import ARRAYS_OF_RUNS, batches, present, put
from l2t.experiences.store.database import Database
from l2t.experiences.store.functions import Use, last_number, version_of
from l2t.experiences.store.packing import Packed
from l2t.experiences.store.records import domain_of, verify_run
from l2t.experiences.store.schema import arrays, domains, functions, runs, scores
from l2t.numerics import fingerprint
from l2t.typing import AnyArray

__all__ = ["export", "merge"]


_MANIFEST = {"format": "l2t experiences", "version": 1}
_NAMES = re.compile(
    r"manifest\.json|runs\.jsonl|domains\.jsonl|functions\.jsonl|arrays/[0-9a-f]{64}\.npy"
)
_DEFLATE_RATIO = 1032  # no deflated byte unpacks to more
_LONGEST_LINE = 2**28
_BATCH = 500


def export(database: Database, path: Path) -> Path:
    """Write everything, as it is at one moment."""
    try:
        with (
            database.reading() as connection,
            replacing(path) as handle,
            zipfile.ZipFile(handle, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        ):
            _write(archive, "manifest.json", [_MANIFEST])
            _write(archive, "domains.jsonl", _domain_lines(connection))
            _write(archive, "runs.jsonl", _run_lines(connection))
            if last_number(connection):
                _write(archive, "functions.jsonl", _function_lines(connection))
            for hash in (
                connection.execute(select(arrays.c.hash).order_by(arrays.c.hash)).scalars().all()
            ):
                row = connection.execute(select(arrays).where(arrays.c.hash == hash)).one()
                with archive.open(_member(f"arrays/{hash}.npy"), "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, decode(row), allow_pickle=False)
    except FileFormatError as error:
        raise StoreError(f"{path}: {error}") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error
    return path


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # of a fixed date: the same store gives the same bytes
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _write(archive: zipfile.ZipFile, name: str, lines: Any) -> None:
    with archive.open(_member(name), "w", force_zip64=True) as member:
        for line in lines:
            member.write(json.dumps(line, sort_keys=True).encode() + b"\n")


def _domain_lines(connection: Connection) -> Iterator[dict[str, Any]]:
    for row in connection.execute(select(domains).order_by(domains.c.fingerprint)):
        yield dict(row._mapping)


def _function_lines(connection: Connection) -> Iterator[dict[str, Any]]:
    for row in connection.execute(select(functions).order_by(functions.c.number)):
        yield dict(row._mapping)


def _run_lines(connection: Connection) -> Iterator[dict[str, Any]]:
    for batch in batches(connection.execute(select(runs.c.key)).scalars().all()):
        found = connection.execute(
            select(runs).where(runs.c.key.in_(batch)).order_by(runs.c.key)
        ).all()
        lines = {row.id: {**row._mapping, "scores": []} for row in found}
        query = (
            select(scores).where(scores.c.run.in_(lines)).order_by(scores.c.run, scores.c.n_labels)
        )
        for score in connection.execute(query):
            lines[score.run]["scores"].append(_without(score._mapping, "run"))
        for line in lines.values():
            # A run that no agent has used is told as it was before there were agents.
            yield _without(line, *(("id",) if line["used_for"] else ("id", "used_for")))


def _without(row: Any, *names: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in names}


def merge(database: Database, path: Path) -> int:
    """Add the runs that are new, in one transaction.

    Versions of an agent's function come along only where there are none: two histories cannot be one. What
    the other agent had used is then used, and is new to this one otherwise. A run that was only asked for
    here and is done there is done now.
    """
    with database.writing(alone=True) as connection, _reading(path) as archive:
        (manifest,) = _lines(archive, "manifest.json")
        if manifest != _MANIFEST:
            raise FileFormatError(f"is not an export that this code reads: {manifest!r:.80}")
        described = {
            line["fingerprint"]: line
            for line in (_row(line, domains) for line in _lines(archive, "domains.jsonl"))
        }
        versions = _versions(archive) if not last_number(connection) else []
        for row in versions:
            connection.execute(insert(functions), row)
        added = 0
        lines = _lines(archive, "runs.jsonl")
        while batch := list(islice(lines, _BATCH)):
            told = [str(line.get("key")) for line in batch if line.get("status") == "done"]
            connection.execute(delete(runs).where(runs.c.key.in_(told), runs.c.status == "asked"))
            known = present(connection, runs.c.key, [str(line.get("key")) for line in batch])
            for line in batch:
                scored = [
                    _row(score, scores, but="run") for score in line.pop("scores", None) or ()
                ]
                row = _row({"used_for": None} | line, runs, but="id")
                if row["used_for"] not in (None, *get_args(Use)):
                    raise FileFormatError(f"has a run used for {row['used_for']!r}")
                if not versions:
                    row["used_for"] = None
                if row["key"] not in known:
                    sides = {row["source"], row["target"]}
                    sides -= present(connection, domains.c.fingerprint, sides)
                    needed = {side: _described(described, side) for side in sorted(sides)}
                    added += len(put(connection, _packed(archive, row, scored, needed)))
        return added


def _versions(archive: zipfile.ZipFile) -> list[dict[str, Any]]:
    """Return the rows of all versions, which are numbered upwards and what their seals say."""
    if "functions.jsonl" not in archive.namelist():
        return []
    lines = list(_lines(archive, "functions.jsonl"))
    rows = [_row(line, functions) for line in lines]
    for row in rows:
        version_of(SimpleNamespace(**row))
    numbers = [row["number"] for row in rows]
    if numbers != sorted(set(numbers)) or min(numbers, default=1) < 1:
        raise FileFormatError(f"has versions of a function out of order: {numbers!r:.80}")
    return rows


def _described(described: dict[str, dict[str, Any]], side: str) -> dict[str, Any]:
    if side not in described:
        raise FileFormatError(f"has a run on domain {side!r:.14}, which is missing")
    return described[side]


def _packed(
    archive: zipfile.ZipFile,
    row: dict[str, Any],
    scored: list[dict[str, Any]],
    needed: dict[str, dict[str, Any]],
) -> Packed:
    """Return a run with the domains that it needs, when all of them are what their hashes say."""
    parts: dict[str, AnyArray] = {}

    def array(hash: str) -> AnyArray:
        if hash not in parts:
            parts[hash] = _array(archive, hash)
        return parts[hash]

    for each in needed.values():
        domain_of(SimpleNamespace(**each), array)
    verify_run(SimpleNamespace(**row), [SimpleNamespace(**each) for each in scored], array)
    for column in ARRAYS_OF_RUNS:
        if row[column.name]:
            array(row[column.name])
    packed = {hash: encode(hash, each) for hash, each in parts.items()}
    return Packed({row["key"]: row}, {row["key"]: scored}, needed, packed)


@contextmanager
def _reading(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive whose directory can be true; what is wrong with it is said in one sentence."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist()]
            odd = [name for name in names if not _NAMES.fullmatch(name)]
            if odd or len(set(names)) < len(names):
                raise FileFormatError(
                    f"is not an export of experiences: it holds {(odd or names)[0]!r:.80}"
                )
            for info in archive.infolist():
                if info.file_size > info.compress_size * _DEFLATE_RATIO:
                    raise FileFormatError(
                        f"{info.filename} says it is larger than its bytes can hold"
                    )
            yield archive
    except L2TError as error:
        raise FileFormatError(f"{path}: {error}") from None
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise FileFormatError(f"{path}: is not a whole zip archive: {error}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        said = str(error).splitlines() or [""]
        raise FileFormatError(f"{path}: is not an export of experiences: {said[0]:.200}") from None


def _lines(archive: zipfile.ZipFile, name: str) -> Iterator[dict[str, Any]]:
    if name not in archive.namelist():
        raise FileFormatError(f"is not an export of experiences: it has no {name}")
    with archive.open(name) as member:
        while line := member.readline(_LONGEST_LINE):
            content = json.loads(line)
            if not isinstance(content, dict):
                raise FileFormatError(f"{name} must have an object a line, got {content!r:.40}")
            yield content


def _array(archive: zipfile.ZipFile, hash: str) -> AnyArray:
    try:
        info = archive.getinfo(f"arrays/{hash}.npy")
    except KeyError:
        raise FileFormatError(f"array {hash!r:.14} is missing") from None
    with archive.open(info) as member:
        array: AnyArray = np.lib.format.read_array(member, allow_pickle=False)
    if array.dtype.kind not in "biuf" or fingerprint(array) != hash:
        raise FileFormatError(f"array {hash:.12} is not what it was: its hash is another")
    return array


def _row(line: Any, table: Table, but: str = "") -> dict[str, Any]:
    """Return a line that fits a table: these columns, of these types."""
    columns = {column.name: column for column in table.columns if column.name != but}
    if not isinstance(line, dict) or line.keys() != columns.keys():
        raise FileFormatError(f"has a line for {table.name} with other columns: {line!r:.80}")
    for name, column in columns.items():
        value = line[name]
        if value is None and column.nullable:
            continue
        kinds: Any = column.type.python_type
        if kinds is float:
            kinds = float | int
        good = isinstance(value, kinds) and isinstance(value, bool) == (kinds is bool)
        if good and isinstance(value, int):
            good = abs(value) < (2**63 if isinstance(column.type, BigInteger) else 2**31)
        if good and isinstance(value, str):
            good = "\0" not in value and len(value) <= (
                getattr(column.type, "length", None) or len(value)
            )
        if not good:
            raise FileFormatError(f"{name} of {table.name} cannot be {value!r:.80}")
    return line
