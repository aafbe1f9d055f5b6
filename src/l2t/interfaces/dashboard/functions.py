"""The reflection functions of a dashboard: shipped, from files, learned here, and the agent's versions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from l2t.exceptions import FileFormatError, StoreError
from l2t.experiences import ExperienceStore, FunctionVersion
from l2t.interfaces.dashboard.errors import Refused
from l2t.paper import ReflectionFunction, load_reflection
from l2t.paper.files import from_json, shipped

#: The name of the function from a learning curve.
LEARNED_HERE = "this store"
#: The name of the agent's version in use; names of other versions have a number as well.
AGENT = "agent"
_ORIGINS = {
    "given": "initial function",
    "learned": "learned from the runs of the store",
    "refined": "forecast refined with few runs",
}


@dataclass(frozen=True, eq=False)
class NamedFunction:
    """A reflection function with its name; `seen` if it may have been learned from pairs of the store."""

    name: str
    function: ReflectionFunction
    origin: str
    learned_at: datetime | None = None
    seen: bool = False


class Functions:
    """All reflection functions of a dashboard; files are read once, at the start."""

    def __init__(self, files: Iterable[Path], store: ExperienceStore) -> None:
        origin = "ships with the package"
        ship = [NamedFunction(name, load_reflection(name), origin) for name in shipped()]
        self._given = _distinct([*ship, *(_read(path) for path in files)])
        self._learned: list[NamedFunction] = []
        self._store = store

    def all(self) -> dict[str, NamedFunction]:
        """Return the functions by name."""
        try:
            versions = self._store.functions()
        except StoreError:  # that part of the store is damaged
            versions = []
        found = (*self._given, *self._learned, *_of_agent(versions))
        return {each.name: each for each in found}

    def get(self, name: str) -> NamedFunction:
        """Return the function of that name."""
        found = self.all()
        if name not in found:
            names = ", ".join(found)
            raise Refused(404, f"name must be one of {names}, got {name!r:.80}")
        return found[name]

    def latest(self) -> NamedFunction:
        """Return the function in use that was learned last; a shipped one if no time is known."""
        start = datetime.min.replace(tzinfo=UTC)
        used = (each for name, each in self.all().items() if not name.startswith(f"{AGENT}, "))
        return max(used, key=lambda each: each.learned_at or start)

    def add_learned(self, function: ReflectionFunction) -> None:
        """Add the function of a learning curve, learned from the pairs that are not held out."""
        origin = "learned here from the pairs that are not held out"
        self._learned = [NamedFunction(LEARNED_HERE, function, origin, datetime.now(UTC))]


def number_in_use(versions: list[FunctionVersion]) -> int:
    """Return the number of the version in use; 0 if there is none."""
    return max((each.number for each in versions if each.took_over), default=0)


def version_name(number: int, used: int) -> str:
    """Return the name of a version of the agent's function, given the number of the one in use."""
    return AGENT if number == used else f"{AGENT}, version {number}"


def _of_agent(versions: list[FunctionVersion]) -> Iterable[NamedFunction]:
    """Yield the readable versions: first the one in use, then the others, the newest first."""
    used = number_in_use(versions)
    for version in sorted(versions, key=lambda each: (each.number != used, -each.number)):
        function = _parsed(version.content)
        if function is None:
            continue
        learned = version
        while learned.origin == "rolled back" and learned.parent is not None:
            learned = versions[learned.parent - 1]
        origin = _ORIGINS.get(version.origin, f"version {version.parent}, used again")
        yield NamedFunction(
            version_name(version.number, used),
            function,
            f"version {version.number}: {origin}",
            None if learned.origin == "given" else learned.created_at,
            seen=learned.n_runs > 0,
        )


@lru_cache(maxsize=1000)
def _parsed(content: str) -> ReflectionFunction | None:
    """Return the function of a version; None if it cannot be read, as from a newer package."""
    try:
        return from_json(content)
    except FileFormatError:
        return None


def _read(path: Path) -> NamedFunction:
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return NamedFunction(path.stem, load_reflection(path), f"file {path.name}", changed)


def _distinct(functions: list[NamedFunction]) -> list[NamedFunction]:
    """Append a number to names that occur before, or are reserved for the store or the agent."""
    found: dict[str, NamedFunction] = {}
    for each in functions:
        stem = f"file {each.name}" if each.name.startswith(f"{AGENT}, ") else each.name
        name, number = stem, 2
        while name in found or name in (LEARNED_HERE, AGENT):
            name, number = f"{stem} {number}", number + 1
        found[name] = replace(each, name=name)
    return list(found.values())
