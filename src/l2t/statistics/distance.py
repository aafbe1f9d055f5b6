"""d: the squared maximum mean discrepancy of the projected domains, for every kernel.

``d_k = mean K_k(s, s') + mean K_k(t, t') - 2 mean K_k(s, t)``, over all pairs of rows of Zs = Xs W and
Zt = Xt W (biased, as in the paper; erratum E31).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from l2t.numerics import squared_distances
from l2t.statistics.bank import KernelBank

__all__ = ["kernel_sums", "mmd"]

Array = npt.NDArray[np.float64]

#: Rows at a time: the blocks stay in the cache, and memory does not grow with the square of the rows.
BLOCK = 128


def mmd(Zs: Array, Zt: Array, eta: float, kernels: KernelBank) -> Array:
    """Return d (K,) for the bandwidths ``2^p eta``."""
    ns, nt = len(Zs), len(Zt)
    within = (
        kernel_sums(Zs, None, eta, kernels) / ns**2 + kernel_sums(Zt, None, eta, kernels) / nt**2
    )
    # Rounding may leave a hair below zero where the domains are the same.
    return np.maximum(within - 2.0 * kernel_sums(Zs, Zt, eta, kernels) / (ns * nt), 0.0)


def kernel_sums(A: Array, B: Array | None, eta: float, kernels: KernelBank) -> Array:
    """Return the sum of each kernel over all pairs of rows; of A with itself where B is None."""
    sums = np.zeros(len(kernels))
    for at in range(0, len(A), BLOCK):
        rows = A[at : at + BLOCK]
        if B is not None:
            for k, values in kernels.evaluate(squared_distances(rows, B), eta):
                sums[k] += values.sum()
            continue
        # Half of the pairs suffice: the block with itself, and twice the block with what follows.
        for k, values in kernels.evaluate(squared_distances(rows), eta):
            sums[k] += values.sum()
        if at + BLOCK < len(A):
            for k, values in kernels.evaluate(squared_distances(rows, A[at + BLOCK :]), eta):
                sums[k] += 2.0 * values.sum()
    return sums
