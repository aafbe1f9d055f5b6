"""Threads: limits on those of BLAS, and a parallel map."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: The number of values from which several BLAS threads are faster than one.
LARGE = 20_000_000
#: The number of items from which `in_threads` uses threads.
SEVERAL = 4
#: Whether this code runs in `one_thread`.
_IN_WORKER = ContextVar("l2t_in_worker", default=False)


@contextmanager
def few_threads(size: int) -> Iterator[None]:
    """Limit BLAS to one thread for a problem of `size` values, unless it is large.

    On a busy machine, the threads of a small problem spend most of their time waiting for each other.
    """
    if size >= LARGE:
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and `in_threads` to one thread: for a worker, beside which others use the other cores."""
    from threadpoolctl import threadpool_limits

    token = _IN_WORKER.set(True)
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        _IN_WORKER.reset(token)


def in_threads(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Apply a function to each item in parallel threads, each with one BLAS thread."""
    if len(items) < SEVERAL or _IN_WORKER.get():
        return [function(item) for item in items]
    from joblib import cpu_count
    from threadpoolctl import threadpool_limits

    n_threads = cpu_count(only_physical_cores=True)
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))
