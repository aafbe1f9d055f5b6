"""The objective of the inference: against a naive form, against a floor, in memory, and in searches."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from scipy.optimize import minimize

from benchmarks.data import photo_sketch_pair
from benchmarks.timing import table
from l2t.inference import Objective
from l2t.numerics import Grassmann, minimize_on_manifold
from l2t.speed import PlainObjective, Weights, objective_floor, side_by_side

COMPONENTS = 20
FASTER, FLOOR = 8.0, 3.0
LARGE, LARGE_FEATURES, MEMORY = 5000, 1280, 4.0
BUDGETS = (25, 50, 100, 200)


def run() -> str:
    pair, what = photo_sketch_pair()
    span, reflection = pair.span, Weights()
    objective, naive = Objective(pair, reflection), PlainObjective(pair, reflection)
    V = np.eye(span.rank, COMPONENTS)
    ours, theirs = objective.in_span(V), naive(V)
    assert abs(ours[0] / theirs[0] - 1) < 1e-9
    assert np.linalg.norm(ours[1] - theirs[1]) < 1e-9 * np.linalg.norm(theirs[1])
    actions = (lambda: objective.in_span(V), lambda: naive(V), objective_floor(pair, V))
    seconds, slow, floor = side_by_side(actions)
    rows = [
        ("floor", f"{1e3 * floor:.1f}", f"{floor / seconds:.2f}"),
        ("l2t", f"{1e3 * seconds:.1f}", "1"),
        ("naive", f"{1e3 * slow:.1f}", f"{slow / seconds:.1f}"),
    ]
    n = len(span.joint)
    return (
        f"## Objective of the inference: value and gradient, {n} rows, {span.rank} x {COMPONENTS}\n\n"
        f"Data: {what}. All 33 kernels and all three terms count. Naive: 33 exponentials a pair of rows, one "
        "n x n array and one gradient a kernel and a term, in numpy, with the same result to 1e-9. Floor: "
        "the matrix products that nobody can avoid (rows, distances, both factors of the gradient) and two "
        f"exponentials for each pair of rows. l2t is **{slow / seconds:.0f} times** faster than the naive "
        f"form (the goal is {FASTER:.0f}) and takes **{seconds / floor:.1f} times** the floor (at most "
        f"{FLOOR:.0f}).\n\n"
        + table(("", "ms of one processor", "times l2t's"), rows)
        + f"\n\n{_large()}\n\n{_searches(objective, V)}"
    )


def _large() -> str:
    """Say what a large pair takes, measured in a process of its own."""
    code = (
        "import resource, time\n"
        "import numpy as np\n"
        "from benchmarks.data import feature_pair\n"
        "from l2t.speed import Weights\n"
        "from l2t.inference import Objective\n"
        f"pair = feature_pair({LARGE}, {LARGE}, {LARGE_FEATURES})\n"
        "start = time.process_time()\n"
        "objective = Objective(pair, Weights())\n"
        "ready = time.process_time()\n"
        f"objective.in_span(np.eye(pair.span.rank, {COMPONENTS}))\n"
        "done = time.process_time()\n"
        "print(ready - start, done - ready, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    ready, once, peak = (float(number) for number in told.stdout.split())
    return (
        f"With {LARGE:,} + {LARGE:,} rows of {LARGE_FEATURES} features, weights are not kept but computed "
        f"again: prepared in {ready:.0f} s (the joint span included), {once:.1f} s an evaluation, "
        f"**{peak / 2**20:.1f} GiB** at most (the goal is {MEMORY:.0f})."
    )


class Counted:
    """An objective that notes the best value after each evaluation, and stops at the last budget."""

    def __init__(self, objective) -> None:
        self.objective, self.best = objective, []

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


def _searches(objective: Objective, V: np.ndarray) -> str:
    """Return values after so many evaluations, ours and those of others."""
    searches = {"l2t": _ours, "pymanopt 2.2": _pymanopt}
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
    return (
        f"Searches on the Grassmannian from PCA, at {objective.in_span(V)[0]:.6f}, all with the same "
        "function; the best value after so many evaluations:\n\n"
        + table(("evaluations", *(str(budget) for budget in BUDGETS)), rows)
    )


def _ours(fun, V: np.ndarray) -> None:
    minimize_on_manifold(fun, V, Grassmann(), max_iter=10**4, tol=0.0)


def _pymanopt(fun, V: np.ndarray) -> None:
    import pymanopt
    from pymanopt.manifolds import Grassmann as PymanoptGrassmann
    from pymanopt.optimizers import ConjugateGradient

    manifold = PymanoptGrassmann(*V.shape)
    last: dict[str, object] = {}

    def both(W):
        if last.get("W") is None or not np.array_equal(last["W"], W):
            last.update(W=W.copy(), result=fun(W))
        return last["result"]

    @pymanopt.function.numpy(manifold)
    def cost(W):
        return both(W)[0]

    @pymanopt.function.numpy(manifold)
    def gradient(W):
        return both(W)[1]

    problem = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient)
    ConjugateGradient(verbosity=0, max_iterations=10**4, min_gradient_norm=0, min_step_size=0).run(
        problem, initial_point=V
    )
