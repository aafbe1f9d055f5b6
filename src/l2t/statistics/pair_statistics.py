"""What a W does to a pair, in numbers: d, Q and tau for every kernel of a bank.

The bandwidths of d and Q follow W (``eta(W)``, the mean squared distance between the projected domains),
those of tau do not. So none of the three changes with the scale of W, nor with a rotation of its columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from l2t.algorithms import LatentFactors
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.numerics import mean_squared_distance, squared_distances
from l2t.statistics.bank import KernelBank
from l2t.statistics.discriminability import discriminability
from l2t.statistics.distance import mmd
from l2t.statistics.variance import mmd_covariance, paired_rows

__all__ = ["PairStatistics", "pair_statistics"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairStatistics:
    """The statistics of a pair under a W.

    Attributes
    ----------
    d : array of shape (K,)
        Squared MMD between the domains, for each kernel.
    Q : array of shape (K, K)
        Covariance of the MMD's terms across kernels.
    tau : array of shape (K,)
        Unlabelled discriminant criterion of the target, for each kernel.
    kernels : KernelBank
        The bank.
    n_neighbors : int
        The neighbours r that tau was asked for.
    """

    d: Array
    Q: Array
    tau: Array
    kernels: KernelBank
    n_neighbors: int

    def __repr__(self) -> str:
        return f"PairStatistics({len(self.kernels)} kernels, {self.n_neighbors} neighbours)"

    def __post_init__(self) -> None:
        K = len(self.kernels)
        shapes = {"d": (K,), "Q": (K, K), "tau": (K,)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                got = getattr(self, name).shape
                raise InvalidInputError(f"{name} must have shape {shape}, got {got}")


def pair_statistics(
    pair: DomainPair,
    W: npt.ArrayLike | LatentFactors,
    *,
    kernels: KernelBank | None = None,
    n_neighbors: int = 5,
    random_state: int | None = 0,
) -> PairStatistics:
    """Compute d, Q and tau of a pair under W; no label is read.

    Parameters
    ----------
    pair : DomainPair
        The domains; the target needs two rows or more.
    W : array-like of shape (m, u), or LatentFactors
        The latent factor matrix.
    kernels : KernelBank, optional
        The bank, by default 33 bandwidths.
    n_neighbors : int
        Neighbours r of tau; at most half of the other target rows are used.
    random_state : int or None
        The seed that pairs source and target rows for Q; None pairs them in the given order.

    Examples
    --------
    >>> from l2t.domains import Domain
    >>> pair = DomainPair(Domain([[0.0, 1.0], [2.0, 0.0]]), Domain([[1.0, 1.0], [3.0, 1.0], [0.0, 4.0]]))
    >>> pair_statistics(pair, [[1.0], [0.0]]).d.shape
    (33,)
    """
    bank = KernelBank() if kernels is None else kernels
    if not isinstance(pair, DomainPair):
        raise InvalidInputError(f"pair must be a DomainPair, got {type(pair).__name__}")
    if not isinstance(bank, KernelBank):
        raise InvalidInputError(f"kernels must be a KernelBank, got {type(bank).__name__}")
    for name, value, least in (("n_neighbors", n_neighbors, 1), ("random_state", random_state, 0)):
        if value is not None and (not isinstance(value, int | np.integer) or value < least):
            raise InvalidInputError(
                f"{name} must be a whole number of at least {least}, got {value!r}"
            )
    W = W.W if isinstance(W, LatentFactors) else W
    if len(pair.target) < 2:
        raise InvalidInputError(f"target must have at least 2 rows, got {len(pair.target)}")
    Xs, Xt = (X.astype(np.float64, copy=False) for X in (pair.source.X, pair.target.X))
    Zs, Zt = _project(Xs, Xt, np.asarray(W, dtype=np.float64))
    eta, eta_0 = mean_squared_distance(Zs, Zt), mean_squared_distance(Xs, Xt)
    if not eta > 0:
        raise InvalidInputError("W must not send all rows of both domains to one point")
    i, j = paired_rows(len(Zs), len(Zt), random_state)
    tau = discriminability(squared_distances(Xt), squared_distances(Zt), eta_0, bank, n_neighbors)
    return PairStatistics(
        mmd(Zs, Zt, eta, bank),
        mmd_covariance(Zs[i], Zt[j], eta, bank),
        tau,
        bank,
        n_neighbors,
    )


def _project(Xs: Array, Xt: Array, W: Array) -> tuple[Array, Array]:
    """Return both domains under W, moved by their joint mean: far from zero distances lose digits."""
    if W.ndim != 2 or W.shape[0] != Xs.shape[1] or not np.isfinite(W).all():
        raise InvalidInputError(
            f"W must be finite with one row a feature ({Xs.shape[1]}), got shape {W.shape}"
        )
    Zs, Zt = Xs @ W, Xt @ W
    centre = 0.5 * (Zs.mean(axis=0) + Zt.mean(axis=0))
    return Zs - centre, Zt - centre
