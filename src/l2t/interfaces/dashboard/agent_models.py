"""What the JSON routes of the agent give and take."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from l2t.interfaces.dashboard.models import TargetIn

__all__ = ["AskIn", "OutcomeIn", "OutcomeOut", "SuggestionOut", "SuggestionsOut", "VersionOut"]

Id = Field(description="The id of the suggestion.")


class VersionOut(BaseModel):
    """A version of the agent's function."""

    name: str = Field(description="Its name in /api/reflections.")
    number: int
    parent: int | None = Field(description="The version that it was made from.")
    origin: Literal["given", "learned", "refined", "recent", "gone back"]
    runs: int = Field(description="Runs of the store that it has learned from.")
    judged_on: int = Field(description="Held-out runs that it was judged on.")
    error: float | None = Field(description="The mean error of log ratios predicted there.")
    incumbent_error: float | None = Field(
        description="The same error of the version in use until then."
    )
    took_over: bool
    in_use: bool
    created_at: datetime


class AskIn(TargetIn):
    """A pair to ask the agent about; it knows the classes of all labelled targets in its store."""

    source: str = Field(description="upload:ID or store:FINGERPRINT", max_length=100)


class SuggestionOut(BaseModel):
    """A suggestion whose outcome is open."""

    id: str = Id
    source: str
    target: str
    choice: str = Field(description="The candidate that was chosen; identity: do not transfer.")
    n_labels: int | None
    predicted: float | None
    interval: list[float] | None = Field(description="Where the ratio lies with 90 % probability.")
    verdict: Literal["transfer", "no-transfer"]
    version: int = Field(description="The version that it comes from; 0 for none.")
    created_at: datetime


class SuggestionsOut(BaseModel):
    """The newest open suggestions, and how many there are."""

    total: int
    items: list[SuggestionOut]


class OutcomeIn(BaseModel):
    """The outcome of a suggestion; both accuracies are measured on the same test rows."""

    accuracy_before: float = Field(strict=True, description="Accuracy on X, from 0 to 1.")
    accuracy_after: float = Field(strict=True, description="Accuracy on the transformed rows.")
    n_labels: int | None = Field(
        None, strict=True, ge=1, le=100_000, description="By default those of the suggestion."
    )


class OutcomeOut(BaseModel):
    """What the suggestion was worth, beside what was expected."""

    id: str = Id
    run: str = Field(description="The key of the run that it became.")
    n_labels: int
    improvement_ratio: float
    predicted: float | None
    version_in_use: int
