"""The state that all routes share: store, reflection functions, jobs, uploads, and a cache."""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from l2t.agent import Agent
from l2t.exceptions import InvalidInputError, L2TError
from l2t.experiences import ExperienceStore
from l2t.interfaces.dashboard.functions import Functions
from l2t.interfaces.dashboard.history import History
from l2t.interfaces.dashboard.jobs import Job, Jobs
from l2t.interfaces.dashboard.labelling import Labelling
from l2t.interfaces.dashboard.predicting import open_session
from l2t.interfaces.dashboard.settings import Settings
from l2t.interfaces.dashboard.uploads import Uploads
from l2t.labelling import LabellingSession

_LOG = logging.getLogger(__name__)
T = TypeVar("T")
_MAX_CACHED = 256
#: Targets of predictions that are labelled at a time; they are in memory.
_MAX_LABELLED = 4


@dataclass(eq=False)
class _Entry:
    lock: threading.Lock = field(default_factory=threading.Lock)
    state: object = None
    fresh_until: float = 0.0
    value: Any = None


class Memo:
    """A cache of values, each valid while `state()`, which is never None, is unchanged."""

    def __init__(self, state: Callable[[], object]) -> None:
        self._state = state
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], T], *, fresh_for: float = 0.0) -> T:
        """Return the value of a key; of several concurrent calls, one computes it and the others wait.

        A value younger than `fresh_for` seconds is valid in any state, so that a growing store does not keep
        the server busy.
        """
        state = self._state()
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            while len(self._entries) > _MAX_CACHED:
                self._entries.popitem(last=False)
        with entry.lock:
            if entry.state != state and time.monotonic() >= entry.fresh_until:
                entry.value = compute()
                entry.state, entry.fresh_until = state, time.monotonic() + fresh_for
            return entry.value  # type: ignore[no-any-return]


class Context:
    """The state of a dashboard; only suggestions and their outcomes are written to the store."""

    def __init__(
        self, store: ExperienceStore, settings: Settings, session: LabellingSession | None = None
    ) -> None:
        kept = None if settings.history is None else History(settings.history, settings.limits)
        self.store, self.settings = store, settings
        self.functions = Functions(settings.reflections)
        self.agent = Agent(store)
        self._folder = tempfile.TemporaryDirectory(prefix="l2t-dashboard-")
        self.folder = self._folder.name
        jobs, uploads = Path(self.folder, "jobs"), Path(self.folder, "uploads")
        self.scratch = Path(self.folder, "scratch")
        for folder in (jobs, uploads, self.scratch):
            folder.mkdir()
        self.jobs = Jobs(jobs, settings.limits)
        self.uploads = Uploads(uploads, self.jobs, settings)
        self.history = kept or History(Path(self.folder, "history"), settings.limits)
        self.memo = Memo(store.summaries.state)
        self.labelling = None if session is None else Labelling(session, self.jobs, self.keep)
        self._labellings: OrderedDict[str, Labelling] = OrderedDict()
        self._lock = threading.Lock()

    def shared_store(self, what: str) -> str:
        """Return the URL of the store, or raise an error if worker processes cannot open it."""
        if self.store.url == "memory://":
            raise InvalidInputError(f"{what} needs a store in a file or a database, got memory://")
        return self.store.url

    def keep(self, job: Job) -> None:
        """Keep the prediction of a job in the history."""
        assert job.result is not None  # it is done
        try:
            request = job.request if job.kind == "predict" else None
            self.history.add(job.id, job.folder / "out", job.result, job.seconds, request)
        except (OSError, L2TError) as error:  # a full disk must not take the prediction away
            _LOG.warning("a prediction is not kept: %s", error)

    def labelling_of(self, id: str) -> Labelling:
        """Return the labelling of the target of a prediction that was kept."""
        request = self.history.request(id)
        with self._lock:
            if id not in self._labellings:
                names = [file["name"] for file in request["files"]]
                session = open_session(request)
                self._labellings[id] = Labelling(session, self.jobs, self.keep, names)
            self._labellings.move_to_end(id)
            while len(self._labellings) > _MAX_LABELLED:  # labels are in files
                self._labellings.popitem(last=False)
            return self._labellings[id]

    def delete(self, id: str) -> None:
        """Delete a prediction that was kept, with its files and labels."""
        with self._lock:
            self._labellings.pop(id, None)
            self.history.delete(id)

    def close(self) -> None:
        """Cancel all jobs, and delete uploads and results."""
        self.jobs.close()
        self._folder.cleanup()


def _context(request: Request) -> Any:
    return request.app.state.context


Here = Annotated[Context, Depends(_context)]
