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
from typing import Any, Protocol, TypeVar

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from l2t.exceptions import L2TError, MissingExtraError
from l2t.validation import whole_number

__all__ = ["Dask", "Executor", "Processes", "Serial", "choose_executor"]

Task = TypeVar("Task")
Result = TypeVar("Result")

CONNECT_TIMEOUT = "10s"


class Executor(Protocol):
    """Something that applies a function to tasks."""

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield the results as they finish, in any order."""
        ...


def choose_executor(n_jobs: int, cluster: Any) -> Executor:
    """Return the executor for the arguments of `collect`."""
    if cluster is not None:
        return Dask(cluster)
    if n_jobs != -1:
        whole_number("n_jobs", n_jobs, least=1, otherwise=" or -1 for all cores")
    return Serial() if n_jobs == 1 else Processes(n_jobs)


def _on_one_thread(function: Callable[[Task], Result], task: Task) -> Result:
    """Call the function with BLAS kept to one thread: the same bits everywhere, and no crowding."""
    with threadpool_limits(limits=1):
        return function(task)


@dataclass(frozen=True)
class Serial:
    """One task after the other, in this process."""

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield the results in order."""
        for task in tasks:
            yield _on_one_thread(function, task)


@dataclass(frozen=True)
class Processes:
    """Local processes (joblib)."""

    n_jobs: int

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield the results as they finish."""
        parallel = Parallel(
            n_jobs=self.n_jobs,
            return_as="generator_unordered",
            pre_dispatch="2 * n_jobs",
            batch_size=1,
        )
        with _interrupts_held_back():  # while processes start, which keep it that way
            results = parallel(delayed(_on_one_thread)(function, task) for task in tasks)
        yield from results


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back for a moment; a process that starts meanwhile leaves it to this one for good."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True)
class Dask:
    """A Dask cluster, by the address of its scheduler or by a client.

    joblib's own backend for Dask would not do: it leaves tasks with one worker, and loses them with it.
    """

    cluster: Any

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield the results as they finish; tasks of a lost worker are done again by another."""
        try:
            from distributed import Client, as_completed
        except ImportError:
            raise MissingExtraError("a Dask cluster", "dask") from None
        connected: Any = nullcontext(self.cluster)
        if isinstance(self.cluster, str):
            try:
                connected = Client(self.cluster, timeout=CONNECT_TIMEOUT)
            except (OSError, ValueError) as error:
                raise L2TError(f"no Dask scheduler answers at {self.cluster}: {error}") from None
        with connected as client:
            submit = partial(client.submit, _on_one_thread, function, pure=False)
            waiting = iter(tasks)
            ahead = 2 * max(1, sum(client.nthreads().values()))
            futures = as_completed(map(submit, islice(waiting, ahead)))
            for future in futures:
                yield future.result()
                futures.update(map(submit, islice(waiting, 1)))
