"""LSDT: latent sparse domain transfer (Zhang, Zuo, Zhang 2016).

``min_{P, Z} ||(Xt - Z X) P||_F² + lam ||Z||_1 + tau ||X - X P P'||_F²   s.t.  P'P = I, no self-use``

Rows are instances: X = [Xs; Xt] (n x q), Z (nt x n) the sparse codes that reconstruct target rows from all
*other* rows, P (q x u) the subspace in which the error is measured. Alternating:

* Z-step: one lasso per target row over the dictionary X P, all rows at once (`sparse_codes`), warm-started;
* P-step: the u leading eigenvectors of ``tau X'X - R'R``, ``R = Xt - Z X``.

The kernel form is the same problem on kernel principal coordinates: X holds the rows of ``U sqrt(Lambda)``
for the centred kernel matrix ``H K H = U Lambda U'`` of both domains. Rows are jointly centred and scaled to
a mean squared norm of 1, so that lam does not depend on the scale of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh

from l2t.algorithms.base import BaseAlgorithm, Diagnostics, LatentFactors, parameter
from l2t.domains import DomainPair
from l2t.numerics import leading_eigenpairs, rbf_kernel, sparse_codes
from l2t.typing import Array
from l2t.validation import one_of, real_number, whole_number


@dataclass(frozen=True)
class LSDT(BaseAlgorithm):
    """Latent sparse domain transfer.

    Parameters
    ----------
    n_components : int, default=20
        Number of components u; at most the rank of the data is used.
    random_state : int or None, default=0
        Not used.
    kernel : {"rbf", "linear"}, default="rbf"
        For "rbf" (bandwidth: the mean squared distance of all rows) W is fitted to the embedded
        target; for "linear" W is P itself.
    lam : float, default=0.1
        Weight of the l1 norm of the codes, positive.
    tau : float, default=1.0
        Weight of the variance that P loses, positive.
    max_iter : int, default=15
        Maximum number of Z-steps and P-steps.

    Notes
    -----
    Parts: ``codes`` (nt x n), optimal for the final ``P`` (q x u), and ``features`` (n x q), the rows
    X that P projects.
    """

    name: ClassVar[str] = "lsdt"

    kernel: str = parameter("rbf", one_of, ("rbf", "linear"))
    lam: float = parameter(0.1, real_number, above=0)
    tau: float = parameter(1.0, real_number, above=0)
    max_iter: int = parameter(15, whole_number, least=1)

    def _fit(self, pair: DomainPair) -> LatentFactors:
        span = pair.span
        self._clip(span.rank)
        X = span.joint if self.kernel == "linear" else kernel_coordinates(span.joint)
        u = min(self.n_components, span.rank, X.shape[1])
        X = X / np.sqrt(np.mean(np.sum(X**2, axis=1)))
        P, codes, diagnostics = self._alternate(X, len(pair.source), u)
        parts = {"codes": codes, "P": P, "features": X}
        if self.kernel == "linear":
            return LatentFactors(span.lift(P), "linear", self.name, diagnostics, parts)
        return self._fitted(span, X[len(pair.source) :] @ P, diagnostics, parts)

    def _alternate(self, X: Array, ns: int, u: int) -> tuple[Array, Array, Diagnostics]:
        target = X[ns:]
        own = np.arange(ns, len(X))
        total = float(np.sum(X**2))
        P = np.eye(X.shape[1], u)  # the leading principal directions
        codes: Array | None = None
        trace: list[float] = []
        reason = "max_iter"
        for _ in range(self.max_iter + 1):
            latent = X @ P
            # ||RP||² + lam |Z| is twice the lasso objective for alpha = lam / 2.
            codes = sparse_codes(
                latent, latent[ns:], self.lam / 2, start=codes, forbidden=own
            ).codes
            error = latent[ns:] - codes @ latent
            lost = total - float(np.sum(latent**2))
            value = float(np.sum(error**2) + self.lam * np.abs(codes).sum() + self.tau * lost)
            trace.append(value)
            if len(trace) > 1 and trace[-2] - value <= 1e-4 * trace[-2]:
                reason = "progress"
                break
            if len(trace) > self.max_iter:
                break
            R = target - codes @ X
            P = leading_eigenpairs(self.tau * (X.T @ X) - R.T @ R, u)[1]
        assert codes is not None
        return P, codes, Diagnostics(tuple(trace), len(trace) - 1, reason)


def kernel_coordinates(X: Array) -> Array:
    """Return the principal coordinates of the centred RBF kernel of the rows, largest first."""
    K = rbf_kernel(X)
    K -= K.mean(axis=0)
    K -= K.mean(axis=1, keepdims=True)
    values, vectors = eigh(K, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > 1e-10 * values[0]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))
