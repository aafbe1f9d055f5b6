"""The agent of the store: ask it, report outcomes, and see what it has learned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Path as PathParameter

from l2t.exceptions import InvalidInputError
from l2t.experiences import SuggestionRecord
from l2t.interfaces.dashboard.agent_models import (
    AskIn,
    OutcomeIn,
    OutcomeOut,
    SuggestionOut,
    SuggestionsOut,
    VersionOut,
)
from l2t.interfaces.dashboard.context import Here
from l2t.interfaces.dashboard.functions import name_of_version
from l2t.interfaces.dashboard.models import ErrorOut, JobOut
from l2t.interfaces.dashboard.routes.transfers import placed, told

__all__ = ["router"]

router = APIRouter(tags=["agent"])

Id = Annotated[str, PathParameter(pattern="^[0-9a-f]{10}$")]


@router.get("/versions")
def versions(here: Here) -> list[VersionOut]:
    """Return the versions of the agent's function, the oldest first."""
    found = here.functions.versions.all()
    used = here.functions.versions.in_use(found)
    return [
        VersionOut(
            name=name_of_version(each.told.number, used),
            number=each.told.number,
            parent=each.told.parent,
            origin=each.told.origin,
            runs=each.told.n_runs,
            judged_on=each.told.n_judged,
            error=each.told.error,
            incumbent_error=each.told.incumbent_error,
            took_over=each.told.took_over,
            in_use=each.told.number == used,
            created_at=each.told.created_at,
        )
        for each in found
    ]


@router.post("/versions/{number}/use", status_code=201)
def use(here: Here, number: Annotated[int, PathParameter(ge=1, le=10**9)]) -> VersionOut:
    """Use a version again; it becomes the newest one, and is refined further."""
    again = here.agent.go_back(number)
    return versions(here)[again.number - 1]


@router.get("/suggestions")
def suggestions(here: Here, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> SuggestionsOut:
    """Return the suggestions whose outcome is open, the newest first."""
    found = here.store.open_suggestions()
    return SuggestionsOut(items=[_suggestion(each) for each in found[:limit]], total=len(found))


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
def tell(here: Here, id: Id, outcome: OutcomeIn) -> OutcomeOut:
    """Report the outcome of a suggestion; the agent learns from it in the background."""
    run = here.agent.tell(id, outcome.accuracy_before, outcome.accuracy_after, outcome.n_labels)
    (score,) = run.scores
    return OutcomeOut(
        id=id,
        run=run.key,
        n_labels=score.n_labels,
        improvement_ratio=score.improvement_ratio,
        predicted=here.store.suggestion(id).predicted,
        version_in_use=here.agent.version,
    )


def _suggestion(each: SuggestionRecord) -> SuggestionOut:
    return SuggestionOut(
        id=each.id,
        source=each.source_name,
        target=each.target_name,
        choice=each.algorithm,
        n_labels=each.n_labels,
        predicted=each.predicted,
        interval=None if each.interval is None else list(each.interval),
        verdict="transfer" if each.verdict == "transfer" else "no-transfer",
        version=each.function,
        created_at=each.created_at,
    )
