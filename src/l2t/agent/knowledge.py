"""What the agent knows from its store: the function in use, and the labelled targets of the past.

Both are kept between questions and follow what others add to the store.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from l2t.exceptions import InvalidInputError
from l2t.experiences import ExperienceStore, FunctionVersion
from l2t.inference import PastTargets
from l2t.reflection import ReflectionFunction, load_reflection
from l2t.reflection.files import from_json, to_json
from l2t.statistics import KernelBank

__all__ = ["Knowledge", "Known"]

#: The neighbours of tau where no function says another number.
NEIGHBORS = 5
#: Past targets are forgotten so many at a time, when twice as many newer ones have come.
REMEMBERED = 500
#: With more features the metric of the past would take longer than all the rest of an answer.
MOST_FEATURES = 2048


@dataclass(frozen=True, eq=False)
class Known:
    """The function in use, and its version."""

    number: int
    function: ReflectionFunction


class Knowledge:
    """What is to be known from a store.

    Parameters
    ----------
    store : ExperienceStore
        Where everything is kept.
    start : ReflectionFunction, str, path or None
        What becomes version 1 where the store has none.
    """

    def __init__(
        self,
        store: ExperienceStore,
        start: ReflectionFunction | str | os.PathLike[str] | None,
    ) -> None:
        self._store = store
        self._start = start
        self._function: Known | None = None
        self._past = _Past(PastTargets.none(0))

    def function(self) -> Known | None:
        """Return the function in use; what the agent begins with becomes version 1."""
        used = self._store.function()
        if used is None and self._start is not None:
            start = self._start
            given = start if isinstance(start, ReflectionFunction) else load_reflection(start)
            first = FunctionVersion(1, None, "given", 0, 0, None, None, True, to_json(given))
            self._store.add_function(first)  # or another was quicker
            used = self._store.function()
        if used is None:
            return None
        if self._function is None or self._function.number != used.number:
            self._function = Known(used.number, from_json(used.content))
        return self._function

    def past(self, n_features: int) -> PastTargets | None:
        """Return what the labelled targets of the past say; None without them, or with too many features."""
        if n_features > MOST_FEATURES:
            return None
        runs = [*self._store.target_runs(n_features=n_features).items()]
        runs = runs[max(len(runs) // REMEMBERED - 1, 0) * REMEMBERED :]
        kept = self._past
        if kept.past.n_features != n_features or not kept.targets <= {each for each, _ in runs}:
            kept = _Past(PastTargets.none(n_features))
        new = {target: key for target, key in runs if target not in kept.targets}
        if new:
            past = kept.past.and_also(self._store.target(key) for key in new.values())
            kept = _Past(past, kept.targets | new.keys())
        self._past = kept
        return kept.past if kept.past.n_classes else None

    def measures(self) -> tuple[KernelBank, int]:
        """Return the kernels and the number of neighbours that statistics are taken with."""
        known = self.function()
        if known is None:
            return KernelBank(), NEIGHBORS
        return known.function.kernels, known.function.n_neighbors

    def go_back(self, version: int) -> FunctionVersion:
        """Take a version of before into use again, as the newest one."""
        self.function()
        while True:
            chosen, newest = self._store.function(version), self._store.newest_function()
            if chosen is None or newest is None:
                there = 0 if newest is None else newest.number
                raise InvalidInputError(f"version must be one of 1 to {there}, got {version!r}")
            again = replace(
                chosen,
                number=newest.number + 1,
                parent=chosen.number,
                origin="gone back",
                n_runs=newest.n_runs,
                took_over=True,
                created_at=datetime.now(UTC),
            )
            if self._store.add_function(again):
                return again


@dataclass(frozen=True, eq=False)
class _Past:
    """What the targets with some fingerprints say."""

    past: PastTargets
    targets: frozenset[str] = field(default_factory=frozenset)
