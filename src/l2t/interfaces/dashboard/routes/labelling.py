"""Labelling sessions, that of the command or those of predictions: their cards, labels, and downloads."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from l2t.interfaces.dashboard.context import Context, Here
from l2t.interfaces.dashboard.errors import Refused
from l2t.interfaces.dashboard.labelling import Labelling
from l2t.interfaces.dashboard.models import LabelIn, RowIn, StrategyIn
from l2t.typing import JsonObject

router = APIRouter(prefix="/labelling", tags=["labelling"])

_WRITTEN = (".csv", ".parquet", ".npz")


def _labelling(
    here: Here,
    of: Annotated[
        str | None,
        Query(
            pattern="^[0-9a-f]{32}$",
            description="A prediction whose target is labelled; by default the target of l2t label.",
        ),
    ] = None,
) -> Labelling:
    if of is not None:
        return here.labelling_of(of)
    if here.labelling is None:
        raise Refused(404, "nothing is labelled here; start it with: l2t label SOURCE... TARGET")
    return here.labelling


Session = Annotated[Labelling, Depends(_labelling)]


@router.get("")
def state(here: Here, labelling: Session) -> JsonObject:
    """Return the rows to label next, the classes, the numbers of labels, and the curve."""
    return _state(here, labelling)


@router.post("/labels", status_code=201)
def label(here: Here, labelling: Session, body: LabelIn) -> JsonObject:
    """Give a row a label; it is on the disk before the response."""
    labelling.session.label(body.row, body.label)
    return _state(here, labelling)


@router.post("/skips", status_code=201)
def skip(here: Here, labelling: Session, body: RowIn) -> JsonObject:
    """Leave a row without a label."""
    labelling.session.skip(body.row)
    return _state(here, labelling)


@router.post("/undo", status_code=201)
def undo(here: Here, labelling: Session) -> JsonObject:
    """Undo the last label or skip."""
    if labelling.session.undo() is None:
        raise Refused(409, "there is nothing to undo")
    return _state(here, labelling)


@router.post("/predictions", status_code=202)
def renew(here: Here, labelling: Session) -> JsonObject:
    """Renew the prediction now."""
    labelling.renew(on_demand=True)
    return _state(here, labelling)


@router.post("/strategy", status_code=202)
def choose(here: Here, labelling: Session, body: StrategyIn) -> JsonObject:
    """Choose how rows to label are suggested, and suggest anew."""
    labelling.session.strategy = body.strategy
    labelling.renew(on_demand=True)
    return _state(here, labelling)


@router.get("/image", response_class=FileResponse)
def image(
    here: Here,
    labelling: Session,
    row: Annotated[int, Query(ge=0, le=10**9)],
    column: Annotated[str, Query(max_length=1000)],
) -> FileResponse:
    """Return the image that a cell of a row names."""
    return FileResponse(labelling.image(row, column, here.settings.images))


@router.get(
    "/{what}",
    response_class=FileResponse,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
def download(here: Here, labelling: Session, what: Literal["target", "labels"]) -> FileResponse:
    """Return the target with all labels, in its own form, or the file of labels."""
    session, own = labelling.session, Path(labelling.names[-1])
    path, name = session.file.path, f"{own.stem}.labels.csv"
    if what == "labels" and not path.is_file():
        raise Refused(404, "there are no labels yet")
    if what == "target":
        ending = own.suffix.lower() if own.suffix.lower() in _WRITTEN else ".csv"
        name = f"{own.stem}.labelled{ending}"
        path = here.scratch / f"{secrets.token_hex(8)}{ending}"
        session.write(path)
        return FileResponse(
            path,
            media_type="application/octet-stream",
            filename=name,
            background=BackgroundTask(path.unlink, missing_ok=True),
        )
    return FileResponse(path, media_type="application/octet-stream", filename=name)


def _state(here: Context, labelling: Labelling) -> JsonObject:
    if not here.settings.read_only:
        labelling.renew()
    return labelling.state(here.settings.images)
