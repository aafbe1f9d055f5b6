"""The learning problem of the convex form of 1/f, and its solution.

``min  mean_e Huber(x_e'c - y_e) + gamma/2 R``  over c >= 0,  ``y = 1 / l_hat``,

where x_e holds d, the diagonal of Q, and 1/tau of each kernel, relative to their sizes
(`Units.by_kernel`), and a constant; R is the squared norm of all weights but b. Every residual beyond the
Huber threshold gets the weight ``threshold / |r|`` in a non-negative least squares problem, which is repeated
with the new residuals: each solution lowers the loss, and as the problem is convex, the loss that is reached
is the least.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls
from scipy.special import huber

from l2t.paper.convex import LEAST_TAU
from l2t.paper.loss import COMPONENTS, LossMinimum, LossSettings, Units
from l2t.paper.table import RunTable
from l2t.typing import Array, Indices

MAX_NEWTON_STEPS = 200
NEWTON_TOL = 1e-12


class ConvexProblem:
    """The loss over some experiences of a table.

    `run` and `y` have one entry per experience: the number of its run, and 1 / l_hat. Parameters are the
    weights (3 K) and b.
    """

    def __init__(
        self, table: RunTable, run: Indices, y: Array, units: Units, settings: LossSettings
    ) -> None:
        self.run, self.y, self.huber = run, y, settings.huber
        d, Q, tau = units.by_kernel
        inverse = tau / np.maximum(table.tau, LEAST_TAU)
        diagonal = np.diagonal(table.Q, axis1=1, axis2=2)
        self._x = np.column_stack([table.d / d, diagonal / Q, inverse, np.ones(table.n_runs)])
        learned = np.isin(COMPONENTS, settings.components)
        self._free = np.append(np.repeat(learned, len(table.kernels)), True)
        self._ridge = np.append(np.full(self._x.shape[1] - 1, settings.gamma), 0.0)

    def starts(self, n: int, random_state: int) -> list[Array]:
        """Return one start, because there is one optimum: equal predictions."""
        return [np.append(np.zeros(len(self._ridge) - 1), max(float(np.median(self.y)), 0.0))]

    def predictions(self, theta: Array) -> Array:
        """Return 1/f of every run of the table."""
        return np.asarray(self._x @ theta)

    def value(self, theta: Array) -> float:
        """Return the regularised loss."""
        residual = self.predictions(theta)[self.run] - self.y
        loss = float(huber(self.huber, residual).mean())
        return loss + 0.5 * float(self._ridge @ theta**2)

    def gradient(self, theta: Array) -> Array:
        """Return the gradient of the loss."""
        residual = self.predictions(theta)[self.run] - self.y
        psi = np.clip(residual, -self.huber, self.huber)
        by_run = np.bincount(self.run, psi, minlength=len(self._x))
        return np.asarray(by_run @ self._x / len(self.y) + self._ridge * theta)

    def solve(self, theta: Array) -> LossMinimum:
        """Return the optimum, found from theta by non-negative least squares with new weights."""
        value, n_iter = self.value(theta), 0
        reason = "the maximum number of steps was reached"
        while n_iter < MAX_NEWTON_STEPS:
            n_iter += 1
            new = self._reweighted(theta)
            lower = self.value(new)
            if lower < value:
                theta = new
            if value - lower <= NEWTON_TOL * abs(value):
                value = min(value, lower)
                reason = f"a step reduced the loss by at most {NEWTON_TOL:g} of it"
                break
            value = lower
        return LossMinimum(theta, value, f"after {n_iter} steps: {reason}")

    def _reweighted(self, theta: Array) -> Array:
        """Return the non-negative least squares solution with the weights of the residuals at theta."""
        residual = self.predictions(theta)[self.run] - self.y
        weights = self.huber / np.maximum(np.abs(residual), self.huber) / len(self.y)
        # Experiences of a run share their x: they are one row, with their mean y.
        total = np.bincount(self.run, weights, minlength=len(self._x))
        sums = np.bincount(self.run, weights * self.y, minlength=len(self._x))
        known, free = total > 0, self._free
        root = np.sqrt(total[known])
        rows = np.vstack(
            [self._x[known][:, free] * root[:, None], np.diag(np.sqrt(self._ridge))[free][:, free]]
        )
        sides = np.append(sums[known] / root, np.zeros(int(free.sum())))
        Q, R = np.linalg.qr(rows)
        new = np.zeros_like(theta)
        new[free], _ = nnls(R, Q.T @ sides, maxiter=100 * len(R))
        return new
