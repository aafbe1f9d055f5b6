"""Choosing how to search W, for each number of labels, on validation pairs.

The plan that gave the best mean ratio wins; validation pairs carry all their labels, and are none of the
pairs that the function is later judged on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.domains import DomainPair
from l2t.experiences import evaluate
from l2t.experiences.executors import choose_executor
from l2t.inference.search import infer
from l2t.inference.starts import CHEAP_STARTS, starting_points
from l2t.progress import progress_bar
from l2t.reflection import ReflectionFunction
from l2t.reflection.plan import Plan

__all__ = ["CANDIDATES", "choose_plans"]

Array = npt.NDArray[np.float64]

LABEL_COUNTS = (3, 15, 30, 60, 120)
#: The paper's search and the soft one, for few and more steps.
CANDIDATES = (
    *(Plan("grassmann", u, n) for u in (10, 20, 40) for n in (3, 10)),
    *(Plan("soft", None, n, power) for power in (0.5, 1.0, 1.5, 2.0) for n in (0, 1, 2)),
)


def choose_plans(
    reflection: ReflectionFunction,
    pairs: Iterable[DomainPair],
    *,
    candidates: Sequence[Plan] = CANDIDATES,
    label_counts: Sequence[int] = LABEL_COUNTS,
    n_jobs: int = 1,
    progress: bool = True,
) -> ReflectionFunction:
    """Return the function with the plans that were best on validation pairs.

    `training` tells the mean ratio of every candidate at every label count.

    Parameters
    ----------
    reflection : ReflectionFunction
        The function whose search is to be planned.
    pairs : iterable of DomainPair
        Validation pairs, whose targets carry labels.
    candidates : sequence of Plan
        What to choose from.
    label_counts : sequence of int
        Label counts to choose for; those between take the nearest.
    n_jobs : int
        Local processes.
    progress : bool
        Whether to show a progress bar.
    """
    counts = tuple(label_counts)
    tasks = ((pair, reflection, tuple(candidates), counts) for pair in pairs)
    total = len(pairs) if isinstance(pairs, Sequence) else None
    found = []
    with progress_bar(total, "planning", shown=progress) as advance:
        for logs in choose_executor(n_jobs, None).map(_log_ratios, tasks):
            found.append(logs)
            advance("planning")
    # Each pair gives (candidates, counts) with NaN where the target is too small for a count.
    means = np.nanmean(np.sort(np.array(found), axis=0), axis=0)  # in one order, whoever came first
    plans = [(count, candidates[int(np.nanargmax(means[:, i]))]) for i, count in enumerate(counts)]
    told: list[dict[str, Any]] = [
        asdict(plan) | {"ratios": np.round(np.exp(row), 4).tolist()}
        for plan, row in zip(candidates, means, strict=True)
    ]
    training = dict(reflection.training) | {
        "plans": {"pairs": len(found), "label_counts": list(counts), "candidates": told}
    }
    return replace(reflection, plans=tuple(plans), training=training)


def _log_ratios(
    task: tuple[DomainPair, ReflectionFunction, tuple[Plan, ...], tuple[int, ...]],
) -> Array:
    pair, reflection, candidates, counts = task
    X, codes = pair.target.X, pair.target.codes
    before = evaluate(X, codes, label_counts=counts)
    at = [counts.index(count) for count in before.label_counts]
    logs = np.full((len(candidates), len(counts)), np.nan)
    # The same starts for all, computed once.
    starts, _ = starting_points(pair, Plan("sphere"), reflection.n_neighbors, CHEAP_STARTS, 0)
    given = {name: pair.span.lift(V) for name, V in starts.items() if name in CHEAP_STARTS}
    for i, plan in enumerate(candidates):
        W = infer(pair, reflection, plan=plan, starts=given).W
        after = evaluate(X @ W, codes, label_counts=before.label_counts)
        logs[i, at] = np.log(np.maximum(after.mean, 1e-3) / np.maximum(before.mean, 1e-3))
    return logs
