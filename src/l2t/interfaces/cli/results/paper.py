"""The paper's experiments, as a report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from l2t.experiments.paper.report import Report, write_report
from l2t.experiments.paper.reproduction import estimated_minutes, reproduce
from l2t.experiments.paper.setting import Setting

__all__ = ["write_paper"]


def write_paper(
    command: str,
    parts: Sequence[str],
    data: Path | None,
    scale: str,
    work: Path,
    out: Path,
    options: dict[str, Any],
) -> None:
    """Run parts and write their report; say how long that will take before it starts."""
    setting = Setting.of(data, scale, work, **options)
    console = Console(stderr=True, highlight=False, quiet=not setting.progress)
    minutes = estimated_minutes(setting)
    console.print(
        f"{setting.family}, scale {scale}: all parts together take about {max(minutes, 1):.0f} minutes, "
        "less what is done already."
    )
    start = time.perf_counter()
    sections = list(reproduce(setting, parts, console.print))
    source = "" if data is None else " --data DIR"
    told = f"l2t reproduce {command}{source} --scale {scale} --jobs {setting.n_jobs}"
    write_report(Report(setting, sections, told, (time.perf_counter() - start) / 60), out)
    Console(highlight=False).print(f"Report: {out / 'report.html'}")
