"""The pages: shells whose scripts fetch the JSON routes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import HTMLResponse

from l2t.experiences.store.address import Address
from l2t.interfaces.dashboard.context import Context, Here
from l2t.interfaces.dashboard.rendering import render

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get("/")
def overview(here: Here) -> HTMLResponse:
    """Show what the store says on the whole."""
    return _page(here, "overview")


@router.get("/experiences")
def experiences(here: Here) -> HTMLResponse:
    """Show the table of experiences."""
    return _page(here, "experiences")


@router.get("/experiences/compare")
def compare(here: Here) -> HTMLResponse:
    """Show several runs side by side."""
    return _page(here, "compare", part_of="experiences")


@router.get("/experiences/{key}")
def experience(here: Here, key: Annotated[str, Path(pattern="^[0-9a-f]{64}$")]) -> HTMLResponse:
    """Show one run in full."""
    return _page(here, "experience", part_of="experiences", key=key)


@router.get("/reflection")
def reflection(here: Here) -> HTMLResponse:
    """Show reflection functions."""
    return _page(here, "reflection")


@router.get("/transfer")
def transfer(here: Here) -> HTMLResponse:
    """Show the form of a transfer, and how it goes."""
    return _page(here, "transfer", max_upload=here.settings.max_upload)


@router.get("/collections")
def collections(here: Here) -> HTMLResponse:
    """Show what is being collected."""
    return _page(here, "collections")


@router.get("/api")
def api(here: Here, request: Request) -> HTMLResponse:
    """Show the JSON routes, from the OpenAPI document."""
    paths = request.app.openapi()["paths"]
    routes = [
        {"method": method.upper(), "path": path, **told}
        for path, methods in paths.items()
        for method, told in methods.items()
    ]
    return _page(here, "api", routes=routes)


def _page(here: Context, name: str, *, part_of: str = "", **values: Any) -> HTMLResponse:
    return render(
        f"{name}.html",
        page=name,
        section=part_of or name,
        store=Address.of(here.store.url).shown.rsplit("/", 1)[-1] or here.store.url,
        read_only=here.settings.read_only,
        **values,
    )
