"""Office-Caltech10 beside published figures."""

from __future__ import annotations

import time
from pathlib import Path

from l2t.algorithms import names
from l2t.progress import progress_bar
from reproduction.office_caltech import TASKS, measure_office_caltech
from reproduction.pages import write_page

__all__ = ["write_office_caltech"]


def write_office_caltech(data: Path, out: Path) -> None:
    """Measure the table and write the page."""
    start = time.perf_counter()
    with progress_bar(len(TASKS) * len(names()), "reading") as advance:
        measured = measure_office_caltech(data / "office-caltech-surf", progress=advance)
    columns, rows = measured.table()
    minutes = (time.perf_counter() - start) / 60
    write_page(out / "office-caltech.md", minutes=minutes, columns=columns, rows=rows)
