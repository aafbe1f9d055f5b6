"""All parts by name, an estimate of their time, and their report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from l2t.algorithms import PAPER
from l2t.experiences import collect, open_store
from reproduction.paper import parts
from reproduction.paper.report import Report, write_report
from reproduction.paper.section import Section
from reproduction.paper.setting import Setting
from reproduction.paper.study import Study
from reproduction.paper.supplement import supplement

#: How many functions are learned; on 200 pairs each takes about as long as a unit.
FUNCTIONS = 40

__all__ = ["PARTS", "estimated_minutes", "write_paper"]

PARTS: dict[str, Callable[[Study], Section]] = {
    "average": parts.average,
    "six-pairs": parts.six_pairs,
    "experiences": parts.experiences,
    "number": parts.number,
    "components": parts.components,
    "kernels": parts.kernels,
    "controls": parts.controls,
    "settings": parts.settings,
    "random-classes": parts.random_classes,
    "supplement": supplement,
}


def write_paper(
    names: Sequence[str], data: Path | None, scale: str, work: Path, out: Path, **options: Any
) -> None:
    """Run parts and write their report; results in the work directory are reused.

    Parameters
    ----------
    names : sequence of str
        Some of `PARTS`.
    data, scale, work, **options
        As for `Setting.of`.
    out : path
        The folder for the report.
    """
    setting = Setting.of(data, scale, work, **options)
    console = Console(stderr=True, highlight=False, quiet=not setting.progress)
    console.print(
        f"{setting.family}, scale {scale}: all parts together take about "
        f"{max(estimated_minutes(setting), 1):.0f} minutes, less what is done already."
    )
    study, sections = Study(setting), []
    for at, name in enumerate(names, start=1):
        console.print(f"{at}/{len(names)} {name}")
        sections.append(PARTS[name](study))
    some = "" if tuple(names) == tuple(PARTS) else f' PARTS="{" ".join(names)}"'
    command = f"make reproduce WHAT=paper{some} SCALE={scale} JOBS={setting.n_jobs}"
    write_report(Report(setting, sections, command), out)
    print(f"Report: {out / 'report.html'}")


def estimated_minutes(setting: Setting) -> float:
    """Estimate the time of all parts from one training pair, if nothing has been done yet.

    The unit is what the eight base algorithms take on a pair with their statistics (1.7 s where these weights
    were measured). Functions are learned in one process.
    """
    for _ in range(2):  # the first call also imports
        start = time.process_time()  # on a busy machine less than the elapsed time
        with open_store("memory://") as store:
            collect(setting.pairs("train", 1), store, algorithms=PAPER, progress=False)
        unit = time.process_time() - start
    n = setting.sizes
    varied = (30 + 9 * n.orders) * n.varied
    units = n.train + 6 * n.validation + 3.5 * n.test + varied + n.any_class
    alone = FUNCTIONS * n.train / 200 + 0.25 * n.train
    workers = 1 if setting.cluster is not None else max(1, setting.n_jobs)
    return unit * (units / workers + alone) / 60
