"""A cache in memory that threads can share."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class LRUCache(Generic[T]):
    """The values of the keys that were used last, at most `size` of them.

    Examples
    --------
    >>> squares = LRUCache(2)
    >>> [squares.get(str(n), lambda n=n: n * n) for n in (3, 4)]
    [9, 16]
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, compute: Callable[[], T]) -> T:
        """Return the value of a key, computed if it is not cached.

        Other threads do not wait for the computation: two that ask for a new key at once both compute it.
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = compute()
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)
        return value
