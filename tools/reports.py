"""Reports from templates: one template file per report, in Jinja2."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

__all__ = ["move_tables", "number", "render", "render_block"]

SHARED = Path(__file__).parent / "templates"
#: A table whose page only links to it: ``<!-- csv: NAME, TITLE -->`` above its first line.
MARKED_TABLE = re.compile(r"^<!-- csv: ([\w-]+), (.+) -->\n\n*((?:\|.*\n)+)", re.MULTILINE)


def render(template: Path, **values: Any) -> str:
    """Return a report.

    Parameters
    ----------
    template : path
        The template; its imports are looked up next to it and in tools/templates.
    **values
        The variables of the template; a missing one is an error.

    Returns
    -------
    str
        The text, which ends with one line break.
    """
    return _environment(template).get_template(template.name).render(values).rstrip("\n") + "\n"


def render_block(template: Path, block: str, **values: Any) -> str:
    """Return one block of a template as a single line."""
    found = _environment(template).get_template(template.name)
    return " ".join("".join(found.blocks[block](found.new_context(values))).split())


def move_tables(text: str, page: Path) -> str:
    """Write the marked tables of a page to csv files beside it, and return the page with links to them.

    Parameters
    ----------
    text : str
        The page in Markdown.
    page : path
        Where the page will be; its tables are written to `csv/PAGE-NAME.csv`.

    Returns
    -------
    str
    """

    def write(marked: re.Match[str]) -> str:
        name, title, table = marked.groups()
        head, _, *lines = (
            [cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()
        )
        path = page.parent / "csv" / f"{page.stem}-{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerows(
                [cell.replace("**", "").strip("`") for cell in row] for row in (head, *lines)
            )
        return f"[{title}](csv/{path.name}) (csv)\n"

    return MARKED_TABLE.sub(write, text)


def number(value: float | None, how: str = ".3f") -> str:
    """Return a formatted number, or a dash for None and NaN."""
    return "–" if value is None or math.isnan(value) else format(value, how)


def _environment(template: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([template.parent, SHARED]),
        undefined=StrictUndefined,
        autoescape=select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    return environment
