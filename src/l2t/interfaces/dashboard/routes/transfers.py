"""Try a transfer: uploads, inference, ranking of sources, downloads."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi import Path as PathParameter
from starlette.responses import FileResponse

from l2t.domains import write_domain
from l2t.interfaces.dashboard.context import Context, Here
from l2t.interfaces.dashboard.errors import Refused
from l2t.interfaces.dashboard.jobs import Job
from l2t.interfaces.dashboard.models import DomainOut, ErrorOut, JobOut, RankingIn, TransferIn
from l2t.interfaces.dashboard.uploads import Upload as UploadOut

__all__ = ["placed", "router", "told"]

router = APIRouter(
    tags=["try a transfer"],
    responses={429: {"model": ErrorOut, "description": "Too much is under way."}},
)

Id = Annotated[str, PathParameter(pattern="^[0-9a-f]{32}$")]
_MOST_EVENTS = 200  # that are given at a time


@router.get("/domains")
def domains(here: Here) -> list[DomainOut]:
    """Return the domains of the store that can be chosen, by name; five hundred at most."""

    def compute() -> list[DomainOut]:
        found = here.store.summaries.domains()
        return [DomainOut(id=f"store:{each['fingerprint']}", **each) for each in found]

    return here.memo.get("domains", compute)


@router.get("/uploads")
def uploads(here: Here) -> list[UploadOut]:
    """Return the uploaded domains that can be chosen, the newest first."""
    return [_upload(each) for each in here.uploads.all()]


@router.post(
    "/uploads",
    status_code=201,
    responses={
        status: {"model": ErrorOut, "description": what}
        for status, what in ((413, "Too large."), (415, "No format that is read."))
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
        }
    },
)
async def upload(
    here: Here,
    request: Request,
    name: Annotated[str, Query(max_length=300, description="The file's name, for its ending.")],
    label: Annotated[str | None, Query(max_length=200, description="The label column.")] = None,
    labeled: Annotated[
        str | None, Query(max_length=200, description="The column that marks labels you have.")
    ] = None,
) -> UploadOut:
    """Take a csv, npz or parquet file, sent as the body, and read it."""
    said = request.headers.get("content-length", "0")
    if said.isdigit() and int(said) > here.settings.max_upload:
        most = here.settings.max_upload
        raise Refused(413, f"an upload may have {most} bytes at most, got one of {said[:20]}")
    return _upload(await here.uploads.take(request.stream(), name, label, labeled))


@router.delete("/uploads/{id}", status_code=204)
def remove_upload(here: Here, id: Id) -> None:
    """Delete an uploaded domain."""
    here.uploads.remove(id)


@router.post("/transfers", status_code=202)
def transfer(here: Here, wanted: TransferIn) -> JobOut:
    """Begin to find what to transfer; the events of the job are its stages."""
    files = {"source": wanted.source, "target": wanted.target}
    return told(here.jobs.start("transfer", lambda folder: _prepare(here, wanted, files, folder)))


@router.post("/rankings", status_code=202)
def ranking(here: Here, wanted: RankingIn) -> JobOut:
    """Begin to rank sources by what each adds; the events of the job are the sources ranked so far."""
    files = {f"source{i}": each for i, each in enumerate(wanted.sources)}
    files["target"] = wanted.target
    return told(here.jobs.start("rank", lambda folder: _prepare(here, wanted, files, folder)))


@router.get("/jobs/{id}")
def job(
    here: Here,
    id: Id,
    after: Annotated[int, Query(ge=0, le=10**9, description="Events seen already.")] = 0,
) -> JobOut:
    """Return how far a computation is."""
    return told(here.jobs.get(id), after)


@router.get(
    "/jobs/{id}/files/{name}",
    response_class=FileResponse,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
def job_file(here: Here, id: Id, name: str) -> FileResponse:
    """Return a file that a computation left."""
    found = here.jobs.get(id)
    if found.state != "done" or name not in found.files():
        raise Refused(404, f"the computation has no file {name!r:.40}")
    path = found.folder / "out" / name
    return FileResponse(path, media_type="application/octet-stream", filename=name)


@router.delete("/jobs/{id}", status_code=204)
def cancel(here: Here, id: Id) -> None:
    """End a computation."""
    here.jobs.cancel(here.jobs.get(id))


def told(job: Job, after: int = 0) -> JobOut:
    """Return a job as JSON can hold it."""
    state = job.state  # before its events: who sees the end has seen all that led there
    events = job.events[after : after + _MOST_EVENTS]
    return JobOut(
        id=job.id,
        kind=job.kind,
        state=state,
        error=job.error,
        seconds=round(job.seconds, 2),
        events=events,
        next=after + len(events),
        result=job.result if state == "done" else None,
        files=job.files() if state == "done" else [],
    )


def placed(here: Context, files: dict[str, str], folder: Path) -> dict[str, str]:
    """Copy domains by id to where the worker finds them, and return their names."""
    return {file: _put(here, id, folder / f"{file}.npz") for file, id in files.items()}


def _upload(each: UploadOut) -> UploadOut:
    return replace(each, id=f"upload:{each.id}")


def _prepare(
    here: Context, wanted: TransferIn | RankingIn, files: dict[str, str], folder: Path
) -> dict[str, Any]:
    """Put the domains where the worker finds them, and return its request."""
    store = here.store.url
    return {
        "names": placed(here, files, folder),
        "normalize": wanted.normalize,
        "options": wanted.model_dump(include={"n_labels", "n_classes", "n_components"}),
        "store": None if store == "memory://" else store,  # which no other process can open
        "n_sources": len(files) - 1,
    }


def _put(here: Context, id: str, path: Path) -> str:
    """Copy a domain to a file, and return its name."""
    kind, _, rest = id.partition(":")
    if kind == "upload":
        upload, held = here.uploads.get(rest)
        shutil.copyfile(held, path)
        return upload.name
    if kind != "store":
        raise Refused(422, f"a domain is upload:ID or store:FINGERPRINT, got {id!r:.80}")
    found = here.store.summaries.run_of_domain(rest.replace("\0", ""))
    if found is None:
        raise Refused(404, f"the store has no domain {rest!r:.80}")
    key, is_source = found
    pair = here.store.run(key).pair
    domain = pair.source if is_source else pair.target
    write_domain(domain, path)
    return domain.name
