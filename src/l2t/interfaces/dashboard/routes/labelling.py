"""The labelling session: its cards, labels, and downloads."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import FileResponse

from l2t.interfaces.dashboard.context import Context, Here
from l2t.interfaces.dashboard.errors import Refused
from l2t.interfaces.dashboard.labelling import Labelling
from l2t.interfaces.dashboard.models import LabelIn, RowIn, StrategyIn

router = APIRouter(prefix="/labelling", tags=["labelling"])

_WRITTEN = (".csv", ".parquet", ".npz")


@router.get("")
def state(here: Here) -> dict[str, Any]:
    """Return the rows to label next, the classes, the numbers of labels, and the curve."""
    return _state(here)


@router.post("/labels", status_code=201)
def label(here: Here, given: LabelIn) -> dict[str, Any]:
    """Give a row a label; it is on the disk before the response."""
    _labelling(here).session.label(given.row, given.label)
    return _state(here)


@router.post("/skips", status_code=201)
def skip(here: Here, given: RowIn) -> dict[str, Any]:
    """Leave a row without a label."""
    _labelling(here).session.skip(given.row)
    return _state(here)


@router.post("/undo", status_code=201)
def undo(here: Here) -> dict[str, Any]:
    """Undo the last label or skip."""
    if _labelling(here).session.undo() is None:
        raise Refused(409, "there is nothing to undo")
    return _state(here)


@router.post("/predictions", status_code=202)
def renew(here: Here) -> dict[str, Any]:
    """Renew the prediction now."""
    _labelling(here).renew(on_demand=True)
    return _state(here)


@router.post("/strategy", status_code=202)
def choose(here: Here, given: StrategyIn) -> dict[str, Any]:
    """Choose how rows to label are suggested, and suggest anew."""
    labelling = _labelling(here)
    labelling.session.strategy = given.strategy
    labelling.renew(on_demand=True)
    return _state(here)


@router.get("/image", response_class=FileResponse)
def image(
    here: Here,
    row: Annotated[int, Query(ge=0, le=10**9)],
    column: Annotated[str, Query(max_length=1000)],
) -> FileResponse:
    """Return the image that a cell of a row names."""
    return FileResponse(_labelling(here).image(row, column, here.settings.images))


@router.get(
    "/{what}",
    response_class=FileResponse,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
def download(here: Here, what: Literal["target", "labels"]) -> FileResponse:
    """Return the target with all labels, in its own form, or the file of labels."""
    session = _labelling(here).session
    path, ending = session.file.path, session.target.path.suffix.lower()
    name = path.name
    if what == "labels" and not path.is_file():
        raise Refused(404, "there are no labels yet")
    if what == "target":
        ending = ending if ending in _WRITTEN else ".csv"
        name = f"{session.target.path.stem}.labelled{ending}"
        path = here.scratch / name
        session.write(path)
    return FileResponse(path, media_type="application/octet-stream", filename=name)


def _labelling(here: Context) -> Labelling:
    if here.labelling is None:
        raise Refused(404, "nothing is labelled here; start it with: l2t label SOURCE... TARGET")
    return here.labelling


def _state(here: Context) -> dict[str, Any]:
    labelling = _labelling(here)
    if not here.settings.read_only:
        labelling.renew()
    return labelling.state(here.settings.images)
