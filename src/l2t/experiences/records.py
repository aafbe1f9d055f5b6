"""Records that a store keeps besides runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

#: How a version of the agent's function was made.
VersionOrigin = Literal["given", "learned", "refined", "rolled back"]
#: What the agent uses a run for: to learn from, or to validate what was learned from others.
Use = Literal["learning", "judging"]


@dataclass(frozen=True)
class FunctionVersion:
    """A version of the agent's reflection function.

    Attributes
    ----------
    number : int
        The number of the version.
    parent : int or None
        The version it was made from.
    origin : {"given", "learned", "refined", "rolled back"}
        Whether it was given at the beginning, learned from runs, has a refined forecast, or is an earlier
        version that is used again.
    n_runs, n_judged : int
        The numbers of runs it was learned from, and of held-out runs it was validated on.
    error, incumbent_error : float or None
        The mean errors of this version and of the version in use until then, in log ratios on held-out runs.
    took_over : bool
        Whether this version has been in use since then.
    content : str
        The function as JSON.
    created_at : datetime
        The time (UTC), by default now.
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
    """A suggestion of the agent as the store keeps it, besides its pair, W and statistics.

    `algorithm` is the chosen candidate, `low` and `high` are the ends of the 90 % interval of the predicted
    improvement ratio, `function` is the version of the agent's function (0 for none), and `run` the key of
    the run with its reported outcome (None while it is open).
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
        """The 90 % interval of the predicted improvement ratio; None if it is unknown."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True)
class CollectionProgress:
    """The progress of a collection: its process, the times of its reports, and its runs so far.

    `total` is the number of requested runs (None if unknown), `latest` describes the latest run, and
    `outcome` is "finished" or why the collection stopped, empty while it runs.
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
    """The result of a merge: the numbers of added runs and suggestions, and a sentence per damaged part."""

    runs: int
    suggestions: int
    damaged: tuple[str, ...]
