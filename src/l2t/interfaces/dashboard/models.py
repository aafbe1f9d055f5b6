"""What the JSON routes give and take; these are the schemas of the OpenAPI document."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from l2t.experiences import Score

__all__ = [
    "AssessmentOut",
    "CollectionOut",
    "CollectionsOut",
    "DistributionOut",
    "DomainOut",
    "ErrorOut",
    "ExperienceOut",
    "ExperiencesOut",
    "FacetsOut",
    "FailureOut",
    "FunctionOut",
    "FunctionSummaryOut",
    "GainsOut",
    "JobOut",
    "MinuteOut",
    "PictureOut",
    "RankingIn",
    "RunOut",
    "SceneOut",
    "StatisticsOut",
    "TargetIn",
    "TotalsOut",
    "TransferIn",
    "UploadOut",
]

Key = Field(description="The key of the run, a sha256 of what determines it.")


class ErrorOut(BaseModel):
    """What went wrong, in one sentence."""

    error: str


class TotalsOut(BaseModel):
    """How much the store holds."""

    runs: int
    failed: int
    experiences: int
    pairs: int
    domains: int
    algorithms: int
    first: datetime | None
    last: datetime | None


class DistributionOut(BaseModel):
    """Improvement ratios of one algorithm at one number of labels."""

    algorithm: str
    n_labels: int
    count: int
    mean: float
    better: float = Field(description="Share of ratios above 1.")
    quantiles: list[float] = Field(description="At 5, 25, 50, 75 and 95 %.")
    bins: list[float] = Field(description="Middles of the bins of width 0.01 that are not empty.")
    counts: list[int]


class GainsOut(BaseModel):
    """Mean improvement ratios by source (rows) and target (columns)."""

    sources: list[str]
    targets: list[str]
    mean: list[list[float | None]]
    count: list[list[int]]
    left_out: int = Field(description="Sources and targets with the fewest experiences, left out.")


class FacetsOut(BaseModel):
    """What experiences can be filtered by."""

    algorithms: list[str]
    label_counts: list[int]
    names: list[str]
    left_out: int = Field(description="Names beyond the first thousand.")


class ExperienceOut(BaseModel):
    """A run at one number of labels; a failed run has no scores."""

    run: str = Key
    created_at: datetime
    algorithm: str
    source: str
    target: str
    n_labels: int | None
    accuracy_before: float | None
    standard_error_before: float | None
    accuracy_after: float | None
    standard_error_after: float | None
    improvement_ratio: float | None
    duration: float
    status: Literal["done", "failed"]
    reason: str


class ExperiencesOut(BaseModel):
    """A page of experiences, and how many match in all."""

    total: int
    offset: int
    items: list[ExperienceOut]


class DomainOut(BaseModel):
    """A domain that can be chosen."""

    id: str = Field(description="What /api/transfers and /api/rankings take.")
    name: str
    n_rows: int
    n_features: int
    labelled: bool


class StatisticsOut(BaseModel):
    """d, tau and the standard deviation of the distance (root of Q's diagonal) over bandwidths."""

    exponents: list[float] = Field(description="p of the bandwidths 2^p eta.")
    d: list[float]
    tau: list[float]
    deviation: list[float]
    n_neighbors: int


class RunOut(BaseModel):
    """One run in full."""

    run: str = Key
    algorithm: str
    params: dict[str, Any]
    random_state: Any
    protocol: dict[str, Any]
    source: DomainOut
    target: DomainOut
    status: Literal["done", "failed"]
    reason: str
    W_shape: list[int] | None
    scores: list[Score]
    statistics: StatisticsOut | None
    duration: float
    version: str
    host: str
    created_at: datetime


class SceneOut(BaseModel):
    """What is drawn of a domain: the class of each row (-1 where it is not known)."""

    name: str
    classes: list[str]
    codes: list[int]
    rows: int


class PictureOut(BaseModel):
    """Both domains in two principal components, before and after W, in a square from -1 to 1."""

    source: SceneOut
    target: SceneOut
    before: dict[str, list[list[float]]]
    after: dict[str, list[list[float]]] | None


class FunctionSummaryOut(BaseModel):
    """A reflection function among those that there are."""

    name: str
    origin: str
    learned_at: datetime | None
    latest: bool = Field(description="Whether it was learned last.")
    experiences: int | None
    pairs: int | None
    held_out_rank_correlation: float | None = Field(
        description="Spearman's between predicted and actual ratios on pairs held out in learning."
    )
    held_out_rmse: float | None
    version: str | None


class FunctionOut(BaseModel):
    """A reflection function in full: 1/f = beta'd + lambda beta'Q beta + mu/(beta'tau) + b."""

    summary: FunctionSummaryOut
    exponents: list[float]
    beta: list[float]
    lambda_: float
    mu: float
    b: float
    n_neighbors: int
    label_range: list[int]
    plans: list[dict[str, Any]]
    rule: dict[str, float]
    calibrated_on: int | None = Field(description="Pairs behind the intervals.")
    algorithms: dict[str, int]


class AssessmentOut(BaseModel):
    """What a function predicts for pairs of this store, against what was measured."""

    name: str
    pairs: Literal["all", "held-out"]
    n_pairs: int
    n_runs: int
    rank_correlation: float | None
    rmse: float | None
    terms: dict[str, float]
    points: list[dict[str, Any]]
    coverage: list[dict[str, float]]
    reliability: list[dict[str, float]]
    calibrated_for: Literal["base algorithms", "searched W"] | None = Field(
        description=(
            "What its intervals are for. Those of a function whose plans were chosen are for the W that "
            "a search finds; the runs of a store are of base algorithms, and tell nothing about these."
        )
    )
    perhaps_seen: bool = Field(
        description="Whether the function may have been learned from this very store."
    )


class CollectionOut(BaseModel):
    """A collection, running or ended."""

    id: str
    host: str
    pid: int
    started_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    state: Literal["running", "finished", "stopped", "silent"] = Field(
        description="silent: neither ended nor heard of for long, or its process is gone."
    )
    outcome: str
    latest: str
    total: int | None
    done: int
    failed: int
    already_there: int
    per_minute: float | None = Field(description="Runs a minute so far.")
    seconds_left: float | None


class FailureOut(BaseModel):
    """A reason why runs failed."""

    algorithm: str
    reason: str
    count: int
    last: datetime


class MinuteOut(BaseModel):
    """Runs that were made in one minute."""

    minute: datetime
    done: int
    failed: int


class CollectionsOut(BaseModel):
    """What is being collected, how fast, and what fails."""

    now: datetime
    collections: list[CollectionOut]
    minutes: list[MinuteOut]
    failures: list[FailureOut]


class UploadOut(BaseModel):
    """An uploaded domain."""

    id: str = Field(description="What /api/transfers and /api/rankings take.")
    name: str
    n_rows: int
    n_features: int
    n_classes: int
    n_labelled: int | None = Field(
        description="Rows marked as labelled; null where none is marked."
    )


class TargetIn(BaseModel):
    """A target to find W for."""

    target: str = Field(description="upload:ID or store:FINGERPRINT", max_length=100)
    n_labels: int | None = Field(
        None, ge=1, le=100_000, description="Labels you have or will have."
    )
    normalize: Literal["rows", "zscore", "none"] = "rows"


class _WorkIn(TargetIn):
    n_components: int | None = Field(None, ge=1, le=10_000, description="Columns of W, at most.")
    constraint: Literal["soft", "grassmann", "sphere"] | None = Field(
        None, description="Where W is searched; by default what the function's plan says."
    )
    n_iter: int | None = Field(None, ge=0, le=200, description="Steps of the search.")
    reflection: str = Field("default", max_length=200, description="A name of /api/reflections.")


class TransferIn(_WorkIn):
    """A pair to find W for."""

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
