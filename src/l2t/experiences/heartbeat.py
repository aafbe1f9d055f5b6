"""A sign of life that a collection leaves in the store, so that others can see how far it is."""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from l2t.experiences.records import CollectionProgress
from l2t.experiences.store import ExperienceStore

__all__ = ["Heartbeat"]

_EVERY = 1.0  # seconds between two signs, at least


class Heartbeat:
    """Signs of life: one at the beginning, at most one a second, and one at the end.

    Parameters
    ----------
    store : ExperienceStore
        Where they are left.
    total : int or None
        Runs that are asked for.
    """

    def __init__(self, store: ExperienceStore, total: int | None) -> None:
        now = datetime.now(UTC)
        self._store = store
        self._told = CollectionProgress(
            uuid.uuid4().hex, socket.gethostname(), os.getpid(), now, now, total
        )
        self._next = 0.0

    def __enter__(self) -> Heartbeat:
        self._leave()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        said = " ".join(f"{kind.__name__}: {error}".split()) if kind is not None else ""
        outcome = f"stopped by {said[:500]}" if said else "finished"
        try:
            self._leave(outcome)
        except Exception:
            if error is None:  # else it is the error that counts, not that it could not be noted
                raise

    def beat(self, counts: Mapping[str, int], latest: str | None = None) -> None:
        """Tell how many runs there are by how they ended, and what was run last if that is new."""
        done, failed, there = (counts[name] for name in ("done", "failed", "already there"))
        latest = self._told.latest if latest is None else latest
        self._told = replace(
            self._told, done=done, failed=failed, already_there=there, latest=latest
        )
        if time.monotonic() >= self._next:
            self._leave()

    def _leave(self, outcome: str = "") -> None:
        now = datetime.now(UTC)
        ended = now if outcome else None
        self._told = replace(self._told, updated_at=now, ended_at=ended, outcome=outcome)
        self._store.note_collection(self._told)
        self._next = time.monotonic() + _EVERY
