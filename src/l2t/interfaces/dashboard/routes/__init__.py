"""JSON routes under ``/api/``, one file per page."""

from __future__ import annotations

from fastapi import APIRouter

from l2t.interfaces.dashboard.models import ErrorOut
from l2t.interfaces.dashboard.routes import (
    agent,
    collections,
    experiences,
    history,
    labelling,
    predictions,
    reflections,
    sources,
)

__all__ = ["router"]

_ERROR = {"model": ErrorOut, "description": "One sentence."}
router = APIRouter(prefix="/api", responses=dict.fromkeys((400, 404, 422, 503), _ERROR))
for module in (
    predictions,
    history,
    labelling,
    sources,
    experiences,
    reflections,
    agent,
    collections,
):
    router.include_router(module.router)
