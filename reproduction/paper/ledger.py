"""What was measured, one line per pair and method, so that a stopped reproduction resumes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["Ledger"]


class Ledger:
    """An append-only file of JSON lines; a line that was cut off counts as never written.

    Parameters
    ----------
    path : path
        The file; made with the first line.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[tuple[str, str], dict[str, Any]] = {}
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                row = json.loads(line)
                self._rows[row["method"], row["pair"]] = row
            except (ValueError, KeyError, TypeError):
                continue

    def __contains__(self, key: tuple[str, str]) -> bool:
        return key in self._rows

    def __getitem__(self, key: tuple[str, str]) -> dict[str, Any]:
        return self._rows[key]

    def add(self, method: str, pair: str, row: Mapping[str, Any]) -> None:
        """Keep what a method gave on a pair."""
        kept = {"method": method, "pair": pair, **row}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write("\n" + json.dumps(kept))  # a line that was cut off ends here
        self._rows[method, pair] = kept
