"""Suggestions in the store, and accuracies that people reported as runs."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from l2t._version import __version__
from l2t.domains import Domain, DomainPair
from l2t.experiences import ExperienceStore, Run, Score, SuggestionRecord, improvement_ratio
from l2t.inference import Candidate
from l2t.statistics import pair_statistics
from l2t.typing import AnyArray
from l2t.validation import real_number, whole_number

__all__ = ["dense_factor", "keep_suggestion", "reported_score", "scored_run", "unscored_run"]

#: The statistics of larger domains are those of so many random rows: their cost grows with the square.
MAX_ROWS = 1000


def dense_factor(pair: DomainPair, W: Any) -> AnyArray:
    """Return W; for the identity of very many features, which is sparse, a basis of the span of both domains.

    The distances of rows of the pair are the same.
    """
    return W if isinstance(W, np.ndarray) else pair.span.lift(np.eye(pair.span.rank))


def unscored_run(
    pair: DomainPair,
    algorithm: str,
    params: Mapping[str, Any],
    W: AnyArray,
    *,
    random_state: int,
    duration: float,
) -> Run:
    """Return the run of a W whose accuracies are not known yet."""
    some = DomainPair(*(_sample(side, random_state) for side in (pair.source, pair.target)))
    return Run(
        pair=pair,
        algorithm=algorithm,
        params=params,
        random_state=random_state,
        protocol={},
        status="done",
        W=W,
        statistics=pair_statistics(some, W, random_state=random_state),
        duration=duration,
        version=__version__,
        host=socket.gethostname(),
        origin="told",
    )


def scored_run(run: Run, score: Score, suggestion: str | None = None) -> Run:
    """Return the run with the accuracies that were reported; another report is another run."""
    names = ("n_labels", "accuracy_before", "accuracy_after")
    protocol = {"measured": "reported"} | {name: getattr(score, name) for name in names}
    if suggestion is not None:
        protocol["suggestion"] = suggestion
    return replace(run, protocol=protocol, scores=(score,), created_at=datetime.now(UTC))


def reported_score(pair: DomainPair, n_labels: Any, before: float, after: float) -> Score:
    """Return accuracies that people measured, checked."""
    n_labels = whole_number("n_labels", n_labels, least=1)
    before = real_number("accuracy_before", before, least=0, most=1)
    after = real_number("accuracy_after", after, least=0, most=1)
    n_test = max(len(pair.target) - n_labels, 1)
    ratio = float(improvement_ratio(before, after, n_test))
    return Score(n_labels, before, 0.0, after, 0.0, ratio)


def keep_suggestion(
    store: ExperienceStore, run: Run, candidate: Candidate, reason: str, n_labels: int
) -> SuggestionRecord:
    """Keep a suggestion in the store under a new id."""
    low, high = candidate.interval or (None, None)
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


def _sample(domain: Domain, random_state: int) -> Domain:
    if len(domain) <= MAX_ROWS:
        return domain
    rows = np.random.default_rng(random_state).permutation(len(domain))[:MAX_ROWS]
    return domain.take(np.sort(rows))
