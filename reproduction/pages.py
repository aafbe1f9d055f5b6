"""Pages of docs/results, each with a template of the same name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from l2t import __version__
from tools.reports import move_tables, render

__all__ = ["TEMPLATES", "write_page"]

TEMPLATES = Path(__file__).parent / "templates"


def write_page(path: Path, **values: Any) -> None:
    """Write a page from the template of its name, and its large tables as csv; print where it is."""
    text = render(TEMPLATES / path.name, version=__version__, **values)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(move_tables(text, path))
    print(f"written to {path}", file=sys.stderr)
