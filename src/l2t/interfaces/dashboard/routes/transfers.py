"""Uploads, and jobs that transfer or rank sources, with their downloads."""

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
from l2t.interfaces.dashboard.models import (
    AskIn,
    DomainOut,
    ErrorOut,
    JobOut,
    RankingIn,
    TransferIn,
)
from l2t.interfaces.dashboard.uploads import Upload as UploadOut

__all__ = ["TOO_MANY", "job_out", "router", "start_job"]

TOO_MANY: dict[int | str, Any] = {
    429: {"model": ErrorOut, "description": "Too many jobs are running."}
}
router = APIRouter(tags=["try a transfer"], responses=TOO_MANY)

Id = Annotated[str, PathParameter(pattern="^[0-9a-f]{32}$")]
_MAX_EVENTS = 200  # per response


@router.get("/domains")
def domains(here: Here) -> list[DomainOut]:
    """Return the domains of the store, by name; at most 500."""

    def compute() -> list[DomainOut]:
        found = here.store.summaries.domains()
        return [DomainOut(id=f"store:{each['fingerprint']}", **each) for each in found]

    return here.memo.get("domains", compute)


@router.get("/uploads")
def uploads(here: Here) -> list[UploadOut]:
    """Return the uploaded domains, the newest first."""
    return [_upload(each) for each in here.uploads.all()]


@router.post(
    "/uploads",
    status_code=201,
    responses={
        413: {"model": ErrorOut, "description": "Too large."},
        415: {"model": ErrorOut, "description": "Unsupported format."},
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
        str | None, Query(max_length=200, description="The column that marks labelled rows.")
    ] = None,
) -> UploadOut:
    """Upload a csv, npz, xlsx or parquet file, sent as the body."""
    size, limit = request.headers.get("content-length", "0"), here.settings.max_upload
    if size.isdigit() and int(size) > limit:
        raise Refused(413, f"an upload may have at most {limit} bytes, got {size[:20]}")
    return _upload(await here.uploads.take(request.stream(), name, label, labeled))


@router.delete("/uploads/{id}", status_code=204)
def remove_upload(here: Here, id: Id) -> None:
    """Delete an uploaded domain."""
    here.uploads.remove(id)


@router.post("/transfers", status_code=202)
def transfer(here: Here, wanted: TransferIn) -> JobOut:
    """Start a job that infers what to transfer; its events are the stages."""
    return start_job(here, "transfer", wanted, {"source": wanted.source})


@router.post("/rankings", status_code=202)
def ranking(here: Here, wanted: RankingIn) -> JobOut:
    """Start a job that ranks sources by what each adds; its events are the sources ranked so far."""
    sources = {f"source{i}": each for i, each in enumerate(wanted.sources)}
    return start_job(here, "rank", wanted, sources)


@router.get("/jobs/{id}")
def job(
    here: Here,
    id: Id,
    after: Annotated[
        int, Query(ge=0, le=10**9, description="Number of events received before.")
    ] = 0,
) -> JobOut:
    """Return the state and progress of a job."""
    return job_out(here.jobs.get(id), after)


@router.get(
    "/jobs/{id}/files/{name}",
    response_class=FileResponse,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
def job_file(here: Here, id: Id, name: str) -> FileResponse:
    """Return an output file of a job."""
    found = here.jobs.get(id)
    if found.state != "done" or name not in found.files():
        raise Refused(404, f"the job has no file {name!r:.40}")
    path = found.folder / "out" / name
    return FileResponse(path, media_type="application/octet-stream", filename=name)


@router.delete("/jobs/{id}", status_code=204)
def cancel(here: Here, id: Id) -> None:
    """Cancel a job."""
    here.jobs.cancel(here.jobs.get(id))


def job_out(job: Job, after: int = 0) -> JobOut:
    """Return the state of a job with its events from number `after` on."""
    state = job.state  # read before the events, so that a finished job comes with all of them
    events = job.events[after : after + _MAX_EVENTS]
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


def _upload(each: UploadOut) -> UploadOut:
    return replace(each, id=f"upload:{each.id}")


def start_job(
    here: Context, kind: str, wanted: TransferIn | RankingIn | AskIn, sources: dict[str, str]
) -> JobOut:
    """Start a job on a target and sources, which are copied into its folder under these names."""
    store = (
        None if here.store.url == "memory://" else here.store.url
    )  # no other process opens memory
    files = sources | {"target": wanted.target}

    def prepare(folder: Path) -> dict[str, Any]:
        return {
            "names": {n: _copy_domain(here, id, folder / f"{n}.npz") for n, id in files.items()},
            "normalize": wanted.normalize,
            "options": wanted.model_dump(include={"n_labels", "n_classes", "n_components"}),
            "store": store,
            "n_sources": len(sources),
        }

    return job_out(here.jobs.start(kind, prepare))


def _copy_domain(here: Context, id: str, path: Path) -> str:
    """Write a domain to a file, and return its name."""
    kind, _, rest = id.partition(":")
    if kind == "upload":
        upload, stored = here.uploads.get(rest)
        shutil.copyfile(stored, path)
        return upload.name
    if kind != "store":
        raise Refused(422, f"a domain must be upload:ID or store:FINGERPRINT, got {id!r:.80}")
    found = here.store.summaries.run_of_domain(rest.replace("\0", ""))
    if found is None:
        raise Refused(404, f"the store has no domain {rest!r:.80}")
    key, is_source = found
    pair = here.store.run(key).pair
    domain = pair.source if is_source else pair.target
    write_domain(domain, path)
    return domain.name
