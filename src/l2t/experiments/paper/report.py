"""A report as one HTML page, as Markdown, and as files that programs read."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from l2t._version import __version__
from l2t.experiments.figures import pyplot
from l2t.experiments.paper.section import Section, Table
from l2t.experiments.paper.setting import Setting

__all__ = ["Report", "write_report"]

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 16px/1.55 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }}
h1, h2 {{ line-height: 1.2; }} h2 {{ margin-top: 3rem; }} p {{ max-width: 46rem; }}
img {{ max-width: 100%; height: auto; }} figure {{ margin: 1rem 0; }}
figcaption, caption {{ font-size: .9rem; color: #666; text-align: left; padding: .3rem 0; }}
div.wide {{ overflow-x: auto; }} table {{ border-collapse: collapse; font-size: .85rem; margin: 1rem 0; }}
td, th {{ padding: .2rem .6rem; text-align: right; white-space: nowrap; border-top: 1px solid #ddd; }}
th {{ border-top: 0; }} th:first-child, td:first-child {{ text-align: left; }}
code {{ background: #f2f2f2; padding: .1rem .3rem; }}
@media (prefers-color-scheme: dark) {{
  body {{ background: #1b1b1b; color: #ddd; }} img {{ background: #fff; }} code {{ background: #333; }}
  td, th {{ border-color: #444; }} figcaption, caption {{ color: #aaa; }}
}}
</style>
<h1>{title}</h1>
<p>{preface}</p>
<nav><ol>{contents}</ol></nav>
{sections}
</html>
"""


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

    @property
    def preface(self) -> str:
        """How it was made, in a paragraph."""
        sizes = self.setting.sizes
        return (
            f"{sizes.train} training, {sizes.validation} validation and {sizes.test} testing pairs of "
            "domains, three classes each. Everything that is chosen was chosen on training and validation "
            "pairs; testing pairs come from another stream of the seed and, unless a part says otherwise, "
            f"from other classes. Made by `{self.command}` with l2t {__version__} in {self.minutes:.0f} "
            f"minutes on {os.cpu_count()} cores (work that an earlier run had kept is not counted)."
        )


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
    plt = pyplot()
    pages, texts = [], []
    for section in report.sections:
        pictures = {}
        for figure in section.figures:
            drawn = figure.draw(plt)
            for ending in ("png", "svg"):
                drawn.savefig(out / "figures" / f"{figure.name}.{ending}", dpi=130)
            plt.close(drawn)
            pictures[figure.name] = (out / "figures" / f"{figure.name}.png").read_bytes()
        for table in section.tables:
            (out / "tables" / f"{table.name}.csv").write_text(_csv(table))
        pages.append(_html(section, pictures))
        texts.append(_markdown(section))
    contents = "".join(
        f'<li><a href="#{_anchor(section)}">{html.escape(section.title)}</a></li>'
        for section in report.sections
    )
    page = PAGE.format(
        title=html.escape(report.title),
        preface=_code(html.escape(report.preface)),
        contents=contents,
        sections="\n".join(pages),
    )
    (out / "report.html").write_text(page)
    head = f"# {report.title}\n\n{report.preface}\n"
    (out / "report.md").write_text("\n".join([head, *texts]))
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


def _markdown(section: Section) -> str:
    parts = [f"## {section.title}\n", f"{section.text}\n"]
    for table in section.tables:
        columns, rows = _merged(table)
        lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        parts += ["\n".join(lines) + "\n", f"*{table.caption}* [csv](tables/{table.name}.csv)\n"]
    for figure in section.figures:
        parts.append(f"![{figure.caption}](figures/{figure.name}.png)\n")
    return "\n".join(parts)


def _html(section: Section, pictures: dict[str, bytes]) -> str:
    parts = [f'<h2 id="{_anchor(section)}">{html.escape(section.title)}</h2>']
    parts.append(f"<p>{_code(html.escape(section.text))}</p>")
    for figure in section.figures:
        data = base64.b64encode(pictures[figure.name]).decode()
        caption = html.escape(figure.caption)
        parts.append(
            f'<figure><img alt="{caption}" src="data:image/png;base64,{data}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )
    for table in section.tables:
        columns, rows = _merged(table)
        head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        parts.append(
            f'<div class="wide"><table><caption>{html.escape(table.caption)}</caption>'
            f"<tr>{head}</tr>{body}</table></div>"
        )
    return "\n".join(parts)


def _merged(table: Table) -> tuple[list[str], list[list[str]]]:
    """Return columns and cells as text; a standard error stands behind its mean."""
    ends = ", standard error"
    errors = {
        at: table.columns.index(name.removesuffix(ends))
        for at, name in enumerate(table.columns)
        if name.endswith(ends)
    }
    behind = {mean: error for error, mean in errors.items()}
    columns = [
        name.removesuffix(" labels") if at else name
        for at, name in enumerate(table.columns)
        if at not in errors
    ]
    if all(name.isdigit() for name in columns[1:]):
        columns[0] = f"{columns[0]}, labels:" if columns[0] else "labels:"
    rows = []
    for row in table.rows:
        cells = []
        for at, value in enumerate(row):
            if at in errors:
                continue
            error = f" ± {row[behind[at]]:.3f}" if at in behind else ""
            cells.append(_told(value) + error)
        rows.append(cells)
    return columns, rows


def _told(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return "–"
    if isinstance(value, float):
        return f"{value:.0e}" if 0 < abs(value) < 5e-4 else f"{value:.3f}"
    return str(value)


def _anchor(section: Section) -> str:
    return "".join(c if c.isalnum() else "-" for c in section.title.lower()).strip("-")


def _code(text: str) -> str:
    """Turn what stands between backticks into code."""
    pieces = text.split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces))
