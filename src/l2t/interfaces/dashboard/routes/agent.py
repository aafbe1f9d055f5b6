"""The agent of the store: suggestions, outcomes, and versions of its function."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Path as PathParameter

from l2t.interfaces.dashboard.context import Here
from l2t.interfaces.dashboard.functions import number_in_use, version_name
from l2t.interfaces.dashboard.models import AskIn, JobOut, OutcomeIn
from l2t.interfaces.dashboard.routes.predictions import TOO_MANY, start_job

router = APIRouter(tags=["agent"])

_VERSION = ("number", "parent", "origin", "error", "incumbent_error", "took_over", "created_at")
_SUGGESTION = ("id", "n_labels", "predicted", "interval", "verdict", "created_at")
Id = Annotated[str, PathParameter(pattern="^[0-9a-f]{10}$")]


@router.get("/versions")
def versions(here: Here) -> list[dict[str, Any]]:
    """Return the versions of the agent's function, the oldest first.

    `name` is the name in /api/reflections, `runs` the number of runs it was learned from; `error` is the mean
    error of its log ratios on the `judged_on` held-out runs, `incumbent_error` that of the version before it.
    """
    found = here.store.functions()
    used = number_in_use(found)
    return [
        {
            **{name: getattr(each, name) for name in _VERSION},
            "name": version_name(each.number, used),
            "runs": each.n_runs,
            "judged_on": each.n_judged,
            "in_use": each.number == used,
        }
        for each in found
    ]


@router.post("/versions/{number}/use", status_code=201)
def use(here: Here, number: Annotated[int, PathParameter(ge=1, le=10**9)]) -> dict[str, Any]:
    """Use a version again; it becomes the newest one."""
    again = here.agent.roll_back(number)
    return versions(here)[again.number - 1]


@router.get("/suggestions")
def suggestions(here: Here, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> dict[str, Any]:
    """Return the suggestions without a reported outcome, the newest first.

    `choice` is the chosen candidate, "identity" for no transfer; `interval` is the 90 % prediction interval;
    `version` is the version of the agent's function, 0 for none.
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


@router.post("/suggestions", status_code=202, responses=TOO_MANY)
def ask(here: Here, wanted: AskIn) -> JobOut:
    """Start a job that asks the agent; its suggestion is stored."""
    here.shared_store("a suggestion")  # or an error
    return start_job(here, "ask", wanted, {"source": wanted.source})


@router.post("/suggestions/{id}/outcome")
def tell(here: Here, id: Id, outcome: OutcomeIn) -> dict[str, Any]:
    """Report the outcome of a suggestion; the agent learns from it in the background."""
    run = here.agent.tell(id, outcome.accuracy_before, outcome.accuracy_after, outcome.n_labels)
    (score,) = run.scores
    return {
        "id": id,
        "run": run.key,
        "n_labels": score.n_labels,
        "improvement_ratio": score.improvement_ratio,
        "predicted": here.store.suggestion(id).predicted,
        "version_in_use": here.agent.version,
    }
