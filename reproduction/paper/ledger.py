"""Measurements, one line per pair and method, so that an interrupted reproduction resumes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["Ledger"]


class Ledger:
    """An append-only file of JSON lines; an incomplete line is ignored.

    Parameters
    ----------
    path : path
        The file, created with the first line.
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
        """Add the result of a method on a pair."""
        kept = {"method": method, "pair": pair, **row}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write("\n" + json.dumps(kept))  # a line that was cut off ends here
        self._rows[method, pair] = kept
