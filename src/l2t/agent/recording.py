"""What people measured themselves, as runs."""

from __future__ import annotations

import socket
import time
from typing import Any

from l2t._version import __version__
from l2t.algorithms import Algorithm
from l2t.domains import DomainPair
from l2t.experiences import Run, Score, improvement_ratio
from l2t.statistics import KernelBank, pair_statistics
from l2t.validation import real_number, whole_number

__all__ = ["score_of", "told_run"]


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
    names = ("n_labels", "accuracy_before", "accuracy_after")
    return Run(
        pair=pair,
        algorithm=algorithm.name,
        params=dict(getattr(algorithm, "params", {})),
        random_state=random_state,
        protocol={"measured": "told"} | {name: getattr(score, name) for name in names},
        status="done",
        W=W,
        statistics=statistics,
        scores=(score,),
        duration=time.perf_counter() - start,
        version=__version__,
        host=socket.gethostname(),
    )
