"""What the agent knows from its store: the function in use, and the classes of labelled past targets."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime

from l2t.domains import Domain, KnownClasses
from l2t.exceptions import InvalidInputError
from l2t.experiences import ExperienceStore, FunctionVersion
from l2t.reflection import ReflectionFunction, load_reflection
from l2t.reflection.files import from_json, to_json

#: The classes of so many past targets are known, the newest ones: rehearsal takes longer with more rows.
MAX_TARGETS = 200


class Knowledge:
    """What a store holds for an agent; `start` becomes version 1 where the store has none."""

    def __init__(
        self, store: ExperienceStore, start: ReflectionFunction | str | os.PathLike[str] | None
    ) -> None:
        self._store = store
        self._start = start
        self._function: tuple[int, ReflectionFunction | None] = (0, None)
        self._targets: dict[str, Domain] = {}

    def function(self) -> tuple[int, ReflectionFunction | None]:
        """Return the version and the function in use; (0, None) where there is none yet."""
        used = self._store.function()
        if used is None and self._start is not None:
            start = self._start
            given = start if isinstance(start, ReflectionFunction) else load_reflection(start)
            first = FunctionVersion(1, None, "given", 0, 0, None, None, True, to_json(given))
            self._store.add_function(first)  # or another process was quicker
            used = self._store.function()
        if used is not None and self._function[0] != used.number:
            self._function = used.number, from_json(used.content)
        return self._function

    def classes(self, n_features: int) -> KnownClasses:
        """Return the classes of the newest labelled targets with so many features."""
        runs = list(self._store.target_runs(n_features=n_features).items())[-MAX_TARGETS:]
        self._targets = {
            target: self._targets[target] if target in self._targets else self._store.target(key)
            for target, key in runs
        }
        return KnownClasses(self._targets.values())

    def go_back(self, version: int) -> FunctionVersion:
        """Put an earlier version into use again, as the newest one."""
        self.function()
        while True:
            chosen, newest = self._store.function(version), self._store.newest_function()
            if chosen is None or newest is None:
                last = 0 if newest is None else newest.number
                raise InvalidInputError(f"version must be one of 1 to {last}, got {version!r}")
            again = replace(
                chosen,
                number=newest.number + 1,
                parent=chosen.number,
                origin="rolled back",
                n_runs=newest.n_runs,
                took_over=True,
                created_at=datetime.now(UTC),
            )
            if self._store.add_function(again):
                return again
