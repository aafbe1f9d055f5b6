"""Uploaded domains: received in chunks, read in a worker process, kept for a while."""

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

__all__ = ["FORMATS", "Upload", "Uploads"]

FORMATS = {".csv": "csv", ".tsv": "csv", ".xlsx": "xlsx", ".npz": "npz", ".parquet": "parquet"}


@dataclass(frozen=True)
class Upload:
    """An uploaded domain; `n_labelled` rows are marked as labelled, None where none is marked."""

    id: str
    name: str
    n_rows: int
    n_features: int
    n_classes: int
    n_labelled: int | None


class Uploads:
    """The uploaded domains of a dashboard; a file's own name never becomes a path."""

    def __init__(self, folder: Path, jobs: Jobs, settings: Settings) -> None:
        self._folder, self._jobs, self._settings = folder, jobs, settings
        self._uploads: OrderedDict[str, Upload] = OrderedDict()
        self._lock = threading.Lock()

    async def take(
        self, chunks: AsyncIterator[bytes], file_name: str, label: str | None, labeled: str | None
    ) -> Upload:
        """Receive a file, and read it."""
        name = _plain(file_name)
        format = FORMATS.get(Path(name).suffix.lower())
        if format is None:
            endings = ", ".join(FORMATS)
            raise Refused(415, f"a domain is uploaded as {endings}, got a file called {name!r}")
        id = secrets.token_hex(16)
        raw, ready = self._folder / f"{id}.raw", self._path(id)
        title = Path(name).stem or "upload"
        options = {"label": label or None, "labeled": labeled or None, "name": title}
        request = {"path": str(raw), "to": str(ready), "options": options | {"format": format}}
        request["limits"] = asdict(self._settings.limits)
        try:
            await self._write(chunks, raw)
            found = await run_in_threadpool(self._jobs.run, "read", lambda folder: request)
        except BaseException:
            ready.unlink(missing_ok=True)
            raise
        finally:
            raw.unlink(missing_ok=True)
        return self._keep(Upload(id, title, **found))

    def all(self) -> list[Upload]:
        """Return the uploads, the newest first."""
        with self._lock:
            return list(self._uploads.values())[::-1]

    def get(self, id: str) -> tuple[Upload, Path]:
        """Return an upload, and the npz that holds it."""
        upload = self._uploads.get(id)
        if upload is None:
            raise Refused(404, f"there is no upload {id!r:.40}; uploads are kept for a while only")
        return upload, self._path(id)

    def remove(self, id: str) -> None:
        """Delete an upload."""
        self.get(id)
        with self._lock:
            self._uploads.pop(id, None)
        self._path(id).unlink(missing_ok=True)

    async def _write(self, chunks: AsyncIterator[bytes], path: Path) -> None:
        """Write a body to a file; one that is too large is refused before it has arrived."""
        size, most = 0, self._settings.max_upload
        with path.open("xb") as handle:
            async for chunk in chunks:
                size += len(chunk)
                if size > most:
                    shown = f"{most / 2**20:g} MiB" if most >= 2**20 else f"{most} bytes"
                    raise Refused(413, f"an upload may have {shown} at most, got more")
                await run_in_threadpool(handle.write, chunk)
        if not size:
            raise Refused(400, "the upload is empty; send the file itself as the body")

    def _keep(self, upload: Upload) -> Upload:
        with self._lock:
            self._uploads[upload.id] = upload
            while len(self._uploads) > self._settings.limits.uploads:
                oldest, _ = self._uploads.popitem(last=False)
                self._path(oldest).unlink(missing_ok=True)
        return upload

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}.npz"


def _plain(name: str) -> str:
    """Return the printable end of a file name after its last slash, for display."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable())[-80:].strip() or "upload"
