"""The labelling session of a dashboard: its cards, and its predictions, which worker processes make."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from l2t.interfaces.dashboard.errors import Refused
from l2t.interfaces.dashboard.jobs import Job, Jobs
from l2t.labelling import Estimate, LabellingSession, PredictionUpdate

#: Cards that a page gets at a time, so that it shows the next one without waiting, and cells of each.
_CARDS, _CELLS = 8, 200
_IMAGES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"}


class Labelling:
    """A labelling session whose prediction is renewed in the background."""

    def __init__(
        self,
        session: LabellingSession,
        jobs: Jobs,
        keep: Callable[[Job], None],
        names: Sequence[str] | None = None,
    ) -> None:
        self.session, self._jobs, self._keep = session, jobs, keep
        tables = [*session.sources, session.target]
        #: The names of the files for display, the target last.
        self.names = [table.path.name for table in tables] if names is None else list(names)
        self._job: Job | None = None
        self._sentence = ""
        self._lock = threading.Lock()

    def renew(self, *, on_demand: bool = False) -> None:
        """Start a prediction with the labels so far, if one is due and none is running."""
        with self._lock:
            if self._is_running() or not (on_demand or self.session.progress.is_due):
                return
            request = {
                "session": self.session.arguments | {"strategy": self.session.strategy},
                "names": self.names,
            }
            try:
                self._job = self._jobs.start("label", lambda folder: request, on_done=self._adopt)
            except Refused:  # other predictions are running: it is due at the next label too
                if on_demand:
                    raise

    def state(self, images: Path | None) -> dict[str, Any]:
        """Return what the page shows."""
        session, job = self.session, self._job
        if job is not None and job.state == "failed" and job.error != self._sentence:
            self._sentence = job.error
            session.adopt(
                PredictionUpdate(Estimate(session.progress.n_labels, None), (), job.error)
            )
        done = job is not None and job.state == "done" and bool(job.files())
        return asdict(session.progress) | {
            "target": self.names[-1],
            "file": session.file.path.name,
            "column": session.label_column,
            "strategy": session.strategy,
            "renewing": self._is_running(),
            "prediction": job.id if job is not None and done else None,
            "sentence": self._sentence,
            "cards": [self._card(row, images) for row in session.suggested(_CARDS)],
        }

    def image(self, row: int, column: str, images: Path | None) -> Path:
        """Return the image that a cell names, which must lie in the folder of images."""
        image = None if images is None else _image(self.session.cells(row).get(column), images)
        if image is None:
            raise Refused(404, f"row {row} has no image in column {column!r:.80}")
        return image

    def _is_running(self) -> bool:
        return self._job is not None and not self._job.ended.is_set()

    def _adopt(self, job: Job) -> None:
        assert job.result is not None  # it is done
        forecast = job.result["forecast"]
        self._sentence = forecast["sentence"]
        estimate = Estimate(**forecast["estimate"])
        self.session.adopt(PredictionUpdate(estimate, tuple(forecast["rows"]), self._sentence))
        if "report" in job.result:
            self._keep(job)

    def _card(self, row: int, images: Path | None) -> dict[str, Any]:
        cells = self.session.cells(row)
        shown = dict(list(cells.items())[:_CELLS])
        named = [] if images is None else [name for name in cells if _image(cells[name], images)]
        return {"row": row, "cells": shown, "n_cells": len(cells), "images": named}


def _image(cell: Any, images: Path) -> Path | None:
    """Return the image file that a cell names, if it lies in the folder."""
    if not isinstance(cell, str) or Path(cell).suffix.lower() not in _IMAGES or "\0" in cell:
        return None
    place = (images / cell).resolve()
    return place if place.is_relative_to(images.resolve()) and place.is_file() else None
