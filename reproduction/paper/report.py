"""A report as one HTML page, as Markdown, and as files that programs read."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from l2t import __version__
from reproduction.pages import TEMPLATES
from reproduction.paper.section import Section, Table, paragraph
from reproduction.paper.setting import Setting
from tools.reports import render

__all__ = ["Report", "write_report"]


@dataclass(frozen=True)
class Report:
    """What was measured, and how.

    Attributes
    ----------
    setting : Setting
        The data and the scale.
    sections : sequence of Section
        The parts that were run.
    command : str
        What makes the same report.
    minutes : float
        The time that it took, with what was there already.
    """

    setting: Setting
    sections: Sequence[Section]
    command: str
    minutes: float

    @property
    def title(self) -> str:
        """The heading."""
        return f"Learning to Transfer, measured again: {self.setting.family}, {self.setting.scale}"


def write_report(report: Report, out: Path) -> None:
    """Write report.html, report.md, results.json, and a folder each of figures and of tables.

    Parameters
    ----------
    report : Report
        What to write.
    out : path
        The directory, made where there is none; files of the same name are replaced.
    """
    for folder in ("figures", "tables"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    pictures = {}
    for section in report.sections:
        for figure in section.figures:
            drawn = figure.draw()
            for ending in ("png", "svg"):
                drawn.savefig(out / "figures" / f"{figure.name}.{ending}", dpi=130)
            image = (out / "figures" / f"{figure.name}.png").read_bytes()
            pictures[figure.name] = base64.b64encode(image).decode()
        for table in section.tables:
            (out / "tables" / f"{table.name}.csv").write_text(_csv(table))
    preface = paragraph(
        "preface",
        sizes=report.setting.sizes,
        command=report.command,
        version=__version__,
        minutes=report.minutes,
        cores=os.cpu_count(),
    )
    for ending in ("html", "md"):
        page = render(
            TEMPLATES / f"paper.{ending}", report=report, preface=preface, pictures=pictures
        )
        (out / f"report.{ending}").write_text(page)
    (out / "results.json").write_text(json.dumps(_plain(report), indent=1))


def _plain(report: Report) -> dict[str, Any]:
    s = report.setting
    packages = ("numpy", "scipy", "scikit-learn")
    return {
        "command": report.command,
        "family": s.family,
        "scale": s.scale,
        "seed": s.seed,
        "minutes": round(report.minutes, 1),
        "cores": os.cpu_count(),
        "versions": {
            "l2t": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in packages},
        },
        "sections": [
            {
                "title": section.title,
                "text": section.text,
                "tables": [
                    {"name": t.name, "columns": list(t.columns), "rows": [list(r) for r in t.rows]}
                    for t in section.tables
                ],
                "notes": dict(section.notes),
            }
            for section in report.sections
        ],
    }


def _csv(table: Table) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()
