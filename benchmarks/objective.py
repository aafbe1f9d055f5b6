"""The objective of the inference: against a naive form, against a floor, in memory, and in searches."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from scipy.optimize import minimize

from benchmarks.data import feature_pair, photo_sketch_pair
from benchmarks.figures import Figure
from benchmarks.memory import alone, peak_memory
from benchmarks.peers import search_with_pymanopt
from benchmarks.plain.objective import WEIGHTS, PlainObjective, objective_floor
from benchmarks.timing import side_by_side
from l2t.inference import Objective
from l2t.numerics import Grassmann, minimize_on_manifold

COMPONENTS = 20
FASTER, FLOOR = 8.0, 2.0
LARGE, LARGE_FEATURES, MEMORY = 5000, 1280, 4.0
BUDGETS = (25, 50, 100, 200)


def run() -> dict[str, Any]:
    pair, what = photo_sketch_pair()
    span, reflection = pair.span, WEIGHTS
    objective, naive = Objective(pair, reflection), PlainObjective(pair, reflection)
    V = np.eye(span.rank, COMPONENTS)
    ours, theirs = objective.in_span(V), naive(V)
    assert abs(ours[0] / theirs[0] - 1) < 1e-9
    assert np.linalg.norm(ours[1] - theirs[1]) < 1e-9 * np.linalg.norm(theirs[1])
    actions = (lambda: objective.in_span(V), lambda: naive(V), objective_floor(pair, V))
    seconds, slow, floor = side_by_side(actions)
    code = f"from benchmarks.objective import measure; measure({LARGE}, {LARGE_FEATURES})"
    large, beside = alone(code), f"naive: {slow / seconds:.0f} times slower"
    return {
        "figures": [
            Figure(
                "objective and gradient over the floor", seconds / floor, FLOOR, "", False, beside
            ),
            Figure("objective, 5,000 + 5,000 rows", large["peak"] / 1024, MEMORY, "GiB"),
        ],
        "what": what,
        "n": len(span.joint),
        "rank": span.rank,
        "components": COMPONENTS,
        "seconds": seconds,
        "slow": slow,
        "floor": floor,
        "goals": {"faster": FASTER, "floor": FLOOR, "memory": MEMORY},
        "large": {"n": LARGE, "m": LARGE_FEATURES, **large},
        "start": objective.in_span(V)[0],
        "budgets": BUDGETS,
        "searches": _searches(objective, V),
    }


def measure(n: int, m: int) -> None:
    """Print what a large pair takes."""
    pair = feature_pair(n, n, m)
    start = time.process_time()
    objective = Objective(pair, WEIGHTS)
    ready = time.process_time()
    objective.in_span(np.eye(pair.span.rank, COMPONENTS))
    once = time.process_time() - ready
    print(json.dumps({"ready": ready - start, "once": once, "peak": peak_memory()}))


class Counted:
    """An objective that notes the best value after each evaluation, and stops at the last budget."""

    def __init__(self, objective) -> None:
        self.objective = objective
        self.best: list[float] = []

    def __call__(self, V):
        """Return value and gradient."""
        if len(self.best) >= BUDGETS[-1]:
            raise StopIteration
        value, gradient = self.objective(V)
        self.best.append(min([value, *self.best[-1:]]))
        return value, gradient


def by_qr(objective, shape):
    """Return the objective of the orthonormal factor of a free matrix, as scipy wants it.

    J does not change with a rotation of columns, so ``A = Q R`` has the gradient ``(I - QQ') G R^-T``.
    """

    def fun(a):
        Q, R = np.linalg.qr(a.reshape(shape))
        value, G = objective(Q)
        return value, np.linalg.solve(R, (G - Q @ (Q.T @ G)).T).T.ravel()

    return fun


def _searches(objective: Objective, V: np.ndarray) -> list[tuple[str, ...]]:
    """Return values after so many evaluations, ours and those of others."""
    searches = {"l2t": _ours, "pymanopt 2.2": lambda fun, V: search_with_pymanopt(fun, V, 10**4)}
    for method in ("L-BFGS-B", "CG"):
        searches[f"scipy {method} through QR"] = lambda fun, V, m=method: minimize(
            by_qr(fun, V.shape), V.ravel(), jac=True, method=m, options={"maxiter": 10**4}
        )
    rows = []
    for name, search in searches.items():
        counted = Counted(objective.in_span)
        try:
            search(counted, V)
        except StopIteration:
            pass
        except ImportError:
            rows.append((name, "not installed", *[""] * (len(BUDGETS) - 1)))
            continue
        reached = [counted.best[min(budget, len(counted.best)) - 1] for budget in BUDGETS]
        rows.append((name, *(f"{value:.6f}" for value in reached)))
    return rows


def _ours(fun, V: np.ndarray) -> None:
    minimize_on_manifold(fun, V, Grassmann(), max_iter=10**4, tol=0.0)
