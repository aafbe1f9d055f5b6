"""How many threads BLAS may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

#: Numbers in a problem from which more threads than one are worth their cost.
LARGE = 20_000_000


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
