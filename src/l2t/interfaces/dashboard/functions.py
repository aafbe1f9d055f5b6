"""Which reflection functions there are to show and to use: shipped, from files, and of the agent."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from l2t.exceptions import FileFormatError, StoreError
from l2t.experiences import ExperienceStore, FunctionVersion
from l2t.interfaces.dashboard.errors import Refused
from l2t.reflection import ReflectionFunction, load_reflection
from l2t.reflection.files import from_json, shipped

__all__ = ["LEARNED_HERE", "Functions", "Known", "Version", "Versions", "name_of_version"]

#: The name of the function that a learning curve leaves behind.
LEARNED_HERE = "this store"
#: The name of the version that the agent uses; others have a number, too.
AGENT = "agent"
_ORIGINS = {
    "given": "what the agent began with",
    "learned": "learned from all runs",
    "refined": "refined by new runs",
    "recent": "learned from the newest runs",
}


@dataclass(frozen=True, eq=False)
class Known:
    """A reflection function with its name, and whether it may have learned from any pair of the store."""

    name: str
    function: ReflectionFunction
    origin: str
    learned_at: datetime | None = None
    seen: bool = False


@dataclass(frozen=True, eq=False)
class Version:
    """What is told of a version, without its content, and its function if this package can read it."""

    told: FunctionVersion
    function: ReflectionFunction | None


class Versions:
    """All versions in an agent's store, the oldest first; each is read and parsed once."""

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


class Functions:
    """All reflection functions that a dashboard knows: shipped, of files, learned here, and of the agent.

    Files are read once, so that an error in one is raised at the start.
    """

    def __init__(self, files: Iterable[Path], store: ExperienceStore) -> None:
        ship = [Known(name, load_reflection(name), "ships with the package") for name in shipped()]
        self._given = _distinct([*ship, *(_read(path) for path in files)])
        self._learned: Known | None = None
        self.versions = Versions(store)

    def all(self) -> dict[str, Known]:
        """Return the functions by name."""
        learned = [] if self._learned is None else [self._learned]
        return {each.name: each for each in (*self._given, *learned, *self._of_agent())}

    def get(self, name: str) -> Known:
        """Return one of them."""
        known = self.all()
        if name not in known:
            there = ", ".join(known)
            raise Refused(404, f"no reflection function is called {name!r:.80}; there are {there}")
        return known[name]

    def latest(self) -> Known:
        """Return the one that was learned last; what ships where no time is known.

        A version that the agent does not use is not among them.
        """
        start = datetime.min.replace(tzinfo=UTC)
        used = (each for name, each in self.all().items() if not name.startswith(f"{AGENT}, "))
        return max(used, key=lambda each: each.learned_at or start)

    def keep_learned(self, function: ReflectionFunction) -> None:
        """Keep the function that was learned from the pairs that are not held out."""
        origin = "learned here from the pairs that are not held out"
        self._learned = Known(LEARNED_HERE, function, origin, datetime.now(UTC))

    def _of_agent(self) -> Iterable[Known]:
        """Give the version in use, then the others, the newest first."""
        versions = self.versions.readable()
        used = self.versions.in_use(versions)
        for each in sorted(versions, key=lambda v: (v.told.number != used, -v.told.number)):
            if each.function is not None:
                told = learned = each.told
                while learned.origin == "gone back" and learned.parent is not None:
                    learned = versions[learned.parent - 1].told
                origin = _ORIGINS.get(told.origin, f"version {told.parent}, taken up again")
                yield Known(
                    name_of_version(told.number, used),
                    each.function,
                    f"version {told.number}: {origin}",
                    None if learned.origin == "given" else learned.created_at,
                    seen=learned.n_runs > 0,
                )


def name_of_version(number: int, used: int) -> str:
    """Return what a version of the agent's function is called, given the number of the one in use."""
    return AGENT if number == used else f"{AGENT}, version {number}"


def _function(content: str) -> ReflectionFunction | None:
    try:
        return from_json(content)
    except FileFormatError:  # of a newer package, say
        return None


def _read(path: Path) -> Known:
    function = load_reflection(path)
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return Known(path.stem, function, f"file {path.name}", changed)


def _distinct(known: list[Known]) -> list[Known]:
    """Give a number to names that were there before, or that are of other sources."""
    found: dict[str, Known] = {}
    for each in known:
        stem = f"file {each.name}" if each.name.startswith(f"{AGENT}, ") else each.name
        name, number = stem, 2
        while name in found or name in (LEARNED_HERE, AGENT):
            name, number = f"{stem} {number}", number + 1
        found[name] = replace(each, name=name)
    return list(found.values())
