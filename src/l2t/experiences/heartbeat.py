"""The progress of a collection in its store, so that others can see it."""

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

_EVERY = 1.0  # least seconds between two reports


class Heartbeat:
    """Progress reports to a store: one at the beginning, at most one per second, and one at the end."""

    def __init__(self, store: ExperienceStore, total: int | None) -> None:
        now, host = datetime.now(UTC), socket.gethostname()
        self._store = store
        self._progress = CollectionProgress(uuid.uuid4().hex, host, os.getpid(), now, now, total)
        self._next = 0.0

    def __enter__(self) -> Heartbeat:
        self._leave()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        outcome = "finished"
        if kind is not None:
            outcome = f"stopped by {' '.join(f'{kind.__name__}: {error}'.split())[:500]}"
        if error is not None and not isinstance(error, Exception):
            # Ctrl-C between the start of a transaction and its `with` block: the frames of the traceback keep
            # the transaction open, and the note below would wait for it.
            traceback.clear_frames(error.__traceback__)
        # An error that stopped the collection counts more than that it could not be noted.
        with nullcontext() if error is None else suppress(Exception):
            self._leave(outcome)

    def beat(self, counts: dict[str, Any], latest: str = "") -> None:
        """Report the runs that are done, failed or already_there, and what was run last if that is new."""
        latest = latest or self._progress.latest
        self._progress = replace(self._progress, latest=latest, **counts)
        if time.monotonic() >= self._next:
            self._leave()

    def _leave(self, outcome: str = "") -> None:
        now = datetime.now(UTC)
        ended = now if outcome else None
        self._progress = replace(self._progress, updated_at=now, ended_at=ended, outcome=outcome)
        self._store.note_collection(self._progress)
        self._next = time.monotonic() + _EVERY
