"""Uploaded files: received in chunks, previewed in a worker process, and kept up to a limit."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from l2t.interfaces.dashboard.errors import Refused
from l2t.interfaces.dashboard.jobs import Jobs
from l2t.interfaces.dashboard.settings import Settings
from l2t.typing import JsonObject

UPLOAD_FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".xlsx": "xlsx",
    ".npz": "npz",
    ".parquet": "parquet",
}


@dataclass(frozen=True)
class Upload:
    """An uploaded file; `preview` is that of `l2t.domains.files.preview_file`."""

    id: str
    name: str
    preview: JsonObject


class Uploads:
    """The uploaded files of a dashboard; of the user's file name, only the suffix is used in a path."""

    def __init__(self, folder: Path, jobs: Jobs, settings: Settings) -> None:
        self._folder, self._jobs, self._settings = folder, jobs, settings
        self._uploads: OrderedDict[str, tuple[Upload, Path]] = OrderedDict()
        self._lock = threading.Lock()
        self._in_progress = 0

    async def receive(
        self, chunks: AsyncIterator[bytes], file_name: str, label: str | None
    ) -> Upload:
        """Receive a file, and preview it."""
        name = _display_name(file_name)
        ending = Path(name).suffix.lower()
        if ending not in UPLOAD_FORMATS:
            endings = ", ".join(UPLOAD_FORMATS)
            raise Refused(415, f"the name of a file must end in {endings}, got {name!r}")
        path = self._folder / f"{secrets.token_hex(16)}{ending}"
        request: JsonObject = {"path": str(path), "name": name, "label": label}
        request |= {"format": UPLOAD_FORMATS[ending], "limits": asdict(self._settings.limits)}
        if self._in_progress >= self._settings.limits.queue:
            raise Refused(
                429, f"{self._in_progress} uploads are in progress; try again in a moment"
            )
        self._in_progress += 1
        try:
            await self._write(chunks, path)
            preview = await self._jobs.run("read", lambda folder: request)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            self._in_progress -= 1
        return self._keep(path, Upload(path.stem, name, preview))

    async def create_example(self) -> list[Upload]:
        """Create and preview the files of the example, a source and a target."""
        paths = [self._folder / f"{secrets.token_hex(16)}.csv" for _ in range(2)]
        request = {"paths": [str(path) for path in paths]}
        outcome = await self._jobs.run("example", lambda folder: request)
        return [
            self._keep(path, Upload(path.stem, **fields))
            for path, fields in zip(paths, outcome["files"], strict=True)
        ]

    def all(self) -> list[Upload]:
        """Return the uploads, the newest first."""
        with self._lock:
            return [upload for upload, _ in self._uploads.values()][::-1]

    def get(self, id: str) -> tuple[Upload, Path]:
        """Return an upload, and its file."""
        with self._lock:
            upload = self._uploads.get(id)
        if upload is None:
            raise Refused(
                404,
                f"there is no upload {id!r:.40}; only the last {self._settings.limits.uploads} are kept",
            )
        return upload

    def remove(self, id: str) -> None:
        """Delete an upload."""
        _, path = self.get(id)
        with self._lock:
            self._uploads.pop(id, None)
        path.unlink(missing_ok=True)

    async def _write(self, chunks: AsyncIterator[bytes], path: Path) -> None:
        """Write the body of a request to a file."""
        with path.open("xb") as handle:
            async for chunk in chunks:
                await run_in_threadpool(handle.write, chunk)
            size = handle.tell()
        if not size:
            raise Refused(400, "the upload is empty; send the file itself as the body")

    def _keep(self, path: Path, upload: Upload) -> Upload:
        with self._lock:
            self._uploads[upload.id] = upload, path
            while len(self._uploads) > self._settings.limits.uploads:
                _, (_, oldest) = self._uploads.popitem(last=False)
                oldest.unlink(missing_ok=True)
        return upload


def _display_name(name: str) -> str:
    """Return a file name for display: its last part, without unprintable characters."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable())[-80:].strip() or "upload"
