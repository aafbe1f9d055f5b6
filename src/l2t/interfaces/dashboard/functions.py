"""The reflection functions of a dashboard: shipped, from files, and learned here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from l2t.interfaces.dashboard.errors import Refused
from l2t.paper import Reflection, load_reflection
from l2t.paper.files import shipped

#: The name of the function from a learning curve.
LEARNED_HERE = "this store"


@dataclass(frozen=True, eq=False)
class NamedFunction:
    """A reflection function with its name."""

    name: str
    function: Reflection
    origin: str
    learned_at: datetime | None = None


class Functions:
    """All reflection functions of a dashboard; files are read once, at the start."""

    def __init__(self, files: Iterable[Path]) -> None:
        origin = "ships with the package"
        ship = [NamedFunction(name, load_reflection(name), origin) for name in shipped()]
        self._given = _distinct([*ship, *(_read(path) for path in files)])
        self._learned: list[NamedFunction] = []

    def all(self) -> dict[str, NamedFunction]:
        """Return the functions by name."""
        return {known.name: known for known in (*self._given, *self._learned)}

    def get(self, name: str) -> NamedFunction:
        """Return the function of that name."""
        functions = self.all()
        if name not in functions:
            names = ", ".join(functions)
            raise Refused(404, f"name must be one of {names}, got {name!r:.80}")
        return functions[name]

    def latest(self) -> NamedFunction:
        """Return the function that was learned last; a shipped one if no time is known."""
        start = datetime.min.replace(tzinfo=UTC)
        return max(self.all().values(), key=lambda known: known.learned_at or start)

    def add_learned(self, function: Reflection) -> None:
        """Add the function of a learning curve, learned from the pairs that are not held out."""
        origin = "learned here from the pairs that are not held out"
        self._learned = [NamedFunction(LEARNED_HERE, function, origin, datetime.now(UTC))]


def _read(path: Path) -> NamedFunction:
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return NamedFunction(path.stem, load_reflection(path), f"file {path.name}", changed)


def _distinct(functions: list[NamedFunction]) -> list[NamedFunction]:
    """Append a number to names that occur before, or are reserved for the function learned here."""
    by_name: dict[str, NamedFunction] = {}
    for function in functions:
        name, number = function.name, 2
        while name in by_name or name == LEARNED_HERE:
            name, number = f"{function.name} {number}", number + 1
        by_name[name] = replace(function, name=name)
    return list(by_name.values())
