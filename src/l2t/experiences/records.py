"""Records that a store keeps besides runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from l2t.experiences.experience import Score


@dataclass(frozen=True)
class SuggestionRecord:
    """A suggestion of the agent as the store keeps it, besides its pair, W and statistics.

    Attributes
    ----------
    id : str
        Its id in the store.
    source_name, target_name : str
        The names of the domains.
    algorithm : str
        The chosen candidate; "identity" if it is better not to transfer.
    n_labels : int
        The number of labelled target rows that it was made for.
    predicted : float
        The expected improvement ratio at `n_labels`.
    low, high : float or None
        The ends of the 90 % interval of that ratio; None if they are unknown.
    verdict : {"transfer", "no-transfer"}
        Whether to transfer.
    reason : str
        The reason for the suggestion, in one sentence.
    run : str or None
        The key of the run with its reported outcome; None while the suggestion is open.
    created_at : datetime
        The time (UTC), by default now.
    outcome : Score or None
        The reported accuracies; None while the suggestion is open.
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
    run: str | None = None
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    outcome: Score | None = None

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
