"""Timing: the best of several runs, and of several actions that take turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

__all__ = ["best_of", "side_by_side"]

Result = TypeVar("Result")


def best_of(action: Callable[[], Result], repeats: int = 7) -> tuple[float, Result]:
    """Return the shortest of several runs in seconds, and the last result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = action()
        times.append(time.perf_counter() - start)
    return min(times), result


def side_by_side(
    actions: Sequence[Callable[[], Any]], *, turns: int = 15, runs: int = 5
) -> list[float]:
    """Return the shortest processor time of each action in seconds; they take turns of some runs each."""
    best = [float("inf")] * len(actions)
    for _ in range(turns):
        for at, action in enumerate(actions):
            for _ in range(runs):
                start = time.process_time()
                action()
                best[at] = min(best[at], time.process_time() - start)
    return best
