"""What the JSON routes take, and what several of them give; these are schemas of the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from l2t.domains import Domain

__all__ = ["AskIn", "DomainOut", "ErrorOut", "JobOut", "OutcomeIn", "RankingIn", "TransferIn"]


class ErrorOut(BaseModel):
    """What went wrong, in one sentence."""

    error: str


class DomainOut(BaseModel):
    """A domain that can be chosen."""

    id: str = Field(description="What /api/transfers and /api/rankings take.")
    name: str
    n_rows: int
    n_features: int
    labelled: bool

    @classmethod
    def of(cls, domain: Domain) -> DomainOut:
        """Describe a domain of the store."""
        sizes = {"n_rows": len(domain), "n_features": domain.n_features}
        id = f"store:{domain.fingerprint}"
        return cls(id=id, name=domain.name, labelled=domain.y is not None, **sizes)


class _TargetIn(BaseModel):
    target: str = Field(description="upload:ID or store:FINGERPRINT", max_length=100)
    n_labels: int | None = Field(
        None, ge=1, le=100_000, description="Labels you have or will have."
    )
    n_classes: int | None = Field(
        None,
        ge=2,
        le=100_000,
        description="Classes of the target; by default those of its labelled rows, or 3.",
    )
    normalize: Literal["rows", "zscore", "none"] = "rows"


class AskIn(_TargetIn):
    """A pair to ask the agent about; it knows the classes of all labelled targets in its store."""

    source: str = Field(description="upload:ID or store:FINGERPRINT", max_length=100)


class OutcomeIn(BaseModel):
    """The outcome of a suggestion; both accuracies are measured on the same test rows."""

    accuracy_before: float = Field(strict=True, description="Accuracy on X, from 0 to 1.")
    accuracy_after: float = Field(strict=True, description="Accuracy on the transformed rows.")
    n_labels: int | None = Field(
        None, strict=True, ge=1, le=100_000, description="By default those of the suggestion."
    )


class _WorkIn(_TargetIn):
    n_components: int | None = Field(
        None, ge=1, le=10_000, description="Columns of the transformed target, at most."
    )


class TransferIn(_WorkIn):
    """A pair to transfer between."""

    source: str = Field(description="upload:ID or store:FINGERPRINT", max_length=100)


class RankingIn(_WorkIn):
    """Sources to rank for a target."""

    sources: list[str] = Field(min_length=1, max_length=12)


class JobOut(BaseModel):
    """A computation: its events since `after`, and when it is done its result and files."""

    id: str
    kind: str
    state: Literal["running", "done", "failed", "cancelled"]
    error: str
    seconds: float
    events: list[dict[str, Any]]
    next: int = Field(description="What to give as `after` next time.")
    result: dict[str, Any] | None
    files: list[str]
