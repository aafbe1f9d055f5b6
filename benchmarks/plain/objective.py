"""A plain implementation of the objective of the inference, and a lower bound of its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from l2t.domains import DomainPair
from l2t.numerics import mean_squared_distance, mutual_neighbors, squared_distances
from l2t.paper import ReflectionFunction
from l2t.statistics.variance import paired_rows
from l2t.typing import Array

__all__ = ["WEIGHTS", "PlainObjective", "objective_floor"]


#: A reflection function of which every term counts.
WEIGHTS = ReflectionFunction(np.linspace(1.0, 0.2, 33) / 20, lambda_=2.0, mu=0.3)


class PlainObjective:
    """A plain, vectorised implementation of the objective: kernel by kernel, term by term."""

    def __init__(self, pair: DomainPair, reflection: ReflectionFunction) -> None:
        self.r, span = reflection, pair.span
        self.S, self.T = span.source, span.target
        self.paired = paired_rows(len(self.S), len(self.T), 0)
        D = squared_distances(self.T)
        near = mutual_neighbors(D, reflection.n_neighbors)
        eta = mean_squared_distance(self.S, self.T)
        least = D[~np.eye(len(D), dtype=bool)].min()
        self.near: list[Array] = []
        self.far: list[Array] = []
        for p in reflection.kernels.exponents:
            K = np.exp((least - D) / (2.0**p * eta))
            np.fill_diagonal(K, 0.0)
            self.near.append(K * near)
            self.far.append(K * ~near)

    def __call__(self, V: Array) -> tuple[float, Array]:
        """Return value and gradient."""
        r, S, T = self.r, self.S, self.T
        i, j = self.paired
        Zs, Zt = S @ V, T @ V
        eta = mean_squared_distance(Zs, Zt)
        widths = 2.0**r.kernels.exponents * eta
        gap = Zs.mean(axis=0) - Zt.mean(axis=0)
        MV = (S - S.mean(axis=0)).T @ (Zs - Zs.mean(axis=0)) / len(S)
        MV += (T - T.mean(axis=0)).T @ (Zt - Zt.mean(axis=0)) / len(T)
        MV += np.outer(S.mean(axis=0) - T.mean(axis=0), gap)

        def gradient(blocks: Any, C: Any, width: float) -> Any:
            found, moment = np.zeros_like(V), 0.0
            for (A, ZA, B, ZB, D, K), c in zip(blocks, C, strict=True):
                CK = c * K
                moment += np.sum(CK * D)
                found += A.T @ (CK.sum(axis=1)[:, None] * ZA) + B.T @ (CK.sum(axis=0)[:, None] * ZB)
                found -= A.T @ (CK @ ZB) + B.T @ (CK.T @ ZA)
            return -2.0 / width * found + 2.0 / eta * moment / width * MV

        def blocks(A: Array, ZA: Array, B: Array, ZB: Array) -> list[list[Any]]:
            sides = ((A, ZA, A, ZA), (B, ZB, B, ZB), (A, ZA, B, ZB))
            D = [squared_distances(side[1], side[3]) for side in sides]
            K = [[np.exp(-d / w) for d in D] for w in widths]
            return [[(*s, d, k) for s, d, k in zip(sides, D, row, strict=True)] for row in K]

        value, slope = 0.0, np.zeros_like(V)
        every = blocks(S, Zs, T, Zt)
        shares = (1 / len(S) ** 2, 1 / len(T) ** 2, -2 / (len(S) * len(T)))
        for b, w, kernels in zip(r.beta, widths, every, strict=True):
            value += b * sum(c * kernel[5].sum() for c, kernel in zip(shares, kernels, strict=True))
            slope += b * gradient(kernels, shares, w)
        some = blocks(S[i], Zs[i], T[j], Zt[j])
        h = np.array([ss[5] + tt[5] - st[5] - st[5].T for ss, tt, st in some])
        g = np.tensordot(r.beta, h - h.mean(axis=(1, 2), keepdims=True), 1)
        n = len(i)
        value += r.lambda_ * np.sum(g**2) / (n**2 - 1)
        C = 2 * g / (n**2 - 1)
        for b, w, kernels in zip(r.beta, widths, some, strict=True):
            slope += r.lambda_ * b * gradient(kernels, (C, C, -C - C.T), w)
        D = squared_distances(Zt)
        sums = np.array([[np.sum(A * D) for A in half] for half in (self.far, self.near)])
        tau = sums[0] / sums[1]
        total = r.beta @ tau
        value += r.mu / total
        for b, far, near, N, L in zip(r.beta, self.far, self.near, *sums, strict=True):
            A = (far * L - near * N) / L**2
            slope -= r.mu / total**2 * b * 4 * (T.T @ (A.sum(axis=1)[:, None] * Zt - A @ Zt))
        return float(value), slope


def objective_floor(pair: DomainPair, V: Array) -> Callable[[], None]:
    """Return a function with only the unavoidable computations."""
    Y = pair.span.joint
    Z = Y @ V
    D = squared_distances(Z)
    upper = -D[np.triu_indices(len(D))] / D.mean()
    memory = np.empty_like(upper)

    def action() -> None:
        Y @ V, Z @ Z.T, D @ Z, Y.T @ Z
        np.exp(upper, out=memory), np.exp(upper, out=memory)

    return action
