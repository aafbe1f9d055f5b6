"""JSON routes under ``/api/``, one file a page."""

from __future__ import annotations

from fastapi import APIRouter

from l2t.interfaces.dashboard.models import ErrorOut
from l2t.interfaces.dashboard.routes import (
    agent,
    collections,
    experiences,
    overview,
    reflections,
    transfers,
)

__all__ = ["router"]

router = APIRouter(
    prefix="/api",
    responses={
        status: {"model": ErrorOut, "description": "One sentence."}
        for status in (400, 404, 422, 503)
    },
)
for each in (overview, experiences, reflections, agent, transfers, collections):
    router.include_router(each.router)
