"""What was computed stays until the store changes."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

__all__ = ["Memo"]

T = TypeVar("T")
_MOST = 256


@dataclass(eq=False)
class _Answer:
    lock: threading.Lock = field(default_factory=threading.Lock)
    state: object = None
    fresh_until: float = 0.0
    value: Any = None


class Memo:
    """Answers by key; another value of `state()`, which is never None, makes them out of date."""

    def __init__(self, state: Callable[[], object]) -> None:
        self._state = state
        self._answers: OrderedDict[Hashable, _Answer] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], T], *, fresh_for: float = 0.0) -> T:
        """Return the answer for a key; of many who ask at once, one computes it and the others wait.

        An answer younger than `fresh_for` seconds is given also where the store has changed since, so that
        one which grows all the time does not keep the server busy.
        """
        state = self._state()
        with self._lock:
            answer = self._answers.setdefault(key, _Answer())
            self._answers.move_to_end(key)
            while len(self._answers) > _MOST:
                self._answers.popitem(last=False)
        with answer.lock:
            if answer.state != state and time.monotonic() >= answer.fresh_until:
                answer.value = compute()
                answer.state, answer.fresh_until = state, time.monotonic() + fresh_for
            return answer.value  # type: ignore[no-any-return]
