"""The conjugate gradient against pymanopt's on the objective of DIP."""

from __future__ import annotations

import numpy as np

from benchmarks.data import photo_sketch_pair
from benchmarks.timing import best_of, table
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


def run() -> str:
    pair, what = photo_sketch_pair()
    span = pair.span
    q = leading_variance(span, 0.99, least=COMPONENTS)
    objective = Counted(rbf_mmd(span.source[:, :q], span.target[:, :q]))
    start = np.eye(q, COMPONENTS)
    seconds, found = best_of(
        lambda: minimize_on_manifold(objective, start, Grassmann(), max_iter=ITERATIONS, tol=0.0), 3
    )
    rows = [("l2t", f"{seconds:.2f}", found.n_evaluations, f"{found.value:.5f}")]
    rows.append(_pymanopt(objective, start))
    return (
        f"## Conjugate gradient on the Grassmannian, {ITERATIONS} iterations of DIP ({q} x {COMPONENTS})\n\n"
        f"Data: {what}. Both start from PCA at {found.trace[0]:.5f} and get value and gradient from the "
        "same function; the last result of pymanopt is kept, so that asking for the gradient where the "
        "value is known costs nothing.\n\n"
        + table(("", "seconds", "evaluations", "MMD² reached"), rows)
    )


def _pymanopt(objective: Counted, start: np.ndarray) -> tuple[object, ...]:
    try:
        import pymanopt
        from pymanopt.manifolds import Grassmann as PymanoptGrassmann
        from pymanopt.optimizers import ConjugateGradient
    except ImportError:
        return ("pymanopt", "not installed", "", "")
    manifold = PymanoptGrassmann(*start.shape)
    last: dict[str, object] = {}

    def both(W):
        if last.get("W") is None or not np.array_equal(last["W"], W):
            last.update(W=W.copy(), result=objective(W))
        return last["result"]

    @pymanopt.function.numpy(manifold)
    def cost(W):
        return both(W)[0]

    @pymanopt.function.numpy(manifold)
    def gradient(W):
        return both(W)[1]

    problem = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient)
    optimizer = ConjugateGradient(
        verbosity=0, max_iterations=ITERATIONS, min_gradient_norm=0, min_step_size=0
    )
    objective.count = 0
    seconds, result = best_of(lambda: optimizer.run(problem, initial_point=start), 3)
    return ("pymanopt 2.2", f"{seconds:.2f}", objective.count // 3, f"{result.cost:.5f}")
