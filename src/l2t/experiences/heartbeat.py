"""Progress reports of a collection to its store, for the dashboard."""

from __future__ import annotations

import os
import socket
import time
import traceback
import uuid
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from l2t.experiences.records import CollectionProgress
from l2t.experiences.store import ExperienceStore

_INTERVAL = 1.0  # seconds between two reports, at least


class Heartbeat:
    """Reports progress to a store: at the beginning, at most once per second, and at the end."""

    def __init__(self, store: ExperienceStore, total: int | None) -> None:
        now, host = datetime.now(UTC), socket.gethostname()
        self._store = store
        self._progress = CollectionProgress(uuid.uuid4().hex, host, os.getpid(), now, now, total)
        self._next = 0.0

    def __enter__(self) -> Heartbeat:
        self._write()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        outcome = "finished"
        if kind is not None:
            outcome = f"stopped by {' '.join(f'{kind.__name__}: {error}'.split())[:500]}"
        if error is not None and not isinstance(error, Exception):
            # Ctrl-C between the start of a transaction and its `with` block: the frames of the traceback keep
            # the transaction open, and the report below would wait for it.
            traceback.clear_frames(error.__traceback__)
        # If this report fails as well, the error that stopped the collection is raised.
        with nullcontext() if error is None else suppress(Exception):
            self._write(outcome)

    def report(self, counts: dict[str, Any], latest: str = "") -> None:
        """Report the numbers of runs done, failed and already_there, and the latest run if it is new."""
        latest = latest or self._progress.latest
        self._progress = replace(self._progress, latest=latest, **counts)
        if time.monotonic() >= self._next:
            self._write()

    def _write(self, outcome: str = "") -> None:
        now = datetime.now(UTC)
        ended = now if outcome else None
        self._progress = replace(self._progress, updated_at=now, ended_at=ended, outcome=outcome)
        self._store.note_collection(self._progress)
        self._next = time.monotonic() + _INTERVAL
