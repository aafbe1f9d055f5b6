"""Request bodies of the JSON routes, and shared responses, as OpenAPI schemas."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from l2t.domains import Domain
from l2t.interfaces.dashboard.jobs import State

DomainId = Annotated[str, Field(description="store:FINGERPRINT", max_length=100)]
Column = Annotated[str, Field(max_length=1000)]
Labels = Annotated[int, Field(ge=1, le=100_000)]


class ErrorOut(BaseModel):
    """The error, in one sentence."""

    error: str


class DomainOut(BaseModel):
    """A domain of the store."""

    id: str = Field(description="The id for predictions, suggestions and rankings.")
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
    n_labels: Labels | None = Field(None, description="Number of labelled target rows.")
    n_classes: Annotated[int, Field(ge=2, le=100_000)] | None = Field(
        None, description="Number of target classes; by default those of its labelled rows, or 3."
    )
    normalize: Literal["rows", "zscore", "none"] = "rows"


class AskIn(_TargetIn):
    """A pair to ask the agent about."""

    source: DomainId


class OutcomeIn(BaseModel):
    """The outcome of a suggestion; both accuracies are measured on the same test rows."""

    accuracy_before: float = Field(strict=True, description="Accuracy on X, from 0 to 1.")
    accuracy_after: float = Field(strict=True, description="Accuracy on the transformed rows.")
    n_labels: Labels | None = Field(
        None, strict=True, description="Number of labelled rows; by default that of the suggestion."
    )


class RankingIn(_TargetIn):
    """Sources to rank for a target."""

    sources: list[str] = Field(min_length=1, max_length=12)


class FileIn(BaseModel):
    """A domain of the store, or an uploaded file with the roles of those columns that are not features."""

    id: str = Field(description="upload:ID or store:FINGERPRINT", max_length=100)
    label: Column | None = Field(None, description="The column of labels.")
    labeled: Column | None = Field(None, description="The column that marks labelled rows.")
    ids: list[Column] = Field([], description="Columns that identify rows.")
    ignore: list[Column] = Field([], description="Columns that are not used.")


class PredictionIn(BaseModel):
    """A target to classify, with the help of sources."""

    target: FileIn
    sources: list[FileIn] = Field([], max_length=12)
    impute: Literal["median", "mean", "drop"] | None = Field(
        None, description="How to fill missing cells, or drop their rows; None rejects them."
    )


class NameIn(BaseModel):
    """The new name of a prediction."""

    name: str = Field(min_length=1, max_length=200, pattern=r"\S")


class RowIn(BaseModel):
    """A row of the labelled target, counted from 0."""

    row: int = Field(ge=0, strict=True)


class LabelIn(RowIn):
    """The label of a row, which may be a new class."""

    label: str = Field(max_length=1000)


class StrategyIn(BaseModel):
    """How rows to label are suggested."""

    strategy: Literal["informative", "diverse", "balanced", "random"]


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
    is_repeatable: bool = Field(
        False, description="Whether it can be predicted again, and its target labelled."
    )
