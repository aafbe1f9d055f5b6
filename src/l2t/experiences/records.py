"""What a store keeps beside runs: plain records."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

#: Where a version of the agent's function comes from.
VersionOrigin = Literal["given", "learned", "refined", "rolled back"]
#: What the agent does with a run: learn from it, or judge what was learned from others.
Use = Literal["learning", "judging"]


@dataclass(frozen=True)
class FunctionVersion:
    """A version of the agent's function.

    It was given at the beginning, learned from runs, has a refined forecast, or is an earlier version that is
    used again (`origin`); `parent` is the version that it was made from. On `n_judged` held-out runs it had
    the mean error `error` in log ratios, and the version in use until then `incumbent_error`; it is in use
    from then on if it `took_over`. `content` is the function as JSON.
    """

    number: int
    parent: int | None
    origin: VersionOrigin
    n_runs: int
    n_judged: int
    error: float | None
    incumbent_error: float | None
    took_over: bool
    content: str = field(repr=False)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True)
class SuggestionRecord:
    """A suggestion of the agent as the store keeps it, beside its pair, W and statistics.

    `algorithm` is the chosen candidate, `low` and `high` are the ends of the 90 % interval of the predicted
    improvement ratio, `function` is the version of the agent's function (0 for none), and `run` the key of
    the run that it became when its outcome was reported.
    """

    id: str
    source_name: str
    target_name: str
    algorithm: str
    n_labels: int
    predicted: float
    low: float | None
    high: float | None
    verdict: Literal["transfer", "no-transfer"]
    reason: str
    function: int
    run: str | None = None
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 90 % interval of the improvement ratio."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True)
class CollectionProgress:
    """The progress of a collection: its process, the times of its reports, and its runs so far.

    `total` is the number of requested runs (None where unknown), `latest` what was run last; `outcome` is
    "finished" or the reason of the end, empty while it runs.
    """

    id: str
    host: str
    pid: int
    started_at: datetime
    updated_at: datetime
    total: int | None = None
    done: int = 0
    failed: int = 0
    already_there: int = 0
    latest: str = ""
    ended_at: datetime | None = None
    outcome: str = ""


@dataclass(frozen=True)
class Merged:
    """The numbers of runs and suggestions that a merge added, and a sentence for each damaged part."""

    runs: int
    suggestions: int
    damaged: tuple[str, ...]
