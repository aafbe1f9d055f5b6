"""The versions of the agent's function, each read and parsed once: they never change."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

from l2t.exceptions import FileFormatError, StoreError
from l2t.experiences import ExperienceStore, FunctionVersion
from l2t.reflection import ReflectionFunction
from l2t.reflection.files import from_json

__all__ = ["Version", "Versions"]


@dataclass(frozen=True, eq=False)
class Version:
    """What is told of a version, without its content, and its function if this package can read it."""

    told: FunctionVersion
    function: ReflectionFunction | None


class Versions:
    """All versions in a store, the oldest first.

    Parameters
    ----------
    store : ExperienceStore
        The agent's.
    """

    def __init__(self, store: ExperienceStore) -> None:
        self._store = store
        self._read: list[Version] = []
        self._lock = threading.Lock()

    def all(self) -> list[Version]:
        """Return them; those that are new are read first."""
        with self._lock:
            while (found := self._store.function(len(self._read) + 1)) is not None:
                self._read.append(Version(replace(found, content=""), _function(found.content)))
            return list(self._read)

    def readable(self) -> list[Version]:
        """Return those before one that is damaged, if there is one."""
        try:
            return self.all()
        except StoreError:
            return list(self._read)

    @staticmethod
    def in_use(versions: list[Version]) -> int:
        """Return the number of the version in use; 0 where there is none."""
        return max((each.told.number for each in versions if each.told.took_over), default=0)


def _function(content: str) -> ReflectionFunction | None:
    try:
        return from_json(content)
    except FileFormatError:  # of a newer package, say
        return None
