"""Which reflection functions there are to show and to use.

Each source of functions is a callable that gives them by name; another place to look is another source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from l2t.interfaces.dashboard.errors import Refused
from l2t.reflection import ReflectionFunction, load_reflection
from l2t.reflection.files import shipped

__all__ = ["LEARNED_HERE", "Functions", "Known"]

#: The name of the function that a learning curve leaves behind.
LEARNED_HERE = "this store"


@dataclass(frozen=True, eq=False)
class Known:
    """A reflection function with its name, where it is from, and when it was learned if that is known."""

    name: str
    function: ReflectionFunction
    origin: str
    learned_at: datetime | None = None


class Functions:
    """All reflection functions that a dashboard knows.

    Parameters
    ----------
    files : iterable of Path
        Files to show beside what ships; read once, so that what is wrong with one is said at the start.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        ship = [Known(name, load_reflection(name), "ships with the package") for name in shipped()]
        self._given = _distinct([*ship, *(_read(path) for path in files)])
        self._learned: Known | None = None
        self.sources: list[Callable[[], Iterable[Known]]] = [
            lambda: self._given,
            lambda: [] if self._learned is None else [self._learned],
        ]

    def all(self) -> dict[str, Known]:
        """Return the functions by name."""
        return {each.name: each for source in self.sources for each in source()}

    def get(self, name: str) -> Known:
        """Return one of them."""
        known = self.all()
        if name not in known:
            there = ", ".join(known)
            raise Refused(404, f"no reflection function is called {name!r:.80}; there are {there}")
        return known[name]

    def latest(self) -> Known:
        """Return the one that was learned last; what ships where no time is known."""
        start = datetime.min.replace(tzinfo=UTC)
        return max(self.all().values(), key=lambda each: each.learned_at or start)

    def keep_learned(self, function: ReflectionFunction) -> None:
        """Keep the function that was learned from two thirds of the store's pairs."""
        origin = "learned here from two thirds of the pairs"
        self._learned = Known(LEARNED_HERE, function, origin, datetime.now(UTC))


def _read(path: Path) -> Known:
    function = load_reflection(path)
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return Known(path.stem, function, f"file {path.name}", changed)


def _distinct(known: list[Known]) -> list[Known]:
    """Give a number to names that were there before."""
    found: dict[str, Known] = {}
    for each in known:
        name, number = each.name, 2
        while name in found or name == LEARNED_HERE:
            name, number = f"{each.name} {number}", number + 1
        found[name] = Known(name, each.function, each.origin, each.learned_at)
    return list(found.values())
