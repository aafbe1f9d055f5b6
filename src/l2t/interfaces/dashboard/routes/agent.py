"""The agent of the store: suggestions and their outcomes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi import Path as PathParameter

from l2t.algorithms import traits_by_name
from l2t.interfaces.dashboard.context import Here
from l2t.interfaces.dashboard.models import AskIn, JobOut, OutcomeIn
from l2t.interfaces.dashboard.routes.predictions import TOO_MANY, start_job
from l2t.typing import JsonObject

router = APIRouter(tags=["agent"])

_SUGGESTION = ("id", "n_labels", "predicted", "interval", "verdict", "run", "created_at")
_OUTCOME = ("n_labels", "accuracy_before", "accuracy_after", "improvement_ratio")
Id = Annotated[str, PathParameter(pattern="^[0-9a-f]{10}$")]


@router.get("/suggestions")
def suggestions(here: Here, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> JsonObject:
    """Return the suggestions: first those without an outcome, each time the newest first.

    `choice` is the chosen candidate, "identity" for no transfer, and `uses_source` whether it depends on the
    source's rows; `interval` is the 90 % prediction interval; `outcome` has the reported accuracies and their
    ratio, null while there are none.
    """
    suggestions = here.agent.list()
    items = [
        {
            **{name: getattr(suggestion, name) for name in _SUGGESTION},
            "source": suggestion.source_name,
            "target": suggestion.target_name,
            "choice": suggestion.algorithm,
            "uses_source": traits_by_name(suggestion.algorithm).uses_source,
            "outcome": suggestion.outcome
            and {name: getattr(suggestion.outcome, name) for name in _OUTCOME},
        }
        for suggestion in suggestions[:limit]
    ]
    return {"total": len(suggestions), "items": items}


@router.post("/suggestions", status_code=202, responses=TOO_MANY)
def ask(here: Here, wanted: AskIn) -> JobOut:
    """Start a job that asks the agent; its suggestion is stored."""
    here.shared_store("a suggestion")  # or an error
    return start_job(here, "ask", wanted, {"source": wanted.source})


@router.post("/suggestions/{id}/outcome")
def tell(here: Here, id: Id, outcome: OutcomeIn) -> JsonObject:
    """Report the outcome of a suggestion, which becomes an experience of the store."""
    run = here.agent.tell(id, outcome.accuracy_before, outcome.accuracy_after, outcome.n_labels)
    (score,) = run.scores
    return {
        "id": id,
        "run": run.key,
        "n_labels": score.n_labels,
        "improvement_ratio": score.improvement_ratio,
        "predicted": here.store.suggestion(id).predicted,
    }
