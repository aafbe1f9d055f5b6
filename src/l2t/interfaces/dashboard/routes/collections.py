"""Collections: state, speed and failures."""

from __future__ import annotations

import os
import socket
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query

from l2t.experiences import CollectionProgress
from l2t.interfaces.dashboard.context import Here
from l2t.typing import JsonObject

router = APIRouter(tags=["collections"])

_TIMEOUT = timedelta(minutes=10)  # without an update; one pair may take minutes


@router.get("/collections")
def collections(
    here: Here,
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    minutes: Annotated[
        int, Query(ge=1, le=1440, description="Period of the runs per minute.")
    ] = 60,
) -> JsonObject:
    """Return the last collections, runs per minute, and why runs failed.

    The state of a collection is running, finished, stopped or silent: without an update for 10 minutes, or
    its process no longer exists.
    """
    now = datetime.now(UTC)
    summaries = here.store.summaries
    runs = summaries.runs_per_minute(now - timedelta(minutes=minutes))
    return {
        "now": now,
        "collections": [
            _collection(progress, now) for progress in here.store.collections(limit=limit)
        ],
        "minutes": [
            dict(zip(("minute", "done", "failed"), minute, strict=True)) for minute in runs
        ],
        "failures": here.memo.get("failures", summaries.failures),
    }


def _collection(progress: CollectionProgress, now: datetime) -> JsonObject:
    worked = (progress.updated_at - progress.started_at).total_seconds()
    rate = (progress.done + progress.failed) / worked if worked > 0 else 0.0
    left = None
    state = _state(progress, now)
    if progress.total is not None and rate > 0 and state == "running":
        left = (
            max(progress.total - progress.done - progress.failed - progress.already_there, 0) / rate
        )
    pace = {"per_minute": 60.0 * rate if rate else None, "seconds_left": left}
    return asdict(progress) | {"state": state} | pace


def _state(progress: CollectionProgress, now: datetime) -> str:
    if progress.ended_at is not None:
        return "finished" if progress.outcome == "finished" else "stopped"
    gone = progress.host == socket.gethostname() and not _is_running(progress.pid)
    return "silent" if gone or now - progress.updated_at > _TIMEOUT else "running"


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)  # a process of another user is running
    return True
