"""Timing and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from l2t.speed import best_of

__all__ = ["best_of", "table"]


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)
