"""Pages as text: Jinja templates that escape everything."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from l2t._version import __version__

__all__ = ["render"]


@cache
def _environment() -> Environment:
    folder = Path(__file__).parent / "templates"
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page."""
    values |= {"version": __version__, "status": status}
    page = _environment().get_template(template).render(values)
    return HTMLResponse(page, status)
