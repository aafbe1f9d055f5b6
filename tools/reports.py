"""Reports from templates: one template file per report, in Jinja2."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

__all__ = ["number", "render", "render_block"]

SHARED = Path(__file__).parent / "templates"


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
