"""Functions of other packages, for comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["search_with_pymanopt"]


def search_with_pymanopt(
    objective: Callable[[np.ndarray], tuple[float, np.ndarray]], start: np.ndarray, max_iter: int
) -> Any:
    """Minimise with pymanopt's conjugate gradient on the Grassmannian.

    `objective` returns value and gradient. The last result is kept, so that asking for the gradient where the
    value is known costs nothing.
    """
    import pymanopt
    from pymanopt.manifolds import Grassmann
    from pymanopt.optimizers import ConjugateGradient

    manifold = Grassmann(*start.shape)
    last: dict[str, Any] = {}

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
        verbosity=0, max_iterations=max_iter, min_gradient_norm=0, min_step_size=0
    )
    return optimizer.run(problem, initial_point=start)
