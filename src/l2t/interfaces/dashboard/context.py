"""What all routes share: the store, reflection functions, jobs, uploads, and a cache of answers."""

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
from l2t.interfaces.dashboard.jobs import Jobs
from l2t.interfaces.dashboard.settings import Settings
from l2t.interfaces.dashboard.uploads import Uploads

_LOG = logging.getLogger(__name__)
T = TypeVar("T")
_MOST = 256  # answers that are kept


@dataclass(eq=False)
class _Answer:
    lock: threading.Lock = field(default_factory=threading.Lock)
    state: object = None
    fresh_until: float = 0.0
    value: Any = None


class Memo:
    """A cache of answers, each valid while `state()`, which is never None, has the same value."""

    def __init__(self, state: Callable[[], object]) -> None:
        self._state = state
        self._answers: OrderedDict[Hashable, _Answer] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], T], *, fresh_for: float = 0.0) -> T:
        """Return the answer for a key; of several concurrent calls one computes it and the others wait.

        An answer younger than `fresh_for` seconds is valid in any state, so that a growing store does not
        keep the server busy.
        """
        state = self._state()
        with self._lock:
            answer = self._answers.setdefault(key, _Answer())
            self._answers.move_to_end(key)
            while len(self._answers) > _MOST:
                self._answers.popitem(last=False)
        with answer.lock:
            if answer.state != state and time.monotonic() >= answer.fresh_until:
                answer.value = compute()
                answer.state, answer.fresh_until = state, time.monotonic() + fresh_for
            return answer.value  # type: ignore[no-any-return]


class Context:
    """A store with all that its dashboard needs; only outcomes of suggestions are written to the store."""

    def __init__(self, store: ExperienceStore, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.functions = Functions(settings.reflections, store)
        # It writes no function of its own, and learns in a thread when an outcome is reported.
        self.agent = Agent(store, reflection=None, background=True)
        self._folder = tempfile.TemporaryDirectory(prefix="l2t-dashboard-")
        self.folder = self._folder.name
        jobs, uploads = Path(self.folder, "jobs"), Path(self.folder, "uploads")
        jobs.mkdir()
        uploads.mkdir()
        self.jobs = Jobs(jobs, settings.limits)
        self.uploads = Uploads(uploads, self.jobs, settings)
        self.memo = Memo(store.summaries.state)

    def shared_store(self, what: str) -> str:
        """Return the URL of a store that worker processes can open, for what needs one."""
        if self.store.url == "memory://":
            raise InvalidInputError(f"{what} needs a store in a file or a database, got memory://")
        return self.store.url

    def close(self) -> None:
        """End all work, and remove every upload and result."""
        self.jobs.close()
        self._folder.cleanup()
        try:
            self.agent.close()
        except L2TError as error:  # in learning; the outcome itself is in the store
            _LOG.error("%s", error)


def _context(request: Request) -> Any:
    return request.app.state.context


Here = Annotated[Context, Depends(_context)]
