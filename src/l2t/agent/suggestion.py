"""Suggestions of the agent, and the runs that they become when an outcome is reported."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from scipy import sparse

from l2t import algorithms
from l2t._version import __version__
from l2t.display import finite_interval
from l2t.domains import DomainPair
from l2t.domains.domain import feature_rows
from l2t.experiences import ExperienceStore, Run, Score, SuggestionRecord, improvement_ratio
from l2t.inference import Candidate, Inference, infer
from l2t.numerics import fingerprint
from l2t.statistics import pair_statistics
from l2t.typing import AnyArray
from l2t.validation import real_number, whole_number

#: Maximum number of rows per domain for the statistics: their cost is quadratic.
MAX_ROWS = 1000


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Suggestion(SuggestionRecord):
    """A suggestion of what to transfer.

    Attributes
    ----------
    id : str
        Its id in the store, which is enough for `Agent.tell`.
    choice : str
        The suggested candidate; "identity" if it is better not to transfer.
    W : array of shape (m, u)
        Its latent factor matrix.
    predicted : float
        The expected improvement ratio at `n_labels`.
    interval : (float, float) or None
        Its 90 % interval.
    n_labels : int
        The number of labelled target rows.
    verdict : {"transfer", "no-transfer"}
        Whether to transfer.
    reason : str
        The reason for the suggestion, in one sentence.
    version : int
        The version of the reflection function that was in use; 0 if there was none.
    inference : Inference or None
        All candidates; None for a suggestion read from the store.
    """

    W: AnyArray
    inference: Inference | None = None

    def __post_init__(self) -> None:
        self.W.flags.writeable = False

    def __repr__(self) -> str:
        m, u = self.W.shape
        return f"Suggestion({self.id}, {self.choice}, predicted {self.predicted:.3f}, W {m} x {u})"

    @property
    def choice(self) -> str:
        """The suggested candidate."""
        return self.algorithm

    @property
    def version(self) -> int:
        """The version of the reflection function that was in use."""
        return self.function

    def transform(self, X: Any) -> AnyArray:
        """Return ``X @ W``, or X itself for the verdict "no-transfer".

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Domain of shape (n, m)
            Rows with the features of the pair.

        Returns
        -------
        array of shape (n, u)
        """
        rows = feature_rows(X, len(self.W))
        if self.verdict == "no-transfer":
            return np.asarray(rows.toarray() if sparse.issparse(rows) else rows)
        return np.asarray(rows @ self.W)


def explore(
    pair: DomainPair, found: Inference, probability: float, random_state: int, **options: Any
) -> Candidate:
    """Return the choice, or with some probability another candidate or base algorithm at random.

    The draw depends only on the seed and the rows of the pair. "identity" is not drawn, because its ratio is
    known, nor are algorithms for shared classes, which the agent does not assume. `options` are the other
    arguments of `infer` that returned `found`.
    """
    sides = (int(fingerprint(side.X)[:16], 16) for side in (pair.source, pair.target))
    rng = np.random.default_rng([random_state, *sides])
    if rng.random() < probability:
        left_out = (found.choice, "identity", *algorithms.SHARED)
        names = [name for name in algorithms.names() if name not in left_out]
        for name in rng.permutation(names).tolist():
            candidate = found.candidates.get(name)
            if candidate is None:
                tried = infer(pair, candidates=(name,), random_state=random_state, **options)
                *_, candidate = tried.candidates.values()
            if candidate.W is not None:
                return candidate
    return found.candidates[found.choice]


def unscored_run(
    pair: DomainPair,
    algorithm: str,
    params: Mapping[str, Any],
    W: AnyArray,
    random_state: int,
    start: float,
) -> Run:
    """Return the run of a W without accuracies; `start` is its start time."""
    duration = time.perf_counter() - start
    some = (side.sample(MAX_ROWS, random_state) for side in (pair.source, pair.target))
    return Run(
        pair=pair,
        algorithm=algorithm,
        params=params,
        random_state=random_state,
        protocol={},
        status="done",
        W=W,
        statistics=pair_statistics(DomainPair(*some), W, random_state=random_state),
        duration=duration,
        version=__version__,
        host=socket.gethostname(),
        origin="reported",
    )


def scored_run(run: Run, score: Score, suggestion: str | None = None) -> Run:
    """Return the run with the reported accuracies; each different report is another run."""
    names = ("n_labels", "accuracy_before", "accuracy_after")
    protocol = {"measured": "reported"} | {name: getattr(score, name) for name in names}
    protocol |= {} if suggestion is None else {"suggestion": suggestion}
    return replace(run, protocol=protocol, scores=(score,), created_at=datetime.now(UTC))


def reported_score(pair: DomainPair, n_labels: Any, before: float, after: float) -> Score:
    """Return the score of reported accuracies, after validation."""
    n_labels = whole_number("n_labels", n_labels, least=1)
    before = real_number("accuracy_before", before, least=0, most=1)
    after = real_number("accuracy_after", after, least=0, most=1)
    n_test = max(len(pair.target) - n_labels, 1)
    ratio = float(improvement_ratio(before, after, n_test))
    return Score(n_labels, before, 0.0, after, 0.0, ratio)


def store_suggestion(
    store: ExperienceStore, run: Run, candidate: Candidate, reason: str, n_labels: int
) -> SuggestionRecord:
    """Store a suggestion under a new id."""
    assert candidate.predicted is not None  # no method="paper" here
    low, high = finite_interval(candidate.interval) or (None, None)
    record = SuggestionRecord(
        id="",
        source_name=run.pair.source.name,
        target_name=run.pair.target.name,
        algorithm=candidate.name,
        n_labels=n_labels,
        predicted=candidate.predicted,
        low=low,
        high=high,
        verdict="no-transfer" if candidate.name == "identity" else "transfer",
        reason=reason,
        function=run.params["version"],
        created_at=run.created_at,
    )
    while True:
        record = replace(record, id=secrets.token_hex(5))
        if store.add_suggestion(record, run):  # else another suggestion has this id
            return record
