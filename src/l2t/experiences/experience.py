"""Runs and experiences: what happened when an algorithm was tried on a pair.

A *run* is one algorithm with its parameters and seed on one pair; it gives one W, or a reason why not. An
*experience* is a run at one number of labels: what accuracy was without and with W, and their ratio.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal

import numpy.typing as npt

from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.statistics import PairStatistics

__all__ = ["Experience", "Origin", "Run", "Score", "Status", "content_key", "run_key"]

Status = Literal["done", "failed"]
#: Who measured a run: this package, or somebody who reported its accuracies.
Origin = Literal["collected", "told"]


@dataclass(frozen=True)
class Score:
    """The accuracies of a run at one number of labels.

    Attributes
    ----------
    n_labels : int
        How many target rows were labelled.
    accuracy_before, standard_error_before, accuracy_after, standard_error_after : float
        Mean accuracy on the same test rows without and with W, and standard errors over the draws.
    improvement_ratio : float
        ``l = after / before``, finite and positive (`improvement_ratio`).
    """

    n_labels: int
    accuracy_before: float
    standard_error_before: float
    accuracy_after: float
    standard_error_after: float
    improvement_ratio: float


@dataclass(frozen=True, eq=False)
class Run:
    """One algorithm on one pair, with all that is needed to explain or repeat it.

    Attributes
    ----------
    pair : DomainPair
        Both domains, whole.
    algorithm, params, random_state : str, mapping, int
        What was run; `params` holds plain JSON values.
    protocol : mapping
        How it was measured (label counts, draws, classifier, kernel bank ...); plain JSON values.
    status, reason : {"done", "failed"}, str
        A failed run has a reason, no W, no statistics and no scores.
    W, statistics : array of shape (m, u) or None, PairStatistics or None
        The latent factor matrix, and d, Q and tau of the pair under it.
    scores : tuple of Score
        One for each number of labels.
    duration, version, host, created_at : float, str, str, datetime
        Seconds of work, which package, where and when (UTC).
    origin : {"collected", "told"}
        Whether this package measured the accuracies, or somebody reported them.
    """

    pair: DomainPair
    algorithm: str
    params: Mapping[str, Any]
    random_state: int
    protocol: Mapping[str, Any]
    status: Status
    reason: str = ""
    W: npt.NDArray[Any] | None = None
    statistics: PairStatistics | None = None
    scores: tuple[Score, ...] = ()
    duration: float = 0.0
    version: str = ""
    host: str = ""
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    origin: Origin = "collected"

    def __post_init__(self) -> None:
        failed = self.status == "failed"
        if failed != bool(self.reason) or failed != (self.W is None):
            raise InvalidInputError(
                "a failed run must have a reason and no W, and any other a W and no reason, "
                f"got status={self.status!r}, reason={self.reason!r} and W={type(self.W).__name__}"
            )

    @cached_property
    def key(self) -> str:
        """The content of the work as sha256: the same work has the same key on every machine."""
        return run_key(self.pair, self.algorithm, self.params, self.random_state, self.protocol)


@dataclass(frozen=True, eq=False)
class Experience:
    """A run at one number of labels, as a store gives it back.

    A run that failed is one experience without scores (`n_labels` None, accuracies and ratio NaN).
    `n_classes` counts the classes of the target; it is 0 where no label is known.
    """

    run_key: str
    source: str
    target: str
    source_name: str
    target_name: str
    n_classes: int
    algorithm: str
    params: Mapping[str, Any]
    random_state: int
    protocol: Mapping[str, Any]
    status: Status
    reason: str
    n_labels: int | None
    accuracy_before: float
    standard_error_before: float
    accuracy_after: float
    standard_error_after: float
    improvement_ratio: float
    statistics: PairStatistics | None
    duration: float
    version: str
    host: str
    created_at: datetime
    origin: Origin = "collected"


def run_key(
    pair: DomainPair,
    algorithm: str,
    params: Mapping[str, Any],
    random_state: int,
    protocol: Mapping[str, Any],
) -> str:
    """Return the sha256 of what determines a run: fingerprints, algorithm, parameters, seed, protocol."""
    sides = (pair.source.fingerprint, pair.target.fingerprint)
    return content_key(*sides, algorithm, dict(params), random_state, dict(protocol))


def content_key(*work: Any) -> str:
    """Return the key of a run: `run_key` with both domains given by their fingerprints."""
    names = ("source", "target", "algorithm", "params", "random_state", "protocol")
    content = dict(zip(names, work, strict=True))
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
