"""Suggestions of the agent, and the runs that they become when an outcome is reported."""

from __future__ import annotations

import secrets
import socket
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
from scipy import sparse

from l2t._version import __version__
from l2t.display import finite_interval
from l2t.domains import DomainPair
from l2t.domains.domain import feature_rows
from l2t.experiences import Run, Score, SuggestionRecord, improvement_ratio
from l2t.inference import Inference
from l2t.statistics import pair_statistics
from l2t.typing import AnyArray, MatrixLike
from l2t.validation import real_number, whole_number

#: Maximum number of rows per domain for the statistics: their cost is quadratic.
MAX_STATISTICS_ROWS = 1000


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Suggestion(SuggestionRecord):
    """A suggestion of what to transfer: the attributes of `SuggestionRecord`, and these.

    Attributes
    ----------
    choice : str
        The suggested candidate, which is `algorithm`; "identity" if it is better not to transfer.
    W : array of shape (m, u)
        Its latent factor matrix.
    interval : (float, float) or None
        The 90 % interval of `predicted`.
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

    def transform(self, X: MatrixLike) -> AnyArray:
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


def new_suggestion(pair: DomainPair, inference: Inference) -> SuggestionRecord:
    """Return the suggestion of an inference for a pair, under a random id."""
    low, high = finite_interval(inference.interval) or (None, None)
    return SuggestionRecord(
        id=secrets.token_hex(5),
        source_name=pair.source.name,
        target_name=pair.target.name,
        algorithm=inference.choice,
        n_labels=inference.n_labels,
        predicted=inference.predicted,
        low=low,
        high=high,
        verdict=inference.verdict,
        reason=inference.reason,
    )


def unscored_run(
    pair: DomainPair, algorithm: str, W: AnyArray, random_state: int, duration: float
) -> Run:
    """Return the run of a suggested W, without accuracies."""
    sample = DomainPair(
        pair.source.sample(MAX_STATISTICS_ROWS, random_state),
        pair.target.sample(MAX_STATISTICS_ROWS, random_state),
    )
    return Run(
        pair=pair,
        algorithm=algorithm,
        params={},
        random_state=random_state,
        protocol={},
        status="done",
        W=W,
        statistics=pair_statistics(sample, W, random_state=random_state),
        duration=duration,
        version=__version__,
        host=socket.gethostname(),
        origin="reported",
    )


def reported_score(pair: DomainPair, n_labels: int, before: float, after: float) -> Score:
    """Return the score of reported accuracies, after validation."""
    n_labels = whole_number("n_labels", n_labels, least=1)
    before = real_number("accuracy_before", before, least=0, most=1)
    after = real_number("accuracy_after", after, least=0, most=1)
    n_test = max(len(pair.target) - n_labels, 1)
    return Score(
        n_labels=n_labels,
        accuracy_before=before,
        standard_error_before=0.0,
        accuracy_after=after,
        standard_error_after=0.0,
        improvement_ratio=float(improvement_ratio(before, after, n_test)),
    )


def scored_run(run: Run, score: Score, suggestion: str) -> Run:
    """Return the run with a reported score; each different report of a suggestion is another run."""
    protocol = {
        "measured": "reported",
        "n_labels": score.n_labels,
        "accuracy_before": score.accuracy_before,
        "accuracy_after": score.accuracy_after,
        "suggestion": suggestion,
    }
    return replace(run, protocol=protocol, scores=(score,), created_at=datetime.now(UTC))
