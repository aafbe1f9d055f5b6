"""The HTML pages, whose scripts fetch the JSON routes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path
from starlette.requests import Request
from starlette.responses import HTMLResponse

from l2t.experiences.store.address import Address
from l2t.interfaces.dashboard.context import Context, Here
from l2t.interfaces.dashboard.errors import render

router = APIRouter(include_in_schema=False)


@router.get("/api")
def api(here: Here, request: Request) -> HTMLResponse:
    """Show the list of JSON routes, from the OpenAPI document."""
    paths = request.app.openapi()["paths"]
    routes = [
        {"method": method.upper(), "path": path, **described}
        for path, methods in paths.items()
        for method, described in methods.items()
    ]
    return _page(here, "api", routes=routes)


@router.get("/label")
def label(here: Here) -> HTMLResponse:
    """Show the labelling page."""
    if here.labelling is None:
        raise HTTPException(404)
    return _page(here, "label", target=here.labelling.names[-1], key="", is_kept=True)


@router.get("/")
@router.get("/{name}")
def page(here: Here, name: str = "new") -> HTMLResponse:
    """Show the page of that name."""
    if name not in (
        "new",
        "sources",
        "experiences",
        "learned",
        "collections",
        "agent",
        "predictions",
    ):
        raise HTTPException(404)
    return _page(here, name, max_upload=here.settings.max_upload)


@router.get("/predictions/{id}")
def prediction(here: Here, id: Annotated[str, Path(pattern="^[0-9a-f]{32}$")]) -> HTMLResponse:
    """Show a prediction: its stages, and then the result."""
    if here.jobs.find(id) is None:
        here.history.get(id)
    return _page(here, "prediction", section="predictions", key=id)


@router.get("/predictions/{id}/label")
def label_prediction(
    here: Here, id: Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
) -> HTMLResponse:
    """Show the labelling page of the target of a prediction."""
    names = here.labelling_of(id).names
    values = {"section": "predictions", "is_kept": here.settings.history is not None}
    return _page(here, "label", target=names[-1], key=id, **values)


@router.get("/experiences/compare")
def compare(here: Here) -> HTMLResponse:
    """Show several runs side by side."""
    return _page(here, "compare", section="experiences")


@router.get("/experiences/{key}")
def experience(here: Here, key: Annotated[str, Path(pattern="^[0-9a-f]{64}$")]) -> HTMLResponse:
    """Show one run in full."""
    return _page(here, "experience", section="experiences", key=key)


def _page(here: Context, name: str, **values: Any) -> HTMLResponse:
    store = Address.of(here.store.url).shown.rsplit("/", 1)[-1] or "no store"
    values = {"page": name, "section": name, "store": store} | values
    values |= {"labels": here.labelling is not None}
    values |= {"read_only": here.settings.read_only, "root": here.settings.root_path}
    return render(f"{name}.html", **values)
