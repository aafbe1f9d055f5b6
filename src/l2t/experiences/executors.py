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
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from joblib import effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor
from threadpoolctl import threadpool_limits

from l2t.exceptions import L2TError, MissingExtraError
from l2t.validation import whole_number

__all__ = ["Executor", "choose_executor"]

Task = TypeVar("Task")
Result = TypeVar("Result")

CONNECT_TIMEOUT = "10s"
#: Workers that may be lost with a task before it is given up.
MAX_LOST = 3


def choose_executor(n_jobs: int, cluster: Any) -> Executor:
    """Return the executor for the arguments of `collect`."""
    if cluster is None and n_jobs != -1:
        whole_number("n_jobs", n_jobs, least=1, otherwise=" or -1 for all cores")
    return Executor(n_jobs, cluster)


@dataclass(frozen=True)
class Executor:
    """A number of local processes, or a Dask cluster by the address of its scheduler or by a client."""

    n_jobs: int
    cluster: Any = None

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Iterable[Task],
        give_up: Callable[[Task], None] | None = None,
    ) -> Iterator[Result]:
        """Yield the results as they finish, in any order.

        `give_up` is called with a task with which three workers were lost; by default that is an error.
        """
        work = partial(_on_one_thread, function)
        lost = give_up or _refuse
        if self.cluster is not None:
            return _on_cluster(self.cluster, work, tasks, lost)
        return (
            map(work, tasks) if self.n_jobs == 1 else _in_processes(self.n_jobs, work, tasks, lost)
        )


def _refuse(_: Any) -> None:
    raise L2TError(
        f"{MAX_LOST} worker processes were killed during the same task; is there enough memory for it?"
    )


def _on_one_thread(function: Callable[[Task], Result], task: Task) -> Result:
    """Call the function with BLAS limited to one thread: the same bits everywhere, and no crowding."""
    with threadpool_limits(limits=1):
        return function(task)


def _in_processes(
    n_jobs: int,
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    give_up: Callable[[Task], None],
) -> Iterator[Result]:
    """Yield the results of pools of one process each, so that a lost process tells which task it had."""
    waiting = iter(tasks)
    pools: set[Any] = set()
    running: dict[Future[Result], tuple[Any, Task, int]] = {}

    def start(pool: Any, task: Task, lost: int = 0) -> None:
        pools.add(pool)
        with _interrupts_blocked():  # while the process starts, which inherits it
            running[pool.submit(work, task)] = pool, task, lost

    def new_pool() -> Any:
        return ProcessPoolExecutor(1, initializer=_end_with, initargs=(os.getpid(),))

    try:
        for task in islice(waiting, effective_n_jobs(n_jobs)):
            start(new_pool(), task)
        while running:
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                pool, task, lost = running.pop(future)
                broken = isinstance(future.exception(), BrokenProcessPool)
                if broken:
                    pools.remove(pool)
                    pool.shutdown(kill_workers=True)
                    pool = new_pool()
                    if lost + 1 < MAX_LOST:
                        start(pool, task, lost + 1)
                        continue
                for following in islice(waiting, 1):  # before the result is used: nobody waits
                    start(pool, following)
                if broken:
                    give_up(task)
                else:
                    yield future.result()
    finally:
        for pool in pools:
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
    cluster: Any,
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    give_up: Callable[[Task], None],
) -> Iterator[Result]:
    """Yield the results of a Dask cluster; tasks of a lost worker are done again by another.

    joblib's own backend for Dask would not do: it leaves tasks with one worker, and loses them with it.
    """
    try:
        from distributed import Client, as_completed
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise MissingExtraError("a Dask cluster", "dask") from None
    connected: Any = nullcontext(cluster)
    if isinstance(cluster, str):
        try:
            connected = Client(cluster, timeout=CONNECT_TIMEOUT)
        except (OSError, ValueError) as error:
            raise L2TError(f"no Dask scheduler answers at {cluster}: {error}") from None
    with connected as client:
        waiting, under_way = iter(tasks), {}

        def submit(task: Task) -> Any:
            future = client.submit(work, task, pure=False)
            under_way[future.key] = task
            return future

        ahead = 2 * max(1, sum(client.nthreads().values()))
        futures = as_completed(map(submit, islice(waiting, ahead)))
        for future in futures:
            task = under_way.pop(future.key)
            if isinstance(future.exception(), KilledWorker):  # Dask has tried it three times, too
                give_up(task)
            else:
                yield future.result()
            futures.update(map(submit, islice(waiting, 1)))
