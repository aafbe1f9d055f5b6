"""A report as one HTML page, as Markdown, and as JSON and csv files."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from l2t import __version__
from reproduction.pages import TEMPLATES
from reproduction.paper.section import Claim, Section, Table, paragraph
from reproduction.paper.setting import Setting
from tools.reports import render

__all__ = ["Report", "write_report"]


@dataclass(frozen=True)
class Report:
    """A report: what was measured, and how.

    Attributes
    ----------
    setting : Setting
        The data and the scale.
    sections : sequence of Section
        The parts that were run.
    command : str
        The command that writes the same report.
    """

    setting: Setting
    sections: Sequence[Section]
    command: str

    @property
    def claims(self) -> list[tuple[str, list[Claim]]]:
        """The claims of all sections by method, in the order in which methods are first named."""
        found: dict[str, list[Claim]] = {}
        for section in self.sections:
            for claim in section.claims:
                found.setdefault(claim.method, []).append(claim)
        return list(found.items())

    @property
    def title(self) -> str:
        """The heading."""
        return f"The paper's experiments, repeated on {self.setting.family}"


def write_report(report: Report, out: Path) -> None:
    """Write report.html, report.md, results.json, and a folder each of figures and of tables.

    Parameters
    ----------
    report : Report
        What to write.
    out : path
        The directory, created if there is none; files of the same name are replaced.
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
    minutes = report.setting.minutes()
    prefaces = [
        *claim_paragraphs(report.claims),
        paragraph(
            "preface",
            sizes=report.setting.sizes,
            command=report.command,
            version=__version__,
            date=datetime.now(UTC).date().isoformat(),
            commit=_commit(),
            minutes=sum(minutes.values()),
            jobs=report.setting.n_jobs,
            cores=os.cpu_count(),
        ),
    ]
    times = sorted(minutes.items(), key=lambda each: -each[1])
    for ending in ("html", "md"):
        page = render(
            TEMPLATES / f"paper.{ending}",
            report=report,
            prefaces=prefaces,
            claims=_claims(report),
            times=(["stage", "minutes"], [[stage, f"{spent:.1f}"] for stage, spent in times]),
            pictures=pictures,
        )
        (out / f"report.{ending}").write_text(page)
    (out / "results.json").write_text(json.dumps(_plain(report), indent=1))


def claim_paragraphs(methods: Sequence[tuple[str, Sequence[Claim]]]) -> list[str]:
    """Return how many claims hold with each method, and those that hold with none."""
    if not methods:
        return []
    texts = dict.fromkeys(claim.text for _, claims in methods for claim in claims)
    held = {claim.text for _, claims in methods for claim in claims if claim.holds}
    never = [text for text in texts if text not in held]
    return [paragraph("summary", methods=methods, never=never)]


def _plain(report: Report) -> dict[str, Any]:
    s = report.setting
    packages = ("numpy", "scipy", "scikit-learn")
    return {
        "command": report.command,
        "family": s.family,
        "scale": s.scale,
        "seed": s.seed,
        "minutes": {stage: round(spent, 1) for stage, spent in s.minutes().items()},
        "claims": [asdict(claim) for _, each in report.claims for claim in each],
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


def _claims(report: Report) -> tuple[list[str], list[list[str]]]:
    """Return a table of the claims: one row each, one column per method."""
    found: dict[str, dict[str, str]] = {}
    for method, claims in report.claims:
        for each in claims:
            cells = found.setdefault(each.text, {})
            cells[method] = f"{'yes' if each.holds else 'no'}: {each.figures}"
    methods = [method for method, _ in report.claims]
    rows = [[text, *(cells.get(each, "") for each in methods)] for text, cells in found.items()]
    return ["the paper's claim", *methods], rows


def _commit() -> str:
    """Return the commit of the clone that this runs in; "unknown" outside of one."""
    asked = ["git", "-C", str(TEMPLATES), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _csv(table: Table) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()
