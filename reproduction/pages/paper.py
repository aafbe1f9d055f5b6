"""The paper's experiments, as a report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from reproduction.paper.report import Report, write_report
from reproduction.paper.reproduction import PARTS, estimated_minutes, reproduce
from reproduction.paper.setting import Setting

__all__ = ["write_paper"]


def write_paper(
    parts: Sequence[str], data: Path | None, scale: str, work: Path, out: Path, **options: Any
) -> None:
    """Run parts and write their report; print how long that will take before it starts."""
    setting = Setting.of(data, scale, work, **options)
    console = Console(stderr=True, highlight=False, quiet=not setting.progress)
    minutes = estimated_minutes(setting)
    console.print(
        f"{setting.family}, scale {scale}: all parts together take about {max(minutes, 1):.0f} minutes, "
        "less what is done already."
    )
    start = time.perf_counter()
    sections = list(reproduce(setting, parts, console.print))
    some = "" if tuple(parts) == tuple(PARTS) else f' PARTS="{" ".join(parts)}"'
    command = f"make reproduce WHAT=paper{some} SCALE={scale} JOBS={setting.n_jobs}"
    write_report(Report(setting, sections, command, (time.perf_counter() - start) / 60), out)
    print(f"Report: {out / 'report.html'}")
