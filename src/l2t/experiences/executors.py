"""Executors: run tasks in this process, in local processes, or on a Dask cluster.

An executor applies a function to tasks and yields results as they finish, in any order, with only a few tasks
submitted at a time. Workers are stateless: a task whose worker is killed is repeated, up to three times.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from threadpoolctl import threadpool_limits

from l2t.exceptions import L2TError, MissingExtraError
from l2t.numerics import one_thread
from l2t.validation import whole_number

if TYPE_CHECKING:
    from distributed import Client
    from joblib.externals.loky import ProcessPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

CONNECT_TIMEOUT = "10s"
#: A task is given up when its worker was killed this many times.
MAX_LOST = 3


def _raise_killed(_: object) -> None:
    raise L2TError(f"the worker of a task was killed {MAX_LOST} times; is there enough memory?")


@dataclass(frozen=True)
class Executor:
    """Local processes, or a Dask cluster given by the address of its scheduler or by a client."""

    n_jobs: int
    cluster: str | Client | None = None

    def __post_init__(self) -> None:
        if self.cluster is None and self.n_jobs != -1:
            whole_number("n_jobs", self.n_jobs, least=1, otherwise=" or -1 for all cores")

    def map(
        self,
        function: Callable[[Item], Result],
        tasks: Iterable[Item],
        give_up: Callable[[Item], None] = _raise_killed,
    ) -> Iterator[Result]:
        """Yield results as they finish, in any order; `give_up` is called with a task that is given up."""
        from joblib import effective_n_jobs

        if self.cluster is None and self.n_jobs == 1:
            return map(partial(_on_one_blas_thread, function), tasks)
        work = partial(_on_one_thread, function)
        if self.cluster is None:
            return _in_processes(effective_n_jobs(self.n_jobs), work, tasks, give_up)
        return _on_cluster(self.cluster, work, tasks)


def _on_one_blas_thread(function: Callable[[Item], Result], task: Item) -> Result:
    """Call the function with one BLAS thread, for reproducible results."""
    with threadpool_limits(limits=1):
        return function(task)


def _on_one_thread(function: Callable[[Item], Result], task: Item) -> Result:
    """Call the function with one thread, as there is a worker for each core."""
    with one_thread():
        return function(task)


def _in_processes(
    n_jobs: int, work: Callable[[Item], Result], tasks: Iterable[Item], give_up: Callable[..., None]
) -> Iterator[Result]:
    """Yield the results of pools of one process each, so that the task of a killed process is known."""
    from joblib.externals.loky import ProcessPoolExecutor  # slow to import

    waiting = ((task, 0) for task in tasks)
    running: dict[Future[Result], tuple[ProcessPoolExecutor, Item, int]] = {}

    def start(pool: ProcessPoolExecutor | None, task: Item, lost: int) -> None:
        parent = os.getpid()
        pool = pool or ProcessPoolExecutor(1, initializer=_prepare_worker, initargs=(parent,))
        with _interrupts_blocked():  # inherited by the process that starts here
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
            for following in again:  # before the result is yielded, so that the process is not idle
                start(None if broken else pool, *following)
            del running[future]
            if pool not in {busy for busy, *_ in running.values()}:
                pool.shutdown(kill_workers=True)
            if not broken:
                yield future.result()
            elif lost + 1 == MAX_LOST:
                give_up(task)
    finally:
        for pool, *_ in running.values():
            pool.shutdown(kill_workers=True)


def _prepare_worker(parent: int) -> None:
    """Ignore Ctrl-C in this worker, and let it exit when its parent has exited or was killed.

    Blocking the signal while a worker starts is not enough: starting the resource tracker of multiprocessing
    unblocks it, and a worker that is interrupted while it sends a result makes its parent wait for ever.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C inside; a process that starts there keeps it blocked, and leaves it to this one."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _on_cluster(
    cluster: str | Client, work: Callable[[Item], Result], tasks: Iterable[Item]
) -> Iterator[Result]:
    """Yield the results of a Dask cluster; tasks of a lost worker are repeated by another.

    The Dask backend of joblib does not repeat the tasks of a lost worker.
    """
    try:
        from distributed import Client
        from distributed.comm import CommClosedError
    except ImportError:
        raise MissingExtraError("a Dask cluster", "dask") from None
    connected: AbstractContextManager[Client] = nullcontext(cluster)
    if isinstance(cluster, str):
        try:
            connected = Client(cluster, timeout=CONNECT_TIMEOUT)
        except (OSError, ValueError) as error:
            raise L2TError(f"cannot connect to a Dask scheduler at {cluster}: {error}") from None
    log = logging.getLogger("distributed.client")
    level = log.level
    try:
        with connected as client:
            try:
                yield from _as_completed(client, work, tasks)
            except Exception as error:
                lost = isinstance(error, CancelledError | CommClosedError)
                if client.status == "running" and not lost:
                    raise  # an error of a task
                log.setLevel(logging.CRITICAL)  # closing a client that reconnects logs a traceback
                raise L2TError(
                    "the connection to the Dask scheduler was lost; what it finished before is kept, "
                    "and the same call resumes from there"
                ) from None
    finally:
        log.setLevel(level)


def _as_completed(
    client: Client, work: Callable[[Item], Result], tasks: Iterable[Item]
) -> Iterator[Result]:
    """Yield the results of a Dask client in any order, with two tasks per thread submitted at a time."""
    from distributed import as_completed

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # what is bound to the function
        # A task of its own, so that each worker gets the function once, and a lost one is made again.
        sent = client.submit(_itself, work, pure=False)
    submit = partial(client.submit, _call, sent, pure=False)
    waiting = iter(tasks)
    ahead = 2 * max(1, sum(client.nthreads().values()))
    futures = as_completed(map(submit, islice(waiting, ahead)))
    for future in futures:
        yield future.result()
        futures.update(map(submit, islice(waiting, 1)))


def _itself(work: Callable[[Item], Result]) -> Callable[[Item], Result]:
    return work


def _call(work: Callable[[Item], Result], task: Item) -> Result:
    return work(task)
