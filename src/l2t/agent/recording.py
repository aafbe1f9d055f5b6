"""Suggestions in the store, and accuracies that people measured as runs."""

from __future__ import annotations

import secrets
import socket
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from l2t._version import __version__
from l2t.agent.answering import Answer
from l2t.algorithms import Algorithm
from l2t.domains import DomainPair
from l2t.experiences import ExperienceStore, Run, Score, SuggestionRecord, improvement_ratio
from l2t.statistics import KernelBank, pair_statistics
from l2t.validation import real_number, whole_number

__all__ = ["keep_suggestion", "score_of", "scored_run", "told_run"]


def keep_suggestion(
    store: ExperienceStore, run: Run, answer: Answer, n_labels: int | None
) -> SuggestionRecord:
    """Keep a suggestion in the store under a new id."""
    low, high = answer.interval or (None, None)
    record = SuggestionRecord(
        id="",
        source_name=run.pair.source.name,
        target_name=run.pair.target.name,
        algorithm=run.algorithm,
        n_labels=n_labels,
        predicted=answer.predicted,
        low=low,
        high=high,
        verdict=answer.verdict,
        reason=answer.reason,
        function=run.params["version"],
        created_at=run.created_at,
    )
    while True:
        record = replace(record, id=secrets.token_hex(5))
        if store.add_suggestion(record, run):  # else another suggestion has this id
            return record


def scored_run(run: Run, score: Score, suggestion: str) -> Run:
    """Return the run that a suggestion becomes; outcomes of two suggestions are two runs."""
    protocol = _told(score) | {"suggestion": suggestion}
    return replace(run, protocol=protocol, scores=(score,), created_at=datetime.now(UTC))


def score_of(pair: DomainPair, n_labels: Any, before: float, after: float) -> Score:
    """Return accuracies that people measured, checked."""
    n_labels = whole_number("n_labels", n_labels, least=1)
    before = real_number("accuracy_before", before, least=0, most=1)
    after = real_number("accuracy_after", after, least=0, most=1)
    n_test = max(len(pair.target) - n_labels, 1)
    ratio = float(improvement_ratio(before, after, n_test))
    return Score(n_labels, before, 0.0, after, 0.0, ratio)


def told_run(
    pair: DomainPair,
    algorithm: Algorithm,
    score: Score,
    kernels: KernelBank,
    n_neighbors: int,
    random_state: int,
) -> Run:
    """Return the run of an algorithm whose worth is known already; another score is another run."""
    start = time.perf_counter()
    W = algorithm.fit(pair).W
    statistics = pair_statistics(
        pair, W, kernels=kernels, n_neighbors=n_neighbors, random_state=random_state
    )
    return Run(
        pair=pair,
        algorithm=algorithm.name,
        params=dict(getattr(algorithm, "params", {})),
        random_state=random_state,
        protocol=_told(score),
        status="done",
        W=W,
        statistics=statistics,
        scores=(score,),
        duration=time.perf_counter() - start,
        version=__version__,
        host=socket.gethostname(),
        origin="told",
    )


def _told(score: Score) -> dict[str, Any]:
    names = ("n_labels", "accuracy_before", "accuracy_after")
    return {"measured": "told"} | {name: getattr(score, name) for name in names}
