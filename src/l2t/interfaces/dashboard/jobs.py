"""Jobs: worker processes with limits on time and memory.

A worker reads one request as JSON and writes events as lines of JSON; nothing is pickled. Its output files
can be downloaded. A worker that dies does not affect the server, and its standard error is kept in a log.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from starlette.concurrency import run_in_threadpool

from l2t.interfaces.dashboard.errors import Refused
from l2t.interfaces.dashboard.settings import Limits
from l2t.typing import JsonObject

State = Literal["running", "done", "failed", "cancelled"]
Prepare = Callable[[Path], JsonObject]
_KEPT = 20  # finished jobs whose results are kept
_ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)


@dataclass(eq=False)
class Job:
    """A job: its events so far, its state and its result.

    It is stopped after `limit` seconds. `on_done` is called on success, before the state changes to "done",
    and `on_end` whenever it ends.
    """

    kind: str
    folder: Path
    limit: float
    on_done: Callable[[Job], None]
    on_end: Callable[[], object]
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    started: float = field(default_factory=time.monotonic)
    took: float | None = None
    state: State = "running"
    error: str = ""
    events: list[JsonObject] = field(default_factory=list)
    request: JsonObject = field(default_factory=dict)
    result: JsonObject | None = None
    process: subprocess.Popen[str] | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def log(self) -> Path:
        """The file with the standard error of its process; kept if the job fails."""
        return self.folder.with_suffix(".log")

    @property
    def seconds(self) -> float:
        """Seconds that it has run."""
        return time.monotonic() - self.started if self.took is None else self.took

    def files(self) -> list[str]:
        """Return the names of the output files."""
        folder = self.folder / "out"
        if not folder.is_dir():
            return []
        return sorted(path.name for path in folder.iterdir() if path.suffix != ".sqlite")

    def receive(self, event: JsonObject) -> None:
        """Handle an event from the worker."""
        if event["event"] == "result":
            self.result = event["result"]
        elif event["event"] == "error":
            self.error = event["error"] + (f"; see {self.log}" if event["unexpected"] else "")
        else:
            self.events.append(event)


class Jobs:
    """The jobs of a dashboard; each has its own folder, which is deleted with it."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits
        self._slots = threading.BoundedSemaphore(limits.jobs)
        self._turns = asyncio.Semaphore(limits.jobs)
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(
        self, kind: str, prepare: Prepare, *, on_done: Callable[[Job], None] = lambda job: None
    ) -> Job:
        """Start a job and return at once; `prepare` writes its input files and returns the request."""
        if not self._slots.acquire(blocking=False):
            running = f"{self._limits.jobs} jobs are running already"
            raise Refused(429, f"{running}; try again when one has finished")
        limit = self._limits.work_seconds
        try:
            return self._launch(kind, prepare, limit, on_done, self._slots.release)
        except BaseException:
            self._slots.release()
            raise

    async def run(self, kind: str, prepare: Prepare) -> JsonObject:
        """Run a short job and return its result; such jobs queue apart from those of `start`."""
        async with self._turns:
            ended, loop = asyncio.Event(), asyncio.get_running_loop()
            on_end = partial(loop.call_soon_threadsafe, ended.set)
            limit = self._limits.read_seconds
            job = await run_in_threadpool(
                self._launch, kind, prepare, limit, lambda job: None, on_end
            )
            try:
                await ended.wait()
            finally:
                self.delete(job)
        if job.result is None:
            raise Refused(400, job.error)
        return job.result

    def find(self, id: str) -> Job | None:
        """Return a job; None if there is none."""
        return self._jobs.get(id)

    def get(self, id: str) -> Job:
        """Return a job."""
        job = self.find(id)
        if job is None:
            raise Refused(
                404, f"there is no job {id!r:.40}; only the last {_KEPT} results are kept"
            )
        return job

    def cancel(self, job: Job) -> None:
        """Cancel a running job."""
        if job.process is not None and not job.ended.is_set():
            job.state = "cancelled"
            job.process.kill()
            job.ended.wait(10.0)

    def delete(self, job: Job) -> None:
        """Cancel a job and delete its files."""
        self.cancel(job)
        with self._lock:
            self._jobs.pop(job.id, None)
        shutil.rmtree(job.folder, ignore_errors=True)
        if job.state != "failed":
            job.log.unlink(missing_ok=True)

    def close(self) -> None:
        """Cancel and delete all jobs."""
        for job in list(self._jobs.values()):
            self.delete(job)

    def _launch(
        self,
        kind: str,
        prepare: Prepare,
        limit: float,
        on_done: Callable[[Job], None],
        on_end: Callable[[], object],
    ) -> Job:
        job = Job(kind, self._folder / secrets.token_hex(16), limit, on_done, on_end)
        try:
            (job.folder / "out").mkdir(parents=True)
            job.request = prepare(job.folder)
            request = job.request | {"kind": kind, "memory": self._limits.memory}
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
            raise
        with self._lock:
            self._jobs[job.id] = job
        threading.Thread(
            target=self._handle_events, args=(job, json.dumps(request)), daemon=True
        ).start()
        self._delete_old()
        return job

    def _handle_events(self, job: Job, request: str) -> None:
        """Handle the events of a worker until it ends or reaches the time limit."""
        process: Any = job.process
        timed_out = threading.Event()

        def stop() -> None:
            timed_out.set()
            process.kill()

        timer = threading.Timer(job.limit, stop)
        timer.daemon = True
        timer.start()
        try:
            with suppress(OSError):  # it has ended, and its exit code is reported below
                process.stdin.write(f"{request}\n")
                process.stdin.flush()
            with process.stdout as lines:
                for line in lines:
                    job.receive(json.loads(line))
            code = process.wait()
            if job.state == "running" and job.result is not None:
                job.on_done(job)
                job.state = "done"
            elif job.state == "running" and not job.error:
                job.error = f"the worker {_describe_exit(code, job.log)}; see {job.log}"
                if timed_out.is_set():
                    job.error = f"the job was stopped at the limit of {job.limit:g} seconds"
        finally:
            timer.cancel()
            with suppress(OSError):  # a request that was not sent completely
                process.stdin.close()
            if job.state == "running":
                job.error = job.error or "the events of the job could not be read"
                job.state = "failed"
            job.took = time.monotonic() - job.started
            job.ended.set()
            job.on_end()

    def _delete_old(self) -> None:
        ended = [job for job in list(self._jobs.values()) if job.ended.is_set()]
        for job in ended[:-_KEPT]:
            self.delete(job)
        with suppress(FileNotFoundError):  # another thread deleted one
            logs = sorted(self._folder.glob("*.log"), key=lambda log: log.stat().st_mtime)
            for log in logs[: -2 * _KEPT]:
                log.unlink(missing_ok=True)


def _describe_exit(code: int, log: Path) -> str:
    """Return the exit code or signal of a process, with the last line of its log."""
    if -code == getattr(signal, "SIGKILL", None):  # not on Windows
        return "was killed by another program, or by the system for lack of memory"
    how = f"ended with exit code {code}" if code >= 0 else f"was killed by signal {-code}"
    lines = log.read_text(errors="replace").strip().splitlines() if log.is_file() else []
    return f"{how}: {lines[-1][:200]}" if lines else how
