"""The statistics d, Q and tau of a pair under a W, for each kernel of a bank.

The bandwidths of d and Q are in proportion to ``eta(W)``, the mean squared distance between the projected
domains; those of tau do not depend on W. So none of the three changes with the scale of W or a rotation of
its columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from l2t.algorithms import LatentFactors
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.numerics import mean_squared_distance
from l2t.statistics.bank import KernelBank
from l2t.statistics.discriminability import discriminability
from l2t.statistics.variance import mmd, mmd_covariance, paired_rows
from l2t.typing import Array, MatrixLike
from l2t.validation import instance_of, one_of, seed, whole_number

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False)
class PairStatistics:
    """The statistics of a pair under a W.

    Attributes
    ----------
    d : array of shape (K,)
        Squared maximum mean discrepancy (MMD) between the domains, for each kernel.
    Q : array of shape (K, K)
        Covariance of the terms of the MMD between kernels.
    tau : array of shape (K,)
        Unlabelled discriminant criterion of the target, for each kernel.
    kernels : KernelBank
        The kernels.
    n_neighbors : int
        The requested number of neighbours r of tau.
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

    def restrict(self, kernels: KernelBank) -> PairStatistics:
        """Return the statistics for some of the kernels.

        Parameters
        ----------
        kernels : KernelBank
            A bank whose exponents are all among those of the statistics.

        Returns
        -------
        PairStatistics
            d, Q and tau for these kernels.

        Raises
        ------
        InvalidInputError
            If an exponent is not among those of the statistics.
        """
        gaps = np.abs(kernels.exponents[:, None] - self.kernels.exponents)
        if gaps.min(axis=1).max() > 1e-9:
            raise InvalidInputError(
                f"kernels must be among those of the statistics, {self.kernels}, got {kernels}"
            )
        kept = gaps.argmin(axis=1)
        return PairStatistics(
            self.d[kept], self.Q[np.ix_(kept, kept)], self.tau[kept], kernels, self.n_neighbors
        )


def pair_statistics(
    pair: DomainPair,
    W: MatrixLike,
    *,
    kernels: KernelBank | None = None,
    n_neighbors: int = 5,
    random_state: int | None = 0,
    q_mode: str = "full",
) -> PairStatistics:
    """Compute d, Q and tau of a pair under W, without labels.

    Parameters
    ----------
    pair : DomainPair
        The domains; the target must have at least two rows.
    W : array-like or sparse matrix of shape (m, u), or LatentFactors
        The latent factor matrix.
    kernels : KernelBank, optional
        The kernels, by default ``KernelBank()`` with 33 bandwidths.
    n_neighbors : int, default=5
        The number of neighbours r of tau, reduced to half of the other target rows if these are few.
    random_state : int or None, default=0
        The seed that pairs source and target rows for Q; None pairs them in the given order.
    q_mode : {"full", "diag"}, default="full"
        "diag" sets the covariances in Q to 0, so that ``beta'Q beta`` is the sum printed in the paper
        (erratum E2).

    Returns
    -------
    PairStatistics
        The statistics of shape (K,), (K, K) and (K,) for K kernels.

    Raises
    ------
    InvalidInputError
        If the target has fewer than two rows, or W has the wrong shape, is not finite, or maps all rows to
        one point.

    Examples
    --------
    >>> from l2t.domains import Domain
    >>> pair = DomainPair(Domain([[0.0, 1.0], [2.0, 0.0]]), Domain([[1.0, 1.0], [3.0, 1.0], [0.0, 4.0]]))
    >>> pair_statistics(pair, [[1.0], [0.0]]).d.shape
    (33,)
    """
    instance_of("pair", pair, DomainPair)
    bank = instance_of("kernels", KernelBank() if kernels is None else kernels, KernelBank)
    whole_number("n_neighbors", n_neighbors, least=1)
    if random_state is not None:
        seed(random_state)
    one_of("q_mode", q_mode, ("full", "diag"))
    if len(pair.target) < 2:
        raise InvalidInputError(f"target must have at least 2 rows, got {len(pair.target)}")
    W = W.W if isinstance(W, LatentFactors) else W
    if not sparse.issparse(W):  # that of "identity" is sparse for very many features
        W = np.asarray(W, dtype=np.float64)
    values = W.data if sparse.issparse(W) else W
    if W.ndim != 2 or W.shape[0] != pair.n_features or not np.isfinite(values).all():
        raise InvalidInputError(
            f"W must be finite with one row per feature ({pair.n_features}), got shape {W.shape}"
        )
    Xs, Xt = _centred(pair)
    Zs, Zt = Xs @ W, Xt @ W
    eta, eta_0 = mean_squared_distance(Zs, Zt), mean_squared_distance(Xs, Xt)
    if not eta > 0:
        raise InvalidInputError("W must not map all rows of both domains to one point")
    paired = i, j = paired_rows(len(Zs), len(Zt), random_state)
    Q, sums = mmd_covariance(Zs[i], Zt[j], eta, bank)
    return PairStatistics(
        mmd(Zs, Zt, paired, sums, eta, bank),
        Q if q_mode == "full" else np.diag(np.diag(Q)),
        discriminability(Xt, Zt, eta_0, bank, n_neighbors),
        bank,
        n_neighbors,
    )


def _centred(pair: DomainPair) -> tuple[Array, Array]:
    """Return both domains in float64, roughly centred, because distances far from 0 lose digits.

    The centre is the median of a few target rows, which is robust to outliers.
    """
    Xs, Xt = pair.source.X, pair.target.X
    centre = np.median(Xt[:: 1 + len(Xt) // 16], axis=0).astype(np.float64)
    return Xs - centre, Xt - centre
