"""What was computed stays until the store changes."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

__all__ = ["Memo"]

T = TypeVar("T")
_MOST = 256


class Memo:
    """Answers by key, each with the state of the store that it was computed from.

    Parameters
    ----------
    state : callable
        Tells the state; another value makes every answer out of date.
    """

    def __init__(self, state: Callable[[], object]) -> None:
        self._state = state
        self._answers: OrderedDict[Hashable, tuple[object, float, Any]] = OrderedDict()
        self._locks: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], T], *, fresh_for: float = 0.0) -> T:
        """Return the answer for a key; of many who ask at once, one computes it and the others wait.

        An answer younger than `fresh_for` seconds is given also where the store has changed since, so that
        one which grows all the time does not keep the server busy.
        """
        state = self._state()
        with self._lock:
            turn = self._locks.setdefault(key, threading.Lock())
        with turn:
            with self._lock:
                found = self._answers.get(key)
                if found is not None and (found[0] == state or time.monotonic() < found[1]):
                    self._answers.move_to_end(key)
                    return found[2]  # type: ignore[no-any-return]
            answer = compute()
            with self._lock:
                self._answers[key] = (state, time.monotonic() + fresh_for, answer)
                while len(self._answers) > _MOST:
                    gone, _ = self._answers.popitem(last=False)
                    self._locks.pop(gone, None)
            return answer
