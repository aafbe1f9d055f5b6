"""The conjugate gradient against pymanopt's on the objective of DIP."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import photo_sketch_pair
from benchmarks.peers import search_with_pymanopt
from benchmarks.timing import best_of
from l2t.algorithms.dip import leading_variance, rbf_mmd
from l2t.numerics import Grassmann, minimize_on_manifold

COMPONENTS, ITERATIONS = 20, 40


class Counted:
    """An objective that counts its evaluations."""

    def __init__(self, objective) -> None:
        self.objective, self.count = objective, 0

    def __call__(self, W):
        """Return value and gradient."""
        self.count += 1
        return self.objective(W)


def run() -> dict[str, Any]:
    pair, what = photo_sketch_pair()
    span = pair.span
    q = leading_variance(span, 0.99, least=COMPONENTS)
    objective = Counted(rbf_mmd(span.source[:, :q], span.target[:, :q]))
    start = np.eye(q, COMPONENTS)
    seconds, found = best_of(
        lambda: minimize_on_manifold(objective, start, Grassmann(), max_iter=ITERATIONS, tol=0.0), 3
    )
    rows: list[tuple[object, ...]] = [
        ("l2t", f"{seconds:.2f}", found.n_evaluations, f"{found.value:.5f}")
    ]
    rows.append(_pymanopt(objective, start))
    return {
        "what": what,
        "iterations": ITERATIONS,
        "q": q,
        "components": COMPONENTS,
        "start": found.trace[0],
        "rows": rows,
    }


def _pymanopt(objective: Counted, start: np.ndarray) -> tuple[object, ...]:
    objective.count = 0
    try:
        seconds, result = best_of(lambda: search_with_pymanopt(objective, start, ITERATIONS), 3)
    except ImportError:
        return ("pymanopt", "not installed", "", "")
    return ("pymanopt 2.2", f"{seconds:.2f}", objective.count // 3, f"{result.cost:.5f}")
