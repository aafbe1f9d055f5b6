"""Where work is done: here, in local processes, or on a Dask cluster.

An executor applies a function to tasks and yields results as they finish, in any order, with only a few tasks
under way at a time. Workers keep nothing: a task that is lost with its worker is simply done again, up to
three times.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from l2t.exceptions import L2TError, MissingExtraError
from l2t.validation import whole_number

Task = TypeVar("Task")
Result = TypeVar("Result")

CONNECT_TIMEOUT = "10s"
#: Workers that may be lost with a task before it is given up.
MAX_LOST = 3


def _refuse(_: Any) -> None:
    raise L2TError(f"{MAX_LOST} workers were killed during one task; has it enough memory?")


@dataclass(frozen=True)
class Executor:
    """A number of local processes, or a Dask cluster by the address of its scheduler or by a client."""

    n_jobs: int
    cluster: Any = None

    def __post_init__(self) -> None:
        if self.cluster is None and self.n_jobs != -1:
            whole_number("n_jobs", self.n_jobs, least=1, otherwise=" or -1 for all cores")

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Iterable[Task],
        give_up: Callable[[Task], None] = _refuse,
    ) -> Iterator[Result]:
        """Yield the results as they finish, in any order; `give_up` gets a task that kills its workers."""
        from joblib import effective_n_jobs

        work = partial(_on_one_thread, function)
        if self.cluster is None and self.n_jobs == 1:
            return map(work, tasks)
        if self.cluster is None:
            return _in_processes(effective_n_jobs(self.n_jobs), work, tasks, give_up)
        return _on_cluster(self.cluster, work, tasks)


def _on_one_thread(function: Callable[[Task], Result], task: Task) -> Result:
    """Call the function with BLAS limited to one thread: the same bits everywhere, and no crowding."""
    with threadpool_limits(limits=1):
        return function(task)


def _in_processes(
    n_jobs: int, work: Callable[[Task], Result], tasks: Iterable[Task], give_up: Callable[..., None]
) -> Iterator[Result]:
    """Yield the results of pools of one process each, so that a lost process tells which task it had."""
    from joblib.externals.loky import ProcessPoolExecutor  # here: most programs need no processes

    waiting = ((task, 0) for task in tasks)
    running: dict[Any, tuple[Any, Task, int]] = {}

    def start(pool: Any, task: Task, lost: int) -> None:
        pool = pool or ProcessPoolExecutor(1, initializer=_end_with, initargs=(os.getpid(),))
        with _interrupts_blocked():  # while the process starts, which inherits it
            running[pool.submit(work, task)] = pool, task, lost

    try:
        for task, lost in islice(waiting, n_jobs):
            start(None, task, lost)
        while running:
            future = next(iter(wait(running, return_when=FIRST_COMPLETED).done))
            pool, task, lost = running[future]
            broken = isinstance(future.exception(), BrokenProcessPool)
            again = [(task, lost + 1)] if broken and lost + 1 < MAX_LOST else islice(waiting, 1)
            if broken:
                pool.shutdown(kill_workers=True)
            for following in again:  # before the result is used: nobody waits
                start(None if broken else pool, *following)
            del running[future]
            if pool not in {each for each, *_ in running.values()}:
                pool.shutdown(kill_workers=True)
            if not broken:
                yield future.result()
            elif lost + 1 == MAX_LOST:
                give_up(task)
    finally:
        for pool, *_ in running.values():
            pool.shutdown(kill_workers=True)


def _end_with(parent: int) -> None:
    """End this worker when its parent is gone, which may have been killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C for a moment; a process that starts meanwhile leaves it to this one for good."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _on_cluster(
    cluster: Any, work: Callable[[Task], Result], tasks: Iterable[Task]
) -> Iterator[Result]:
    """Yield the results of a Dask cluster; tasks of a lost worker are done again by another.

    joblib's own backend for Dask would not do: it leaves tasks with one worker, and loses them with it.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise MissingExtraError("a Dask cluster", "dask") from None
    connected: Any = nullcontext(cluster)
    if isinstance(cluster, str):
        try:
            connected = Client(cluster, timeout=CONNECT_TIMEOUT)
        except (OSError, ValueError) as error:
            raise L2TError(f"no Dask scheduler answers at {cluster}: {error}") from None
    with connected as client:
        submit = partial(client.submit, work, pure=False)
        waiting = iter(tasks)
        ahead = 2 * max(1, sum(client.nthreads().values()))
        futures = as_completed(map(submit, islice(waiting, ahead)))
        for future in futures:
            yield future.result()
            futures.update(map(submit, islice(waiting, 1)))
