"""d, Q and tau straight from their definitions, and a lower bound of their time."""

from __future__ import annotations

import numpy as np

from l2t.domains import DomainPair
from l2t.numerics import mean_squared_distance, mutual_neighbors, squared_distances
from l2t.statistics import KernelBank
from l2t.statistics.variance import paired_rows
from l2t.typing import Array

__all__ = ["plain_statistics", "statistics_floor"]


def plain_statistics(pair: DomainPair, W: Array, kernels: KernelBank) -> tuple[Array, Array, Array]:
    """Return d, Q and tau of as many source as target rows, straight from the definitions."""
    Xs, Xt = (X.astype(np.float64) for X in (pair.source.X, pair.target.X))
    Zs, Zt = Xs @ W, Xt @ W
    i, j = paired_rows(len(Zs), len(Zt), 0)
    Zs, Zt = Zs[i], Zt[j]
    eta, eta_0 = mean_squared_distance(Zs, Zt), mean_squared_distance(Xs, Xt)
    ss, tt, st = squared_distances(Zs), squared_distances(Zt), squared_distances(Zs, Zt)
    D, sizes = squared_distances(Xt), squared_distances(Xt @ W)
    near = mutual_neighbors(D, 5)
    nearest = D[~np.eye(len(D), dtype=bool)].min()
    d, h, tau = [], [], []
    for p in kernels.exponents:
        Kss, Ktt, Kst = (np.exp(-block / (2.0**p * eta)) for block in (ss, tt, st))
        d.append(Kss.mean() + Ktt.mean() - 2 * Kst.mean())
        h.append((Kss + Ktt - Kst - Kst.T).ravel())
        weights = np.exp((nearest - D) / (2.0**p * eta_0)) * sizes
        tau.append(weights[~near].sum() / weights[near].sum())
    return np.array(d), np.cov(h), np.array(tau)


def statistics_floor(pair: DomainPair, W: Array) -> None:
    """Run only the unavoidable computations: half of each symmetric array."""
    Xs, Xt = (X.astype(np.float64) for X in (pair.source.X, pair.target.X))
    Z = np.concatenate([Xs @ W, Xt @ W])
    for products in (Z @ Z.T, Xt @ Xt.T):
        half = products[: len(products) // 2]
        for _ in range(2):
            np.exp(-np.abs(half))
