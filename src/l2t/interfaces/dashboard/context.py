"""What all routes share."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request

from l2t.agent import Agent
from l2t.exceptions import L2TError
from l2t.experiences import ExperienceStore
from l2t.interfaces.dashboard.functions import Functions
from l2t.interfaces.dashboard.jobs import Jobs
from l2t.interfaces.dashboard.memo import Memo
from l2t.interfaces.dashboard.settings import Settings
from l2t.interfaces.dashboard.uploads import Uploads

__all__ = ["Context", "Here"]

_LOG = logging.getLogger(__name__)


class Context:
    """A store with all that a dashboard on it needs; only outcomes of suggestions are written to it."""

    def __init__(self, store: ExperienceStore, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.functions = Functions(settings.reflections, store)
        # It writes no function unasked, and learns in a thread when it is told something.
        self.agent = Agent(store, reflection=None, background=True)
        self._folder = tempfile.TemporaryDirectory(prefix="l2t-dashboard-")
        jobs, uploads = Path(self._folder.name, "jobs"), Path(self._folder.name, "uploads")
        jobs.mkdir()
        uploads.mkdir()
        self.jobs = Jobs(jobs, settings.limits)
        self.uploads = Uploads(uploads, self.jobs, settings)
        self.memo = Memo(store.summaries.state)

    def close(self) -> None:
        """End all work, and remove every upload and result."""
        self.jobs.close()
        self._folder.cleanup()
        try:
            self.agent.close()
        except L2TError as error:  # in learning, after what was told was kept
            _LOG.error("%s", error)


def _context(request: Request) -> Any:
    return request.app.state.context


Here = Annotated[Context, Depends(_context)]
