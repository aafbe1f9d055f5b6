"""Finished predictions: their list, names and rows."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi import Path as PathParameter

from l2t.interfaces.dashboard.context import Here
from l2t.interfaces.dashboard.history import ROWS, Past
from l2t.interfaces.dashboard.models import JobOut, NameIn
from l2t.interfaces.dashboard.routes.predictions import TOO_MANY, job_out
from l2t.interfaces.dashboard.rows import Order, read_rows
from l2t.typing import JsonObject

router = APIRouter(prefix="/predictions", tags=["predictions"])

Id = Annotated[str, PathParameter(pattern="^[0-9a-f]{32}$")]


@router.get("")
def history(here: Here) -> JsonObject:
    """Return the finished predictions, the newest first, and how many are kept at most."""
    predictions, limits = here.history.all(), here.settings.limits
    return {
        "items": [asdict(past) for past in predictions],
        "bytes": sum(past.bytes for past in predictions),
        "most": limits.history,
        "most_bytes": limits.history_bytes,
        "is_kept": here.settings.history is not None,
    }


@router.patch("/{id}")
def rename(here: Here, id: Id, body: NameIn) -> Past:
    """Give a prediction another name."""
    return here.history.rename(id, " ".join(body.name.split()))


@router.delete("/{id}", status_code=204)
def delete(here: Here, id: Id) -> None:
    """Delete a prediction with its files."""
    here.delete(id)


@router.post("/{id}/again", status_code=202, responses=TOO_MANY)
def predict_again(here: Here, id: Id) -> JobOut:
    """Start a job that predicts again: with the same files and settings, and the labels given since."""
    prepare = partial(here.history.request, id)
    here.history.request(id)  # an error of its own, before a job is started
    return job_out(here.jobs.start("predict", prepare, on_done=here.keep))


@router.get("/{id}/rows")
def rows(
    here: Here,
    id: Id,
    search: Annotated[str, Query(max_length=200)] = "",
    predicted: Annotated[str | None, Query(max_length=1000)] = None,
    disagrees: bool = False,
    order: Order = "row",
    page: Annotated[int, Query(ge=1, le=10**7)] = 1,
) -> JsonObject:
    """Return a page of predicted rows.

    `search` is a text in any of the shown columns, `predicted` a class; with `disagrees` only rows whose
    label differs from the prediction.
    """
    return read_rows(
        here.history.file(id, ROWS),
        order=order,
        page=page,
        search=search,
        predicted=predicted,
        disagrees=disagrees,
    )
