"""What a W does to a pair, in numbers: d, Q and tau for every kernel of a bank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from l2t.exceptions import InvalidInputError
from l2t.statistics.bank import KernelBank

__all__ = ["PairStatistics"]

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

    def __post_init__(self) -> None:
        K = len(self.kernels)
        shapes = {"d": (K,), "Q": (K, K), "tau": (K,)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                got = getattr(self, name).shape
                raise InvalidInputError(f"{name} must have shape {shape}, got {got}")
