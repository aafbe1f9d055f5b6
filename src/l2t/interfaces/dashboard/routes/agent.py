"""The agent of the store: ask it, report outcomes, and see what it has learned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Path as PathParameter

from l2t.exceptions import InvalidInputError
from l2t.interfaces.dashboard.context import Here
from l2t.interfaces.dashboard.functions import name_of_version
from l2t.interfaces.dashboard.models import AskIn, ErrorOut, JobOut, OutcomeIn
from l2t.interfaces.dashboard.routes.transfers import placed, told

__all__ = ["router"]

router = APIRouter(tags=["agent"])

_VERSION = ("number", "parent", "origin", "error", "incumbent_error", "took_over", "created_at")
_SUGGESTION = ("id", "n_labels", "predicted", "interval", "verdict", "created_at")
Id = Annotated[str, PathParameter(pattern="^[0-9a-f]{10}$")]


@router.get("/versions")
def versions(here: Here) -> list[dict[str, Any]]:
    """Return the versions of the agent's function, the oldest first.

    `name` is that in /api/reflections, `runs` are those that it has learned from; `error` is the mean error
    of log ratios on the held-out runs that it was `judged_on`, `incumbent_error` that of the version in use
    until then.
    """
    found = here.functions.versions.all()
    used = here.functions.versions.in_use(found)
    return [
        {
            **{name: getattr(told, name) for name in _VERSION},
            "name": name_of_version(told.number, used),
            "runs": told.n_runs,
            "judged_on": told.n_judged,
            "in_use": told.number == used,
        }
        for told in (each.told for each in found)
    ]


@router.post("/versions/{number}/use", status_code=201)
def use(here: Here, number: Annotated[int, PathParameter(ge=1, le=10**9)]) -> dict[str, Any]:
    """Use a version again; it becomes the newest one, and is refined further."""
    again = here.agent.go_back(number)
    return versions(here)[again.number - 1]


@router.get("/suggestions")
def suggestions(here: Here, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> dict[str, Any]:
    """Return the suggestions whose outcome is open, the newest first.

    `choice` is the candidate that was chosen, "identity" to not transfer; the ratio lies in `interval` with
    90 % probability; `version` is that of the agent's function, 0 for none.
    """
    found = here.store.open_suggestions()
    items = [
        {
            **{name: getattr(each, name) for name in _SUGGESTION},
            "source": each.source_name,
            "target": each.target_name,
            "choice": each.algorithm,
            "version": each.function,
        }
        for each in found[:limit]
    ]
    return {"total": len(found), "items": items}


@router.post(
    "/suggestions",
    status_code=202,
    responses={429: {"model": ErrorOut, "description": "Too much is under way."}},
)
def ask(here: Here, wanted: AskIn) -> JobOut:
    """Begin to ask the agent, as a transfer is begun; its suggestion is then in the store."""
    url = here.store.url
    if url == "memory://":
        raise InvalidInputError(
            "a suggestion is kept in a store in a file or a database, got memory://"
        )

    def prepare(folder: Path) -> dict[str, Any]:
        names = placed(here, {"source": wanted.source, "target": wanted.target}, folder)
        options = wanted.model_dump(include={"n_labels", "n_classes"})
        return {"store": url, "names": names, "normalize": wanted.normalize, "options": options}

    return told(here.jobs.start("ask", prepare))


@router.post("/suggestions/{id}/outcome")
def tell(here: Here, id: Id, outcome: OutcomeIn) -> dict[str, Any]:
    """Report the outcome of a suggestion; the agent learns from it in the background."""
    told = here.agent.tell(id, outcome.accuracy_before, outcome.accuracy_after, outcome.n_labels)
    (score,) = told.scores
    return {
        "id": id,
        "run": told.key,
        "n_labels": score.n_labels,
        "improvement_ratio": score.improvement_ratio,
        "predicted": here.store.suggestion(id).predicted,
        "version_in_use": here.agent.version,
    }
