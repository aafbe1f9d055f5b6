"""Finished predictions in a folder, up to a number and a size, and over restarts if the user names it.

A prediction from files keeps these, so that its target can be labelled, and predicted again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from l2t.domains.files.disk import replacing, writing
from l2t.exceptions import InvalidInputError
from l2t.interfaces.dashboard.errors import Refused
from l2t.interfaces.dashboard.settings import Limits
from l2t.typing import JsonObject

_ID = re.compile(r"[0-9a-f]{32}")
_RECORD, _LABELS = "prediction.json", "labels.csv"
ROWS = "rows.sqlite"


@dataclass(frozen=True)
class Past:
    """A finished prediction, as it is listed."""

    id: str
    name: str
    created_at: str
    target: str
    sources: list[str]
    n_rows: int
    n_given: int
    expected: float | None
    seconds: float
    bytes: int
    is_repeatable: bool = False  # whether its files and settings are kept


class History:
    """The predictions in a folder, each in a folder of its own that is named by its id."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = f"history must be a folder that can be written, got {str(folder)!r}"
            raise InvalidInputError(f"{reason}: {error.strerror}") from None
        self._folder, self._limits = folder, limits
        self._lock = threading.Lock()

    def add(
        self,
        id: str,
        outputs: Path,
        result: JsonObject,
        seconds: float,
        request: JsonObject | None = None,
    ) -> None:
        """Keep a prediction: its result and its output files, and those of its request if there is one."""
        place = self._folder / id
        used = [row["expected"] for row in result["report"] if row["used"]]
        with self._lock:
            shutil.copytree(outputs, place / "out", copy_function=_link)
            if request is not None:
                request = _with_files_in(place / "in", request)
            past = Past(
                id,
                result["target"],
                datetime.now(UTC).isoformat(timespec="seconds"),
                result["target"],
                result["sources"],
                result["n_rows"],
                result["n_given"],
                used[0] if used else None,
                round(seconds, 2),
                sum(path.stat().st_size for path in place.rglob("*") if path.is_file()),
                request is not None,
            )
            self._write(past, result, request)
            self._delete_old()

    def all(self) -> list[Past]:
        """Return all predictions, the newest first."""
        ids = (path.name for path in self._folder.iterdir() if _ID.fullmatch(path.name))
        records = [content for content in map(self._read, ids) if content is not None]
        return sorted(
            (past for past, *_ in records), key=lambda past: past.created_at, reverse=True
        )

    def get(self, id: str) -> tuple[Past, JsonObject]:
        """Return a prediction and its result."""
        past, result, _ = self._get(id)
        return past, result

    def request(self, id: str, folder: Path | None = None) -> JsonObject:
        """Return what was asked for, with the labels given since; in `folder`, with copies of all files."""
        past, _, request = self._get(id)
        if request is None:
            raise Refused(409, f"the files of {past.name} are not kept")
        place = self._folder / past.id / "in"
        request |= {"labels": str(place / _LABELS)}
        request["files"] = [file | {"path": str(place / file["path"])} for file in request["files"]]
        return request if folder is None else _with_files_in(folder, request, full=True)

    def files(self, id: str) -> list[str]:
        """Return the names of the files of a prediction for download."""
        folder = self._folder / self.get(id)[0].id / "out"
        return sorted(path.name for path in folder.iterdir() if path.name != ROWS)

    def file(self, id: str, name: str) -> Path:
        """Return a file of a prediction."""
        path = self._folder / self.get(id)[0].id / "out" / name
        if name != ROWS and name not in self.files(id):
            raise Refused(404, f"the prediction has no file {name!r:.40}")
        return path

    def rename(self, id: str, name: str) -> Past:
        """Give a prediction another name."""
        with self._lock:
            past, result, request = self._get(id)
            renamed = replace(past, name=name)
            self._write(renamed, result, request)
        return renamed

    def delete(self, id: str) -> None:
        """Delete a prediction with its files."""
        shutil.rmtree(self._folder / self.get(id)[0].id)

    def _get(self, id: str) -> _Record:
        record = self._read(id) if _ID.fullmatch(id) else None
        if record is None:
            most = self._limits.history
            raise Refused(404, f"there is no prediction {id!r:.40}; only the last {most} are kept")
        return record

    def _write(self, past: Past, result: JsonObject, request: JsonObject | None) -> None:
        path = self._folder / past.id / _RECORD
        content = {"prediction": asdict(past), "result": result, "request": request}
        with writing(path), replacing(path) as handle:
            handle.write(json.dumps(content).encode())

    def _read(self, id: str) -> _Record | None:
        """Return a prediction, its result and its request; None if there is none, or it is incomplete."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            content = json.loads((self._folder / id / _RECORD).read_bytes())
            past = Past(**content["prediction"] | {"id": id})
            return past, dict(content["result"]), content.get("request")
        return None

    def _delete_old(self) -> None:
        """Delete the oldest predictions beyond the limits, but no labels that somebody gave."""
        size = 0
        for number, past in enumerate(self.all()):
            size += past.bytes
            beyond = number >= self._limits.history or size > self._limits.history_bytes
            if number and beyond and not (self._folder / past.id / "in" / _LABELS).exists():
                shutil.rmtree(self._folder / past.id, ignore_errors=True)


_Record = tuple[Past, JsonObject, JsonObject | None]


def _with_files_in(folder: Path, request: JsonObject, *, full: bool = False) -> JsonObject:
    """Copy the files of a request into a folder, and return it with their names, or full paths, there."""
    folder.mkdir(exist_ok=True)
    files = []
    for number, file in enumerate(request["files"]):
        place = folder / f"{number}{Path(file['path']).suffix}"
        _link(file["path"], str(place))
        files.append(file | {"path": str(place) if full else place.name})
    copied = request | {"files": files}
    labels = copied.pop("labels", None)
    if labels is not None and Path(labels).is_file():
        shutil.copyfile(labels, folder / _LABELS)  # a link would share labels that are given later
        if full:
            copied["labels"] = str(folder / _LABELS)
    return copied


def _link(source: str, target: str) -> None:
    """Link a file, or copy it where it cannot be linked, such as to another disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
