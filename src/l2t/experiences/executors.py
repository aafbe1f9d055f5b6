"""Where work is done: here, in local processes, or on a Dask cluster.

An executor applies a function to tasks and yields results as they finish, in any order, with only a few tasks
under way at a time. Workers keep nothing: a task that is lost with its worker is simply done again.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from l2t.exceptions import L2TError, MissingExtraError
from l2t.validation import whole_number

__all__ = ["Executor", "choose_executor"]

Task = TypeVar("Task")
Result = TypeVar("Result")

CONNECT_TIMEOUT = "10s"


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

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield the results as they finish, in any order."""
        work = partial(_on_one_thread, function)
        if self.cluster is not None:
            return _on_cluster(self.cluster, work, tasks)
        return map(work, tasks) if self.n_jobs == 1 else _in_processes(self.n_jobs, work, tasks)


def _on_one_thread(function: Callable[[Task], Result], task: Task) -> Result:
    """Call the function with BLAS limited to one thread: the same bits everywhere, and no crowding."""
    with threadpool_limits(limits=1):
        return function(task)


def _in_processes(
    n_jobs: int, work: Callable[[Task], Result], tasks: Iterable[Task]
) -> Iterator[Result]:
    unordered: Any = {"return_as": "generator_unordered", "pre_dispatch": "2 * n_jobs"}
    parallel = Parallel(n_jobs=n_jobs, batch_size=1, **unordered)
    with _interrupts_blocked():  # while processes start, which inherit it
        results = parallel(delayed(work)(task) for task in tasks)
    yield from results


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
