"""Experiences: by page, one run in full, and as csv."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response, StreamingResponse

from l2t.display import csv_cell
from l2t.experiences import Experience, Run, Score
from l2t.experiences.experience import TrainedOn, ratio_error
from l2t.interfaces.dashboard import pictures
from l2t.interfaces.dashboard.context import Here
from l2t.interfaces.dashboard.errors import Refused
from l2t.interfaces.dashboard.models import DomainOut
from l2t.typing import JsonObject

router = APIRouter(tags=["experiences"])

Key = Annotated[str, Path(pattern="^[0-9a-f]{64}$", description="The key of a run.")]
Text = Annotated[str, Query(max_length=500, pattern=r"^[^\x00]+$")]
NonNegative = Annotated[int, Query(ge=0, le=10**9)]
ExperienceOrder = Literal["created_at", "algorithm", "duration", "improvement_ratio", "n_labels"]
_MAX_NAMES = 1000
_MAX_RUNS = 200  # in one filter
_SCORES = [column.name for column in fields(Score)]
_COLUMNS = ["run", "created_at", "algorithm", "source", "target", *_SCORES]
_COLUMNS += ["duration", "status", "reason"]
_RUN_ROW = ["run", "created_at", "algorithm", "source", "target", "duration", "status", "reason"]
_RUN = ["algorithm", "random_state", "status", "reason", "duration", "version", "host"]
_RUN += ["created_at"]


def _filters(
    algorithm: Annotated[list[Text] | None, Query(description="Any of these.")] = None,
    n_labels: Annotated[list[NonNegative] | None, Query(description="Any of these.")] = None,
    domain: Annotated[
        Text | None, Query(description="Source or target, by its whole name.")
    ] = None,
    trained_on: Annotated[
        TrainedOn | None, Query(description="What the classifier was trained on.")
    ] = None,
    status: Literal["done", "failed"] | None = None,
    since: Annotated[datetime | None, Query(description="Stored at this time or later.")] = None,
    until: Annotated[datetime | None, Query(description="Stored before this time.")] = None,
    run: Annotated[
        list[Annotated[str, Query(pattern="^[0-9a-f]{64}$")]] | None,
        Query(description="Only these runs.", max_length=_MAX_RUNS),
    ] = None,
) -> JsonObject:
    filters: JsonObject = {"algorithm": algorithm, "n_labels": n_labels, "domain": domain}
    filters |= {"status": status, "trained_on": trained_on, "key": run}
    return filters | {"since": _in_utc(since), "until": _in_utc(until)}


Filtered = Annotated[JsonObject, Depends(_filters)]
OrderBy = Annotated[ExperienceOrder, Query(description="What to sort by.")]


@router.get("/facets")
def facets(here: Here) -> JsonObject:
    """Return the values to filter by, with the first thousand names of domains."""
    algorithms, counts, names = here.memo.get("facets", here.store.summaries.facets)
    choices = {"algorithms": algorithms, "label_counts": counts, "names": names[:_MAX_NAMES]}
    return choices | {"left_out": max(len(names) - _MAX_NAMES, 0)}


@router.get("/experiences")
def experiences(
    here: Here,
    filters: Filtered,
    order: OrderBy = "created_at",
    descending: bool = True,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> JsonObject:
    """Return a page of experiences, and the total number of matches; a failed run has no scores."""
    experiences = here.store.experiences(
        limit=limit, offset=offset, order=order, descending=descending, statistics=False, **filters
    )
    items = [_experience(experience) for experience in experiences]
    key = ("count", *(str(value) for value in filters.values()))
    total = here.memo.get(key, lambda: here.store.count(**filters))
    return {"total": total, "offset": offset, "items": items}


@router.get("/runs")
def runs(
    here: Here,
    filters: Filtered,
    order: OrderBy = "created_at",
    descending: bool = True,
    limit: Annotated[int, Query(ge=1, le=200)] = 30,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> JsonObject:
    """Return a page of runs, each with its scores by number of labels, and the total number of matches.

    `ratio_error` is the standard error of an improvement ratio; None where an accuracy or n_labels is 0.
    """
    page: Any = {"limit": limit, "offset": offset, "order": order, "descending": descending}
    key = ("runs", *map(str, (*page.values(), *filters.values())))
    keys, total = here.memo.get(key, lambda: here.store.page_of_runs(**page, **filters))
    by_key: dict[str, JsonObject] = {key: {} for key in keys}
    wanted = {name: value for name, value in filters.items() if name != "key"}
    some = here.store.experiences(key=keys, statistics=False, **wanted) if keys else iter(())
    for experience in some:
        whole = _experience(experience)
        run = by_key[experience.run_key] or {name: whole[name] for name in _RUN_ROW} | {
            "scores": []
        }
        if experience.n_labels is not None:
            run["scores"].append(_score(experience))
        by_key[experience.run_key] = run
    for run in by_key.values():
        run["scores"].sort(key=lambda score: (score["trained_on"] != "target", score["n_labels"]))
    return {"total": total, "offset": offset, "items": list(by_key.values())}


@router.get(
    "/experiences.csv",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {}}}},
)
def experiences_csv(
    here: Here, filters: Filtered, order: OrderBy = "created_at", descending: bool = True
) -> StreamingResponse:
    """Return all matching experiences as csv."""
    experiences = here.store.experiences(
        order=order, descending=descending, statistics=False, **filters
    )
    headers = {"content-disposition": 'attachment; filename="experiences.csv"'}
    return StreamingResponse(_csv(experiences), media_type="text/csv", headers=headers)


@router.get("/runs/{key}")
def run(here: Here, key: Key) -> JsonObject:
    """Return one run in full.

    `scores` are of classifiers trained on the target, `other_scores` of those trained on the source or both.
    `statistics` are d, tau and the standard deviation of the distance (root of Q's diagonal) over the
    bandwidths 2^p eta; p is in `exponents`.
    """
    return here.memo.get(("run", key), lambda: _run(here.store.run(key)))


@router.get("/runs/{key}/picture")
def picture(here: Here, key: Key) -> JsonObject:
    """Return both domains of a run in two principal components, before and after its W.

    Rows lie in a square from -1 to 1; `codes` are their classes, -1 if unknown.
    """

    def compute() -> JsonObject:
        run = here.store.run(key)
        return pictures.picture(run.pair, run.W)

    return here.memo.get(("picture", key), compute)


@router.get(
    "/runs/{key}/W.npy",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
def factors(here: Here, key: Key) -> Response:
    """Return the W of a run as a numpy file."""
    run = here.store.run(key)
    if run.W is None:
        raise Refused(404, f"run {key[:12]} failed and has no W: {run.reason}")
    file = io.BytesIO()
    np.save(file, run.W, allow_pickle=False)
    headers = {"content-disposition": f'attachment; filename="W-{key[:12]}.npy"'}
    return Response(file.getvalue(), media_type="application/octet-stream", headers=headers)


def _in_utc(time: datetime | None) -> datetime | None:
    return time.replace(tzinfo=UTC) if time is not None and time.tzinfo is None else time


def _experience(experience: Experience) -> JsonObject:
    columns = {name: getattr(experience, name, None) for name in _COLUMNS}
    named = {
        "run": experience.run_key,
        "source": experience.source_name,
        "target": experience.target_name,
    }
    return columns | named | (dict.fromkeys(_SCORES) if experience.n_labels is None else {})


def _csv(experiences: Iterator[Experience]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for experience in experiences:
        row = _experience(experience) | {"created_at": experience.created_at.isoformat()}
        writer.writerow({name: csv_cell(value) for name, value in row.items()})
        if buffer.tell() > 2**16:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _run(run: Run) -> JsonObject:
    return {
        "run": run.key,
        **{name: getattr(run, name) for name in _RUN},
        "scores": [_score(score) for score in run.scores if score.trained_on == "target"],
        "other_scores": [_score(score) for score in run.scores if score.trained_on != "target"],
        "params": dict(run.params),
        "protocol": dict(run.protocol),
        "source": DomainOut.of(run.pair.source),
        "target": DomainOut.of(run.pair.target),
        "W_shape": None if run.W is None else run.W.shape,
        "statistics": None if run.statistics is None else pictures.curves(run.statistics),
    }


def _score(score: Score | Experience) -> JsonObject:
    error = ratio_error(score)
    columns = {name: getattr(score, name) for name in _SCORES}
    return columns | {"ratio_error": error if math.isfinite(error) else None}
