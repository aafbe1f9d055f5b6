"""How many threads BLAS may use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: Numbers in a problem from which more threads than one are worth their cost.
LARGE = 20_000_000
#: Items from which threads of our own are worth their cost.
SEVERAL = 4


@contextmanager
def few_threads(size: int) -> Iterator[None]:
    """Keep BLAS to one thread while a problem of `size` numbers is solved, unless it is large.

    On a busy machine the threads of a small problem spend most of their time waiting for each other.
    """
    if size >= LARGE:
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


def in_threads(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Return what a function of numpy makes of each item: several at once, each on one thread of BLAS."""
    if len(items) < SEVERAL:
        return [function(item) for item in items]
    from joblib import cpu_count
    from threadpoolctl import threadpool_limits

    n_threads = cpu_count(only_physical_cores=True)
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))
