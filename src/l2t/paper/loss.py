"""The learning problem of the paper's equation (2), and its solution from one start.

``min  mean_e Huber(1/f_e - y_e) + gamma/2 R``,  ``1/f = s w'd + v w'Qw + m / (w'tau) + b``

over w (K), s, v, m >= 0 and b, with ``y = 1 / l_hat``. The paper's parameters are ``beta = s w``,
``lambda = v / s²``, ``mu = s m``; here each term has its own scale. In the paper's parameters a small beta,
for a term that does not help, affects the other two, and starts reach different solutions. d, Q and tau are
divided by their size (`Units`), and R is the squared norm of all parameters but b: 1/f is near 1, not 0.

The problem is smooth, has few parameters, and is not convex (erratum E23). Damped, projected Newton steps
reach a stationary point within tens of iterations; quasi-Newton steps converge slowly, because neighbouring
kernels are nearly collinear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import huber

from l2t.paper.table import RunTable
from l2t.typing import Array, Indices

#: The paper's form of 1/f (`ReflectionFunction`), or one with weights for each term (`ConvexReflection`).
Form = Literal["paper", "convex"]
#: The terms of 1/f that can be left out.
COMPONENTS = ("mmd", "variance", "discriminant")
#: Minimum of s, so that beta has a scale even if the MMD term does not help.
LEAST_SCALE = 1e-3
#: Minimum of w'tau, in units of tau.
LEAST_TAU_UNITS = 1e-9

MAX_ITER = 300
TOL = 1e-9
PATIENCE = 3  # consecutive iterations with a relative decrease below TOL
DAMPING = 1e-3


@dataclass(frozen=True, eq=False)
class Units:
    """Typical sizes of d, Q and tau, by which they are divided.

    `by_kernel` (3, K) has the medians of d, of the diagonal of Q, and of tau for each kernel.
    """

    d: float
    Q: float
    tau: float
    by_kernel: Array

    @classmethod
    def of(cls, table: RunTable) -> Units:
        """Return the sizes of the statistics of a table."""
        diagonal = np.diagonal(table.Q, axis1=1, axis2=2)
        sizes = table.d.mean(), diagonal.mean(), np.median(table.tau.mean(axis=1))
        medians = np.median([table.d, diagonal, table.tau], axis=1)
        d, Q, tau = (float(size) if size > 0 else 1.0 for size in sizes)
        return cls(d, Q, tau, np.where(medians > 0, medians, 1.0))


@dataclass(frozen=True)
class LossSettings:
    """The weight of R, the Huber threshold, the `COMPONENTS` to learn, and the form of 1/f."""

    gamma: float
    huber: float
    components: tuple[str, ...] = COMPONENTS
    form: Form = "paper"


@dataclass(frozen=True, eq=False)
class LossMinimum:
    """A stationary point (w, s, v, m, b), its regularised loss, and the reason for stopping."""

    theta: Array
    loss: float
    stopped: str

    def parameters(self, units: Units) -> tuple[Array, float, float, float]:
        """Return beta, lambda, mu and b of the paper."""
        w, (s, v, m, b) = self.theta[:-4], self.theta[-4:]
        beta = s * w / units.d
        # Terms in units: v w'(Q / uQ) w = lambda beta'Q beta, and m / (w'tau / ut) = mu / (beta'tau).
        lambda_ = v * units.d**2 / (s**2 * units.Q)
        return beta, float(lambda_), float(m * s * units.tau / units.d), float(b)


class Problem:
    """The loss over some experiences of a table.

    `run` and `y` have one entry per experience: the number of its run, and 1 / l_hat.
    """

    def __init__(
        self, table: RunTable, run: Indices, y: Array, units: Units, settings: LossSettings
    ) -> None:
        self.table, self.run, self.y = table, run, y
        self.units, self.huber = units, settings.huber
        K = len(table.kernels)
        self.low = np.r_[np.zeros(K), LEAST_SCALE, 0.0, 0.0, -np.inf]
        self.high = np.full(K + 4, np.inf)
        for i, name in enumerate(COMPONENTS, start=K):
            if name not in settings.components:
                self.high[i] = self.low[i]
        self.ridge = np.r_[np.full(K + 3, settings.gamma), 0.0]

    def starts(self, n: int, random_state: int) -> list[Array]:
        """Return n starts: first equal weights, then random ones."""
        rng = np.random.default_rng(random_state)
        K, level = len(self.table.kernels), float(np.mean(self.y)) - 0.1
        thetas = [np.r_[np.full(K, 1.0 / K), 0.1, 0.1, 0.1, level]]
        while len(thetas) < n:
            scales = 10.0 ** rng.uniform(-2, 0, 3)
            thetas.append(np.r_[rng.dirichlet(np.full(K, 0.3)), scales, level])
        return thetas

    def predictions(self, theta: Array) -> Array:
        """Return 1/f of every run of the table."""
        return self._terms(theta)[0]

    def value(self, theta: Array) -> float:
        """Return the regularised loss."""
        residual = self.predictions(theta)[self.run] - self.y
        return self._regularised(theta, float(huber(self.huber, residual).sum()))

    def derivatives(self, theta: Array) -> tuple[float, Array, Array, Array]:
        """Return the loss, its gradient, its Gauss-Newton matrix and the rest of its Hessian."""
        K, P = len(theta) - 4, len(theta)
        w, s, v, m = theta[:K], *theta[K : K + 3]
        value, d, Qw, wQw, tau, wtau = self._terms(theta)
        residual = value[self.run] - self.y
        size = np.maximum(np.abs(residual), self.huber)
        psi = np.bincount(self.run, residual * (self.huber / size), minlength=len(value))
        weight = np.bincount(self.run, self.huber / size, minlength=len(value))
        by_w = s * d + 2 * v * Qw - (m / wtau**2)[:, None] * tau
        J = np.column_stack([by_w, d @ w, wQw, 1 / wtau, np.ones(len(value))])
        rest = np.zeros((P, P))
        Q_sum = np.tensordot(psi, self.table.Q, 1) / self.units.Q
        rest[:K, :K] = 2 * v * Q_sum + 2 * m * (tau * (psi / wtau**3)[:, None]).T @ tau
        rest[K : K + 3, :K] = np.stack([psi @ d, 2 * psi @ Qw, -(psi / wtau**2) @ tau])
        rest[:K, K : K + 3] = rest[K : K + 3, :K].T
        n = len(self.y)
        gradient = psi @ J / n + self.ridge * theta
        gauss_newton = (J * weight[:, None]).T @ J / n
        loss = float(huber(self.huber, residual).sum())
        return self._regularised(theta, loss), gradient, gauss_newton, rest / n

    def solve(self, theta: Array) -> LossMinimum:
        """Return a stationary point, found from theta by damped, projected Newton steps."""
        theta = np.clip(theta, self.low, self.high)
        state = self.derivatives(theta)
        damping, small, n_iter = DAMPING, 0, 0
        reason = "the maximum number of steps was reached"
        while n_iter < MAX_ITER:
            step = self._step(theta, state, damping)
            if step is None:
                reason = "no step reduces the loss"
                break
            n_iter += 1
            theta, new, used = step
            damping = max(used / 8, 1e-10)
            small = small + 1 if state[0] - new < TOL * abs(state[0]) else 0
            state = self.derivatives(theta)
            if small == PATIENCE:
                reason = f"{PATIENCE} consecutive steps reduced the loss by less than {TOL:g} of it"
                break
        return LossMinimum(theta, state[0], f"after {n_iter} steps: {reason}")

    def _step(
        self, theta: Array, state: tuple[float, Array, Array, Array], damping: float
    ) -> tuple[Array, float, float] | None:
        """Return a point with a lower loss, that loss and the damping used; None if there is none."""
        value, gradient, gauss_newton, rest = state
        free = ((theta > self.low) | (gradient < 0)) & ((theta < self.high) | (gradient > 0))
        if not free.any():
            return None
        inner = np.ix_(free, free)
        size = np.diag(np.diag(gauss_newton)[free] + 1e-12)
        convex = (gauss_newton + np.diag(self.ridge))[inner]
        for _ in range(15):
            matrix = convex + damping * size
            if np.linalg.eigvalsh(matrix + rest[inner])[0] > 0:
                matrix = matrix + rest[inner]
            new = theta.copy()
            new[free] -= np.linalg.solve(matrix, gradient[free])
            new = np.clip(new, self.low, self.high)
            lower = self.value(new)
            if lower < value - 1e-4 * float(gradient @ (theta - new)):
                return new, lower, damping
            damping = max(6 * damping, 1e-6)
        return None

    def _terms(self, theta: Array) -> tuple[Array, ...]:
        """Return 1/f and its parts d, Qw, w'Qw, tau and w'tau, in units."""
        K = len(theta) - 4
        w, s, v, m, b = theta[:K], *theta[K:]
        d, tau = self.table.d / self.units.d, self.table.tau / self.units.tau
        Qw = (self.table.Q.reshape(-1, K) @ w).reshape(-1, K) / self.units.Q
        wQw, wtau = Qw @ w, np.maximum(tau @ w, LEAST_TAU_UNITS)
        return s * (d @ w) + v * wQw + m / wtau + b, d, Qw, wQw, tau, wtau

    def _regularised(self, theta: Array, loss: float) -> float:
        return loss / len(self.y) + 0.5 * float(self.ridge @ theta**2)
