"""Figures that have a goal."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Figure"]


class Figure(NamedTuple):
    """What was measured, its goal, and the peer or floor beside it."""

    what: str
    value: float
    goal: float
    unit: str = ""
    at_least: bool = False
    beside: str = ""

    @property
    def holds(self) -> bool:
        """Whether the goal is reached."""
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    @property
    def row(self) -> tuple[str, ...]:
        """The figure as a row of a table."""
        bound = f"at {'least' if self.at_least else 'most'} {self.goal:g}"
        value = f"{self.value:,.0f}" if self.value >= 1000 else f"{self.value:.3g}"
        return (
            self.what,
            f"{value} {self.unit}".strip(),
            f"{bound} {self.unit}".strip(),
            self.beside,
            "yes" if self.holds else "**no**",
        )

    @property
    def sentence(self) -> str:
        """The figure in words, for the list of what falls short."""
        what, value, goal, _, _ = self.row
        return f"{what}: {value}, the goal is {goal}"
