"""What people measured themselves, as runs."""

from __future__ import annotations

import socket
import time
from typing import Any

import numpy as np

from l2t._version import __version__
from l2t.algorithms import Algorithm
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.experiences import Run, Score, improvement_ratio
from l2t.statistics import KernelBank, pair_statistics

__all__ = ["score_of", "told_run"]


def score_of(pair: DomainPair, n_labels: Any, before: float, after: float) -> Score:
    """Return accuracies that people measured, checked."""
    if isinstance(n_labels, bool) or not isinstance(n_labels, int | np.integer) or n_labels < 1:
        raise InvalidInputError(
            f"n_labels must be the number of labelled target rows, at least 1, got {n_labels!r:.80}"
        )
    for name, value in (("accuracy_before", before), ("accuracy_after", after)):
        real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not real or not 0 <= value <= 1:
            raise InvalidInputError(f"{name} must be a number from 0 to 1, got {value!r:.80}")
    n_test = max(len(pair.target) - int(n_labels), 1)
    ratio = improvement_ratio(float(before), float(after), n_test)
    return Score(int(n_labels), float(before), 0.0, float(after), 0.0, ratio)


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
