"""Pages from templates, and error responses: JSON under ``/api/``, a page elsewhere."""

from __future__ import annotations

import errno
import logging
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from l2t._version import __version__
from l2t.exceptions import L2TError, MissingExtraError, StoreError

_LOG = logging.getLogger(__name__)
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


class Refused(L2TError):
    """An error with an HTTP status."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def render(template: str, status: int = 200, *, root: str, **values: Any) -> HTMLResponse:
    """Return a page, with links to "/..." prefixed by the path under which a proxy serves the dashboard."""
    page = _TEMPLATES.get_template(template).render(version=__version__, status=status, **values)
    return HTMLResponse(
        page.replace('="/', f'="{root}/'), status
    )  # values have their quotes escaped


def refusal(scope: Scope, status: int, sentence: str) -> Response:
    """Return an error as JSON or as a page."""
    sentence = " ".join(sentence.split())
    root = scope.get("app_root_path", scope.get("root_path", ""))
    if scope["path"].removeprefix(root).startswith(("/api/", "/static/")):
        headers = {"www-authenticate": "Bearer"} if status == 401 else None
        return JSONResponse({"error": sentence}, status, headers)
    title = HTTPStatus(status).phrase
    return render("error.html", status, root=root, title=title, sentence=sentence)


def add_handlers(app: FastAPI) -> None:
    """Add the error handlers to an application."""
    for kind, handler in (
        (L2TError, _known),
        (RequestValidationError, _invalid),
        (HTTPException, _http),
        (OSError, _disk),
        (Exception, _unexpected),
    ):
        app.add_exception_handler(kind, handler)


def _known(request: Request, error: Any) -> Response:
    if isinstance(error, Refused):
        status = error.status
    elif isinstance(error, StoreError):
        status = 404 if isinstance(error, LookupError) else 503  # 404: no such run or suggestion
    else:
        status = 501 if isinstance(error, MissingExtraError) else 400
    return refusal(request.scope, status, str(error))


def _invalid(request: Request, error: Any) -> Response:
    first = error.errors()[0]
    where = " ".join(str(part) for part in first["loc"][1:]) or "the request"
    got = repr(first.get("input"))[:80].encode("ascii", "backslashreplace").decode()
    return refusal(request.scope, 422, f"{where}: {first['msg']}, got {got}")


def _http(request: Request, error: Any) -> Response:
    missing = error.status_code == 404
    sentence = "there is no such page" if missing else str(error.detail)
    return refusal(request.scope, error.status_code, sentence)


def _disk(request: Request, error: Any) -> Response:
    if error.errno != errno.ENOSPC:
        return _unexpected(request, error)
    return refusal(request.scope, 507, "the disk of the server is full; try again later")


def _unexpected(request: Request, error: Exception) -> Response:
    _LOG.error("%s %s", request.method, request.url.path, exc_info=error)
    sentence = "internal error; see the terminal of the server"
    return refusal(request.scope, 500, sentence)
