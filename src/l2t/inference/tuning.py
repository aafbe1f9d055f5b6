"""Choosing how to search W, for each number of labels, on validation pairs.

The plan that gave the best mean ratio wins, labelled rows having their vote. What its W's were worth
calibrates the predictions for such W's. Validation pairs carry all their labels, and are none of the pairs
that the function is later judged on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.experiences.executors import choose_executor
from l2t.inference.past import PastTargets
from l2t.inference.search import Prepared
from l2t.inference.starts import starting_points
from l2t.inference.trials import Trial, without_labels
from l2t.progress import progress_bar
from l2t.reflection import Calibration, ReflectionFunction
from l2t.reflection.calibration import calibrate
from l2t.reflection.plan import Plan
from l2t.typing import Array

__all__ = ["CANDIDATES", "choose_plans"]


LABEL_COUNTS = (3, 15, 30, 60, 120)
N_DRAWS = 10
#: The paper's search and the soft one, for few and more steps.
CANDIDATES = (
    *(Plan("grassmann", u, n) for u in (10, 20, 40) for n in (3, 10)),
    *(Plan("soft", None, n, power) for power in (1.0, 1.5, 2.0, 3.0) for n in (0, 1)),
)


def choose_plans(
    reflection: ReflectionFunction,
    pairs: Iterable[DomainPair],
    *,
    candidates: Sequence[Plan] = CANDIDATES,
    label_counts: Sequence[int] = LABEL_COUNTS,
    past: PastTargets | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    progress: bool = True,
) -> ReflectionFunction:
    """Return the function with the plans that were best on validation pairs, calibrated for their W's.

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
        Label counts to choose for; those between take the nearest, and so do those that no target is
        large enough for.
    past : PastTargets, optional
        As for `infer`.
    n_jobs, cluster
        Local processes, or a Dask cluster instead, as for `collect`.
    progress : bool
        Whether to show a progress bar.
    """
    counts = tuple(sorted(set(label_counts)))
    if not counts or not candidates:
        raise InvalidInputError(
            "candidates and label_counts must be one or more, "
            f"got {len(candidates)} and {len(counts)}"
        )
    tasks = ((i, pair, reflection, tuple(candidates), counts, past) for i, pair in enumerate(pairs))
    total = len(pairs) if isinstance(pairs, Sequence) else None
    found: dict[int, Array] = {}
    with progress_bar(total, "planning", shown=progress) as advance:
        for index, tried in choose_executor(n_jobs, cluster).map(_tried, tasks):
            found[index] = tried
            advance("planning")
    if not found:
        raise InvalidInputError("pairs must be one or more validation pairs, got none")
    table = np.stack([found[i] for i in range(len(found))])  # whoever came first
    known = np.isfinite(table[:, 0]).any(axis=(0, 1))
    table, counts = table[..., known], tuple(np.array(counts)[known].tolist())
    means = np.nanmean(np.log(table[:, 0]), axis=0)
    best = np.nanargmax(means, axis=0)
    told: list[dict[str, Any]] = [
        asdict(plan) | {"ratios": np.round(np.exp(row), 4).tolist()}
        for plan, row in zip(candidates, means, strict=True)
    ]
    training = dict(reflection.training) | {
        "plans": {"pairs": len(found), "label_counts": list(counts), "candidates": told}
    }
    return replace(
        reflection,
        plans=tuple((count, candidates[i]) for count, i in zip(counts, best, strict=True)),
        calibration=_calibrated(table[:, 1:, best, np.arange(len(counts))], counts),
        training=training,
    )


def _calibrated(chosen: Array, counts: tuple[int, ...]) -> Calibration | None:
    """Calibrate on what the chosen plans found: (pairs, [always, 1/f], counts)."""
    always, inverse = chosen[:, 0], chosen[:, 1]
    known = np.isfinite(always)
    if known.sum() < 2:
        return None
    n_labels = np.broadcast_to(counts, always.shape)[known]
    runs = np.arange(int(known.sum()))
    return calibrate(inverse[known], always[known], runs, n_labels, always[known], len(always))


def _tried(
    task: tuple[
        int,
        DomainPair,
        ReflectionFunction,
        tuple[Plan, ...],
        tuple[int, ...],
        PastTargets | None,
    ],
) -> tuple[int, Array]:
    """Return (3, candidates, counts): the ratio with labelled rows' vote, the ratio of W, and 1/f.

    NaN where the target is too small for a count.
    """
    index, pair, reflection, candidates, counts, past = task
    trial = Trial(pair, counts, N_DRAWS, 0)
    seen = without_labels(pair)
    prepared = Prepared(seen, reflection, past=past)
    given: dict[int | None, dict[str, npt.NDArray[Any]]] = {}  # the starts of each size, once
    table = np.full((3, len(candidates), len(counts)), np.nan)
    for i, plan in enumerate(candidates):
        starts = None
        if plan.constraint != "soft":
            size = plan.n_components
            if size not in given:
                factors, _ = starting_points(seen, Plan("sphere", size), None, 0, lambda _: None)
                given[size] = {name: seen.span.lift(V) for name, V in factors.items()}
            starts = given[size]
        found = prepared.infer(plan, None, starts)
        for count in trial.label_counts:
            # As if W were expected to help: what to expect of it is calibrated afterwards.
            worth = trial.outcome(found.W, np.inf, reflection.rule, count)
            table[:, i, counts.index(count)] = worth.ratio, worth.always, found.history[-1]
    return index, table
