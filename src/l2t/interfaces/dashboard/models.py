"""Request bodies of the JSON routes, and responses that several of them share, as OpenAPI schemas."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from l2t.domains import Domain
from l2t.interfaces.dashboard.jobs import State

__all__ = ["AskIn", "DomainOut", "ErrorOut", "JobOut", "OutcomeIn", "RankingIn", "TransferIn"]

DomainId = Annotated[str, Field(description="upload:ID or store:FINGERPRINT", max_length=100)]
Labels = Annotated[int, Field(ge=1, le=100_000)]


class ErrorOut(BaseModel):
    """The error, in one sentence."""

    error: str


class DomainOut(BaseModel):
    """A domain that can be chosen."""

    id: str = Field(description="The id for /api/transfers and /api/rankings.")
    name: str
    n_rows: int
    n_features: int
    labelled: bool

    @classmethod
    def of(cls, domain: Domain) -> DomainOut:
        """Return the description of a domain of the store."""
        sizes = {"n_rows": len(domain), "n_features": domain.n_features}
        id = f"store:{domain.fingerprint}"
        return cls(id=id, name=domain.name, labelled=domain.y is not None, **sizes)


class _TargetIn(BaseModel):
    target: DomainId
    n_labels: Labels | None = Field(None, description="Labelled target rows, now or later.")
    n_classes: Annotated[int, Field(ge=2, le=100_000)] | None = Field(
        None, description="Classes of the target; by default those of its labelled rows, or 3."
    )
    normalize: Literal["rows", "zscore", "none"] = "rows"


class AskIn(_TargetIn):
    """A pair to ask the agent about, which knows the classes of all labelled targets in its store."""

    source: DomainId


class OutcomeIn(BaseModel):
    """The outcome of a suggestion; both accuracies are measured on the same test rows."""

    accuracy_before: float = Field(strict=True, description="Accuracy on X, from 0 to 1.")
    accuracy_after: float = Field(strict=True, description="Accuracy on the transformed rows.")
    n_labels: Labels | None = Field(
        None, strict=True, description="By default the number of the suggestion."
    )


class _WorkIn(_TargetIn):
    n_components: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        None, description="Most columns of the transformed target."
    )


class TransferIn(_WorkIn):
    """A pair to transfer between."""

    source: DomainId


class RankingIn(_WorkIn):
    """Sources to rank for a target."""

    sources: list[str] = Field(min_length=1, max_length=12)


class JobOut(BaseModel):
    """A job: its events since `after`, and, when it is done, its result and output files."""

    id: str
    kind: str
    state: State
    error: str
    seconds: float
    events: list[dict[str, Any]]
    next: int = Field(description="The value of `after` for the next request.")
    result: dict[str, Any] | None
    files: list[str]
