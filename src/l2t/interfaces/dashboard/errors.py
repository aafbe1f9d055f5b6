"""Whatever goes wrong is one sentence: as JSON under ``/api/``, as a page elsewhere."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from l2t.exceptions import L2TError, MissingExtraError, StoreError
from l2t.interfaces.dashboard.rendering import render

__all__ = ["Refused", "add_handlers", "refusal"]

_LOG = logging.getLogger(__name__)


class Refused(L2TError):
    """A request that is refused with a status of its own."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def refusal(scope: Scope, status: int, sentence: str) -> Response:
    """Return a sentence with a status, in the form that the visitor can use."""
    sentence = " ".join(sentence.split())
    if scope["path"].startswith(("/api/", "/static/")):
        headers = {"www-authenticate": "Bearer"} if status == 401 else None
        return JSONResponse({"error": sentence}, status, headers)
    title = HTTPStatus(status).phrase
    return render("error.html", status, title=title, sentence=sentence)


def add_handlers(app: FastAPI) -> None:
    """Give an application its sentences."""

    def known(request: Request, error: Exception) -> Response:
        return refusal(request.scope, _status(error), str(error))

    def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        where = " ".join(str(part) for part in first["loc"][1:]) or "the request"
        return refusal(request.scope, 422, f"{where}: {first['msg']}, got {_shown(first)}")

    def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        said = "there is no such page" if error.status_code == 404 else str(error.detail)
        return refusal(request.scope, error.status_code, said)

    def unexpected(request: Request, error: Exception) -> Response:
        _LOG.error("%s %s", request.method, request.url.path, exc_info=error)
        said = (
            "something went wrong here that should not have; the terminal of the server says more"
        )
        return refusal(request.scope, 500, said)

    app.add_exception_handler(L2TError, known)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, unexpected)


def _status(error: Exception) -> int:
    if isinstance(error, Refused):
        return error.status
    if isinstance(error, StoreError) and isinstance(
        error, LookupError
    ):  # no such run or suggestion
        return 404
    if isinstance(error, StoreError):
        return 503
    return 501 if isinstance(error, MissingExtraError) else 400


def _shown(error: Any) -> str:
    return repr(error.get("input"))[:80].encode("ascii", "backslashreplace").decode()
