"""Uploads, and jobs that predict or rank sources, with their output files."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
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
    FileIn,
    JobOut,
    PredictionIn,
    RankingIn,
)
from l2t.interfaces.dashboard.uploads import Upload as UploadOut
from l2t.typing import JsonObject

TOO_MANY: dict[int | str, Any] = {
    429: {"model": ErrorOut, "description": "Too many jobs are running."}
}
router = APIRouter(tags=["predictions"], responses=TOO_MANY)

Id = Annotated[str, PathParameter(pattern="^[0-9a-f]{32}$")]
_MAX_EVENTS = 200  # per response


@router.get("/domains")
def domains(here: Here) -> list[DomainOut]:
    """Return the domains of the store, by name; at most 500."""

    def compute() -> list[DomainOut]:
        domains = here.store.summaries.domains()
        return [DomainOut(id=f"store:{domain['fingerprint']}", **domain) for domain in domains]

    return here.memo.get("domains", compute)


@router.get("/uploads")
def uploads(here: Here) -> list[UploadOut]:
    """Return the uploaded files, the newest first."""
    return [_upload(upload) for upload in here.uploads.all()]


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
    name: Annotated[
        str, Query(max_length=300, description="The name of the file, with its suffix.")
    ],
    label: Annotated[
        str | None, Query(max_length=200, description="The label column, if the file has it.")
    ] = None,
) -> UploadOut:
    """Upload a csv, npz, xlsx or parquet file, sent as the body, and return its preview.

    `preview` has its columns with a proposed role for each.
    """
    return _upload(await here.uploads.receive(request.stream(), name, label))


@router.delete("/uploads/{id}", status_code=204)
def remove_upload(here: Here, id: Id) -> None:
    """Delete an uploaded file."""
    here.uploads.remove(id)


@router.post("/examples", status_code=201)
async def example(here: Here) -> list[UploadOut]:
    """Create the files of an example: a source, and a target with a few labels."""
    return [_upload(upload) for upload in await here.uploads.create_example()]


@router.post("/checks")
async def check(here: Here, wanted: PredictionIn) -> JsonObject:
    """Return what a prediction would do: `sentences`, `warnings`, and `notes` on files."""
    return await here.jobs.run("check", lambda folder: _prediction(here, wanted, folder))


@router.post("/predictions", status_code=202)
def predict(here: Here, wanted: PredictionIn) -> JobOut:
    """Start a job that predicts the class of every row of the target; its events are the stages."""
    prepare = partial(_prediction, here, wanted)
    return job_out(here.jobs.start("predict", prepare, on_done=here.keep))


@router.post("/rankings", status_code=202)
def ranking(here: Here, wanted: RankingIn) -> JobOut:
    """Start a job that ranks sources by what each adds; each event is one ranked source."""
    sources = {f"source{i}": source for i, source in enumerate(wanted.sources)}
    return start_job(here, "rank", wanted, sources)


@router.get("/jobs/{id}")
def job(
    here: Here,
    id: Id,
    after: Annotated[
        int, Query(ge=0, le=10**9, description="Number of events received before.")
    ] = 0,
) -> JobOut:
    """Return the state and progress of a job, or a prediction that was kept."""
    running = here.jobs.find(id)
    if running is not None:
        return job_out(running, after)
    past, result = here.history.get(id)
    return JobOut(
        id=id,
        kind="predict",
        state="done",
        error="",
        events=[],
        next=after,
        result=result,
        files=here.history.files(id),
        seconds=past.seconds,
        is_repeatable=past.is_repeatable,
    )


@router.get(
    "/jobs/{id}/files/{name}",
    response_class=FileResponse,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
def job_file(here: Here, id: Id, name: str) -> FileResponse:
    """Return an output file of a job."""
    job = here.jobs.find(id)
    if job is None:
        path = here.history.file(id, name)
    elif job.state != "done" or name not in job.files():
        raise Refused(404, f"the job has no file {name!r:.40}")
    else:
        path = job.folder / "out" / name
    return FileResponse(path, media_type="application/octet-stream", filename=name)


@router.delete("/jobs/{id}", status_code=204)
def cancel(here: Here, id: Id) -> None:
    """Cancel a job."""
    here.jobs.cancel(here.jobs.get(id))


def job_out(job: Job, after: int = 0) -> JobOut:
    """Return the state of a job with its events from index `after` on."""
    state = job.state  # read before the events, so that none is missing when it is done
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
        is_repeatable=state == "done" and job.kind == "predict",
    )


def _upload(upload: UploadOut) -> UploadOut:
    return replace(upload, id=f"upload:{upload.id}")


def start_job(
    here: Context, kind: str, wanted: RankingIn | AskIn, sources: dict[str, str]
) -> JobOut:
    """Start a job on a target and sources, which are copied into its folder by name."""
    url = here.store.url
    store = None if url == "memory://" else url  # other processes cannot open memory
    files = sources | {"target": wanted.target}

    def prepare(folder: Path) -> JsonObject:
        return {
            "names": {n: _copy_domain(here, id, folder / f"{n}.npz") for n, id in files.items()},
            "normalize": wanted.normalize,
            "options": wanted.model_dump(include={"n_labels", "n_classes"}),
            "store": store,
            "n_sources": len(sources),
        }

    return job_out(here.jobs.start(kind, prepare))


def _prediction(here: Context, wanted: PredictionIn, folder: Path) -> JsonObject:
    """Copy the files into the folder of a job, and return its request; the target is last."""
    files = []
    for number, domain in enumerate((*wanted.sources, wanted.target)):
        kind, _, id = domain.id.partition(":")
        if kind == "upload":
            upload, stored = here.uploads.get(id)
            path, name = folder / f"{number}{stored.suffix}", upload.name
            shutil.copyfile(stored, path)
            reading = _reading(upload, domain)
        else:
            path, reading = folder / f"{number}.npz", {}
            name = _copy_domain(here, domain.id, path)
        files.append({"path": str(path), "name": name, "reading": reading})
    return {"files": files, "impute": wanted.impute}


def _reading(upload: UploadOut, wanted: FileIn) -> JsonObject:
    """Return the arguments for reading a file: columns by role, features being those without another."""
    names = [column["name"] for column in upload.preview["columns"]]
    if not names:
        return {}
    others = {wanted.label, wanted.labeled, *wanted.ids, *wanted.ignore}
    return {
        "label": wanted.label,
        "labeled": wanted.labeled,
        "id": wanted.ids,
        "ignore": wanted.ignore,
        "features": [name for name in names if name not in others],
        "decimal": upload.preview["decimal"],
        "missing_numbers": upload.preview["missing"],
    }


def _copy_domain(here: Context, id: str, path: Path) -> str:
    """Write a domain of the store to a file, and return its name."""
    kind, _, rest = id.partition(":")
    if kind != "store":
        raise Refused(422, f"a domain must be store:FINGERPRINT, got {id!r:.80}")
    wanted = rest.replace("\0", "")
    experience = next(here.store.experiences(domain=wanted, limit=1, statistics=False), None)
    if experience is None:
        raise Refused(404, f"the store has no domain {rest!r:.80}")
    pair = here.store.run(experience.run_key).pair
    domain = pair.source if experience.source == wanted else pair.target
    write_domain(domain, path)
    return domain.name
