"""Work in processes of their own, with an end to their time and memory.

A worker reads one request as JSON and writes events as lines of JSON; no pickle travels either way. What it
leaves in the folder of its job can be downloaded. A worker that dies takes nothing with it, and what it wrote
to standard error stays in a log.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from l2t.interfaces.dashboard.errors import Refused
from l2t.interfaces.dashboard.settings import Limits

__all__ = ["Job", "Jobs", "State"]

State = Literal["running", "done", "failed", "cancelled"]
_KEPT = 20  # jobs whose results stay
_PATIENCE = 60.0  # seconds that reading an upload waits for its turn
_ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)


@dataclass(eq=False)
class Job:
    """One piece of work: what it has said so far, and how it ended."""

    id: str
    kind: str
    folder: Path
    started: float = field(default_factory=time.monotonic)
    took: float | None = None
    state: State = "running"
    error: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    result: dict[str, Any] | None = None
    process: subprocess.Popen[str] | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def log(self) -> Path:
        """What its process writes to standard error; kept where the job failed."""
        return self.folder.with_suffix(".log")

    @property
    def seconds(self) -> float:
        """How long it has worked."""
        return time.monotonic() - self.started if self.took is None else self.took

    def files(self) -> list[str]:
        """Return the names of what can be downloaded."""
        folder = self.folder / "out"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


class Jobs:
    """All work of a dashboard.

    Parameters
    ----------
    folder : Path
        Each job has a folder of its own in it, which goes when the job is forgotten.
    limits : Limits
        How many at a time, for how long, with how much memory.
    """

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits
        self._slots = threading.BoundedSemaphore(limits.jobs)
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(
        self,
        kind: str,
        prepare: Callable[[Path], dict[str, Any]],
        *,
        on_done: Callable[[Job], None] = lambda job: None,
    ) -> Job:
        """Begin work and return at once.

        Parameters
        ----------
        kind : str
            Which work of the worker.
        prepare : callable
            Puts what the worker needs into the folder of the job, and gives the request.
        on_done : callable
            Is called when all went well, before others see that it did.
        """
        if not self._slots.acquire(blocking=False):
            said = f"{self._limits.jobs} computations are under way already; try again when one has ended"
            raise Refused(429, said)
        return self._begin(kind, prepare, self._limits.work_seconds, on_done)

    def run(self, kind: str, prepare: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
        """Do short work, wait for it, and return its result."""
        if not self._slots.acquire(timeout=_PATIENCE):
            raise Refused(429, "other computations take too long; try again when they have ended")
        job = self._begin(kind, prepare, self._limits.read_seconds, lambda job: None)
        job.ended.wait()
        self.forget(job)
        if job.result is None:
            raise Refused(400, job.error)
        return job.result

    def get(self, id: str) -> Job:
        """Return a job."""
        job = self._jobs.get(id)
        if job is None:
            raise Refused(
                404, f"there is no computation {id!r:.40}; results are kept for a while only"
            )
        return job

    def cancel(self, job: Job) -> None:
        """End a job that is running."""
        if job.process is not None and not job.ended.is_set():
            job.state = "cancelled"
            job.process.kill()
            job.ended.wait(10.0)

    def forget(self, job: Job) -> None:
        """End a job and remove all that it left."""
        self.cancel(job)
        with self._lock:
            self._jobs.pop(job.id, None)
        shutil.rmtree(job.folder, ignore_errors=True)
        if job.state != "failed":
            job.log.unlink(missing_ok=True)

    def close(self) -> None:
        """End all work."""
        for job in list(self._jobs.values()):
            self.forget(job)

    def _begin(
        self,
        kind: str,
        prepare: Callable[[Path], dict[str, Any]],
        seconds: float,
        on_done: Callable[[Job], None],
    ) -> Job:
        job = Job(secrets.token_hex(16), kind, self._folder / secrets.token_hex(16))
        try:
            (job.folder / "out").mkdir(parents=True)
            request = prepare(job.folder) | {"kind": kind, "memory": self._limits.memory}
            with job.log.open("wb") as log:
                job.process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "l2t.interfaces.dashboard.worker"],
                    cwd=job.folder,
                    env=os.environ | _ONE_THREAD,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    encoding="utf-8",
                )
        except BaseException:
            shutil.rmtree(job.folder, ignore_errors=True)
            self._slots.release()
            raise
        with self._lock:
            self._jobs[job.id] = job
        arguments = (job, json.dumps(request), seconds, on_done)
        threading.Thread(target=self._follow, args=arguments, daemon=True).start()
        self._tidy()
        return job

    def _follow(
        self, job: Job, request: str, seconds: float, on_done: Callable[[Job], None]
    ) -> None:
        """Hear what a worker says until it ends, or until its time does."""
        process = job.process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        out_of_time = threading.Event()

        def stop() -> None:
            out_of_time.set()
            process.kill()

        clock = threading.Timer(seconds, stop)
        clock.daemon = True
        clock.start()
        try:
            try:
                process.stdin.write(request)
                process.stdin.close()
            except OSError:
                pass  # it has ended already, and its exit code is reported below
            self._listen(job, process.stdout)
            process.stdout.close()
            process.wait()
            if job.state == "running":
                late = seconds if out_of_time.is_set() else None
                self._conclude(job, process, late, on_done)
        finally:
            clock.cancel()
            if job.state == "running":
                job.state, job.error = "failed", "the computation could not be followed"
            job.took = time.monotonic() - job.started
            self._slots.release()
            job.ended.set()

    def _listen(self, job: Job, lines: IO[str]) -> None:
        for line in lines:
            event = json.loads(line)
            if event["event"] == "result":
                job.result = event["result"]
            elif event["event"] == "error":
                job.error = event["error"] + (f"; see {job.log}" if event["unexpected"] else "")
            else:
                job.events.append(event)

    def _conclude(
        self,
        job: Job,
        process: subprocess.Popen[str],
        seconds: float | None,
        on_done: Callable[[Job], None],
    ) -> None:
        if job.result is not None:
            on_done(job)
            job.state = "done"
            return
        if seconds is not None:
            job.error = (
                f"it took longer than the {seconds:g} seconds that it may take, and was stopped"
            )
        elif not job.error:
            code = process.returncode
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            job.error = (
                f"its process {how}, often for lack of memory "
                f"(it may use {self._limits.memory / 2**30:.3g} GiB); see {job.log}"
            )
        job.state = "failed"

    def _tidy(self) -> None:
        ended = [job for job in list(self._jobs.values()) if job.ended.is_set()]
        for job in ended[:-_KEPT]:
            self.forget(job)
        logs = sorted(self._folder.glob("*.log"), key=lambda log: log.stat().st_mtime)
        for log in logs[: -2 * _KEPT]:
            log.unlink(missing_ok=True)
