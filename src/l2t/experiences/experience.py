"""Runs and experiences: the outcome of an algorithm on a pair.

A *run* is one algorithm with its parameters and seed on one pair; it gives one W, or the reason of its
failure. An *experience* is a run at one number of labels: the accuracies without and with W, and their ratio.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal

import numpy.typing as npt

from l2t.display import html_table
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.statistics import PairStatistics

Status = Literal["done", "failed"]
#: Who measured a run: this package, or somebody who reported its accuracies.
Origin = Literal["collected", "reported"]
#: Whose labelled rows a classifier was trained on; "source" and "both" need classes that are shared.
TrainedOn = Literal["target", "source", "both"]


@dataclass(frozen=True)
class Score:
    """The accuracies of a run with `n_labels` labelled target rows, without (before) and with W (after).

    Both are means over draws of the same test rows, with their standard errors; the improvement ratio is
    ``l = after / before``, finite and positive. The classifier was `trained_on` the labelled rows of the
    target, of the source (0 labels: no draws, and no standard errors) or of both, without and with W alike.
    """

    n_labels: int
    accuracy_before: float
    standard_error_before: float
    accuracy_after: float
    standard_error_after: float
    improvement_ratio: float
    trained_on: TrainedOn = "target"


def ratio_error(score: Score | Experience) -> float:
    """Return the standard error of an improvement ratio from those of its accuracies.

    Both are measured on the same draws, which makes it an upper bound in general; infinite where one of the
    accuracies is 0, and where nothing was drawn.
    """
    before, after = score.accuracy_before, score.accuracy_after
    if not (before > 0 and after > 0 and score.n_labels):
        return math.inf
    shares = score.standard_error_before / before, score.standard_error_after / after
    return score.improvement_ratio * math.hypot(*shares)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Work:
    """The fields that runs and experiences share; `Run` describes them."""

    algorithm: str
    params: Mapping[str, Any]
    random_state: int
    protocol: Mapping[str, Any]
    status: Status
    reason: str = ""
    statistics: PairStatistics | None = None
    duration: float = 0.0
    version: str = ""
    host: str = ""
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    origin: Origin = "collected"


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(_Work):
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
        One for each number of labels and, where classes are shared, each `TrainedOn`.
    duration, version, host, created_at : float, str, str, datetime
        Seconds of work, which package, where and when (UTC).
    origin : {"collected", "reported"}
        Whether this package measured the accuracies, or somebody reported them.
    """

    pair: DomainPair
    W: npt.NDArray[Any] | None = None
    scores: tuple[Score, ...] = ()

    def __post_init__(self) -> None:
        failed = self.status == "failed"
        if failed != bool(self.reason) or failed != (self.W is None):
            raise InvalidInputError(
                "a failed run must have a reason and no W, and any other a W and no reason, "
                f"got status={self.status!r}, reason={self.reason!r} and W={type(self.W).__name__}"
            )

    @cached_property
    def key(self) -> str:
        """The sha256 of what determines the run, the same on every machine."""
        return run_key(self.pair, self.algorithm, self.params, self.random_state, self.protocol)


@dataclass(frozen=True, eq=False, kw_only=True)
class Experience(_Work):
    """A run at one number of labels, with what the classifier was `trained_on`, as a store returns it.

    A run that failed is one experience without scores (`n_labels` None, accuracies and ratio NaN).
    `n_classes` counts the classes of the target; it is 0 where no label is known.
    """

    run_key: str
    source: str
    target: str
    source_name: str
    target_name: str
    n_classes: int
    n_labels: int | None
    accuracy_before: float
    standard_error_before: float
    accuracy_after: float
    standard_error_after: float
    improvement_ratio: float
    trained_on: TrainedOn = "target"

    def _repr_html_(self) -> str:
        names = "algorithm source_name target_name n_labels accuracy_after improvement_ratio status"
        return html_table([{name: getattr(self, name) for name in names.split()}])


def run_key(
    pair: DomainPair,
    algorithm: str,
    params: Mapping[str, Any],
    random_state: int,
    protocol: Mapping[str, Any],
) -> str:
    """Return the sha256 of what determines a run: fingerprints, algorithm, parameters, seed, protocol."""
    content: dict[str, Any] = {"source": pair.source.fingerprint, "target": pair.target.fingerprint}
    content |= {"algorithm": algorithm, "params": dict(params), "random_state": random_state}
    return sha256(canonical_json(content | {"protocol": dict(protocol)}))


def canonical_json(content: Any) -> str:
    """Return plain values as JSON, the same for the same content."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sha256(text: str) -> str:
    """Return the hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()
