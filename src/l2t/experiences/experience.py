"""Runs and experiences: the outcome of an algorithm on a pair.

A *run* is one algorithm with its parameters and seed on one pair; it has one W, or the reason of its failure.
An *experience* is a run at one number of labels: the accuracies without and with W, and their ratio.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

from l2t.display import html_table
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.statistics import PairStatistics
from l2t.typing import AnyArray

Status = Literal["done", "failed"]
#: Whether this package measured the accuracies of a run, or a user reported them.
Origin = Literal["collected", "reported"]
#: The domain whose labelled rows the classifier was trained on; "source" and "both" need shared classes.
TrainedOn = Literal["target", "source", "both"]


@dataclass(frozen=True)
class Score:
    """The accuracies of a run at one number of labels, without (before) and with W (after).

    Attributes
    ----------
    n_labels : int
        The number of labelled target rows.
    accuracy_before, standard_error_before : float
        The mean accuracy without W over draws, and its standard error.
    accuracy_after, standard_error_after : float
        The same with W, on the same draws.
    improvement_ratio : float
        ``l = after / before``, finite and positive.
    trained_on : {"target", "source", "both"}, default="target"
        The domain whose labelled rows the classifier was trained on. With "source", n_labels and the
        standard errors are 0.
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

    Because both accuracies are measured on the same draws, it is in general an upper bound. It is infinite if
    an accuracy or n_labels is 0.
    """
    before, after = score.accuracy_before, score.accuracy_after
    if not (before > 0 and after > 0 and score.n_labels):
        return math.inf
    shares = score.standard_error_before / before, score.standard_error_after / after
    return score.improvement_ratio * math.hypot(*shares)


@dataclass(frozen=True, eq=False, kw_only=True)
class _RunFields:
    """The fields that runs and experiences share; see `Run`."""

    algorithm: str
    params: Mapping[str, object]
    random_state: int
    protocol: Mapping[str, object]
    status: Status
    reason: str = ""
    statistics: PairStatistics | None = None
    duration: float = 0.0
    version: str = ""
    host: str = ""
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    origin: Origin = "collected"


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(_RunFields):
    """One algorithm on one pair, with all that is needed to explain or repeat it.

    Attributes
    ----------
    pair : DomainPair
        Both domains with all rows.
    algorithm : str
        The name of the algorithm.
    params : mapping
        The parameters of the algorithm, as JSON values.
    random_state : int
        The seed.
    protocol : mapping
        How it was evaluated (label counts, draws, classifier, kernels, ...), as JSON values.
    status : {"done", "failed"}
        A failed run has a reason, and no W, statistics and scores.
    reason : str, default=""
        Why it failed.
    W : array of shape (m, u) or None
        The latent factor matrix.
    statistics : PairStatistics or None
        d, Q and tau of the pair under W.
    scores : tuple of Score, default=()
        One score per number of labels and, if classes are shared, per `TrainedOn`.
    duration : float, default=0.0
        The duration in seconds.
    version, host : str, default=""
        The version of the package, and the machine.
    created_at : datetime
        The time (UTC), by default now.
    origin : {"collected", "reported"}, default="collected"
        Whether this package measured the accuracies, or a user reported them.
    """

    pair: DomainPair
    W: AnyArray | None = None
    scores: tuple[Score, ...] = ()

    def __post_init__(self) -> None:
        failed = self.status == "failed"
        if failed != bool(self.reason) or failed != (self.W is None):
            raise InvalidInputError(
                "a failed run must have a reason and no W, a completed run a W and no reason, "
                f"got status={self.status!r}, reason={self.reason!r} and W={type(self.W).__name__}"
            )

    @cached_property
    def key(self) -> str:
        """The sha256 of what determines the run, the same on every machine."""
        return run_key(self.pair, self.algorithm, self.params, self.random_state, self.protocol)


@dataclass(frozen=True, eq=False, kw_only=True)
class Experience(_RunFields):
    """A run at one number of labels and one `trained_on`, as a store returns it.

    It has the fields of `Run`, without pair, W and scores, and those of one `Score`. `run_key` is the key of
    the run, `source` and `target` are the fingerprints of the domains, and `n_classes` is the number of
    classes of the target, 0 without labels. A failed run is one experience with n_labels None and NaN scores.
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
    params: Mapping[str, object],
    random_state: int,
    protocol: Mapping[str, object],
) -> str:
    """Return the sha256 of the domains' fingerprints, algorithm, parameters, seed and protocol of a run."""
    content: dict[str, object] = {
        "source": pair.source.fingerprint,
        "target": pair.target.fingerprint,
    }
    content |= {"algorithm": algorithm, "params": dict(params), "random_state": random_state}
    return sha256(canonical_json(content | {"protocol": dict(protocol)}))


def canonical_json(content: object) -> str:
    """Return JSON values as text, the same for equal content."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sha256(text: str) -> str:
    """Return the sha256 of a text as hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()
