"""d: the squared maximum mean discrepancy of the projected domains, for every kernel.

``d_k = mean K_k(s, s') + mean K_k(t, t') - 2 mean K_k(s, t)``, over all pairs of rows of Zs = Xs W and
Zt = Xt W (biased, as in the paper; erratum E31).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from l2t.numerics import squared_distances
from l2t.numerics.blocks import upper_blocks
from l2t.statistics.bank import KernelBank
from l2t.typing import Array

__all__ = ["mmd"]


def mmd(
    Zs: Array,
    Zt: Array,
    paired: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]],
    sums: Array,
    eta: float,
    kernels: KernelBank,
) -> Array:
    """Return d (K,), given the kernel sums (K, 4) over the paired rows (`mmd_covariance`).

    What is left to do are the rows of the larger domain that have no partner.
    """
    i, j = paired
    ss, st, ts, tt = sums.T
    more_s, more_st = _sums_of_rest(np.delete(Zs, i, axis=0), Zs[i], Zt[j], eta, kernels)
    more_t, more_ts = _sums_of_rest(np.delete(Zt, j, axis=0), Zt[j], Zs[i], eta, kernels)
    ns, nt = len(Zs), len(Zt)
    d = (ss + more_s) / ns**2 + (tt + more_t) / nt**2
    d -= (st + ts + 2.0 * (more_st + more_ts)) / (ns * nt)
    # Rounding may leave a hair below zero where the domains are the same.
    return np.asarray(np.maximum(d, 0.0))


def _sums_of_rest(rest: Array, own: Array, other: Array, eta: float, kernels: KernelBank) -> Array:
    """Return the sums (2, K) that rows without a partner add: in their own domain, and across."""
    Z = np.concatenate([rest, own, other])
    of_other = np.arange(len(Z)) >= len(rest) + len(own)
    sums = np.zeros((2, len(kernels)))
    sums[0] = len(rest)  # each row with itself
    for rows, columns, upper in upper_blocks(len(rest), len(own) + len(other)):
        across = upper & of_other[columns]
        weights = np.stack([2.0 * (upper & ~across), across]).reshape(2, -1)
        D = squared_distances(Z[rows], Z[columns])
        for k, values in kernels.evaluate(D.ravel(), eta):
            sums[:, k] += weights @ values
    return sums
