"""Sparse codes of many rows at once: the lasso by FISTA, batched over rows and finished exactly.

``min_A  1/2 ||T - A D||_F² + alpha ||A||_1``,  T (n x d) rows to code, D (k x d) atoms as rows,
A (n x k) codes; optionally one forbidden atom a row (a row must not explain itself).

* The Gram matrix of the atoms (k x k) is never formed: ``(A D - T) D'`` costs two thin products, which
  is what makes k = 480 atoms in d = 20 dimensions cheap. Momentum restarts when it points uphill
  (O'Donoghue and Candès 2015).
* Every few steps each row tries to finish: with its support S and signs s it solves
  ``D_S D_S' a = D_S t - alpha s``, and is done where that keeps the signs and is optimal. Rows that are
  done leave the batch.

Optimality (KKT), with ``G = (T - A D) D'``: ``G_ij = alpha sign(A_ij)`` where ``A_ij != 0`` and
``|G_ij| <= alpha`` elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["SparseCodes", "lasso_objective", "sparse_codes"]

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

CHECK_EVERY = 25


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """Codes A, how far they are from optimal, and whether that is within the tolerance.

    ``violation`` is the largest breach of the optimality conditions as a share of alpha.
    """

    codes: Array
    violation: float
    n_iter: int
    converged: bool


def lasso_objective(D: Array, T: Array, codes: Array, alpha: float) -> float:
    """Return ``1/2 ||T - A D||² + alpha ||A||_1``."""
    return float(0.5 * np.sum((T - codes @ D) ** 2) + alpha * np.abs(codes).sum())


def sparse_codes(
    D: Array,
    T: Array,
    alpha: float,
    *,
    start: Array | None = None,
    forbidden: npt.NDArray[np.intp] | None = None,
    max_iter: int = 1000,
    tol: float = 1e-3,
) -> SparseCodes:
    """Code the rows of T over the atoms (rows of D).

    Parameters
    ----------
    D, T : array of shape (k, d), (n, d)
        Atoms and rows.
    alpha : float
        Weight of the l1 norm, positive.
    start : array of shape (n, k), optional
        A warm start.
    forbidden : int array of shape (n,), optional
        Row i never uses atom ``forbidden[i]``.
    max_iter, tol : int, float
        Stop after so many steps, or when the optimality conditions hold to ``tol * alpha``.

    Examples
    --------
    >>> sparse_codes(np.eye(2), np.array([[3.0, 0.5]]), 1.0).codes.tolist()
    [[2.0, 0.0]]
    """
    codes = np.zeros((len(T), len(D))) if start is None else np.array(start, dtype=np.float64)
    barred = np.full(len(T), -1) if forbidden is None else np.asarray(forbidden)
    _clear(codes, barred)
    codes[:, ~D.any(axis=1)] = 0.0  # an atom of zeros explains nothing
    if len(D) < D.shape[1]:  # only what the atoms can see of a row matters
        Q, R = np.linalg.qr(D.T)
        D, T = R.T, T @ Q
    lipschitz = float(np.linalg.eigvalsh(D.T @ D)[-1])
    if lipschitz <= np.finfo(float).tiny:  # every atom is zero
        return SparseCodes(np.zeros_like(codes), 0.0, 0, True)
    violation = _violation(D, T, codes, alpha, barred)
    open_rows = np.flatnonzero(violation > tol)
    batch = _Batch(codes[open_rows])
    used = 0
    while open_rows.size and used < max_iter:
        rows, own = T[open_rows], barred[open_rows]
        batch.step(D, rows, own, alpha, lipschitz, CHECK_EVERY)
        used += CHECK_EVERY
        exact = _finish(D, rows, batch.codes, alpha)
        breach, exact_breach = (_violation(D, rows, A, alpha, own) for A in (batch.codes, exact))
        better = exact_breach < breach
        codes[open_rows] = np.where(better[:, None], exact, batch.codes)
        violation[open_rows] = np.minimum(breach, exact_breach)
        still = violation[open_rows] > tol
        open_rows = open_rows[still]
        batch.keep(still)
    worst = float(violation.max(initial=0.0))
    return SparseCodes(codes, worst, used, worst <= tol)


class _Batch:
    """The state of FISTA for the rows that are not done yet."""

    def __init__(self, codes: Array) -> None:
        self.codes, self.point, self.momentum = codes, codes.copy(), 1.0

    def keep(self, rows: npt.NDArray[np.bool_]) -> None:
        self.codes, self.point = self.codes[rows], self.point[rows]

    def step(
        self, D: Array, T: Array, barred: Indices, alpha: float, lipschitz: float, times: int
    ) -> None:
        """Take so many accelerated proximal steps."""
        back, threshold = D.T / lipschitz, alpha / lipschitz
        clipped = np.empty_like(self.codes)
        A, point, momentum = self.codes, self.point, self.momentum
        for _ in range(times):
            new = point - (point @ D - T) @ back
            np.clip(new, -threshold, threshold, out=clipped)
            new -= clipped
            _clear(new, barred)
            moved = new - A
            point -= new
            if np.vdot(point, moved) > 0:
                momentum = 1.0
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            np.multiply(moved, (momentum - 1.0) / following, out=point)
            point += new
            A, momentum = new, following
        self.codes, self.point, self.momentum = A, point, momentum


def _clear(A: Array, barred: Indices) -> None:
    """Set the forbidden entries to zero; -1 forbids nothing."""
    rows = np.flatnonzero(barred >= 0)
    A[rows, barred[rows]] = 0.0


def _finish(D: Array, T: Array, A: Array, alpha: float) -> Array:
    """Return, row by row, the exact solution on the support of A; A itself where signs change."""
    sizes = np.count_nonzero(A, axis=1)
    rows = np.flatnonzero((sizes > 0) & (sizes <= D.shape[1]))
    if not rows.size:
        return A
    # Supports side by side, padded with atoms that are masked to zero.
    width = int(sizes[rows].max())
    support = np.argsort(A[rows] == 0, axis=1, kind="stable")[:, :width]
    signs = np.sign(np.take_along_axis(A[rows], support, axis=1))
    atoms = D[support] * (signs != 0)[:, :, None]
    gram = atoms @ atoms.transpose(0, 2, 1)
    diagonal = np.einsum("nii->ni", gram)
    # A ridge far below the tolerance keeps atoms that depend on each other solvable.
    diagonal += (signs == 0) + 1e-13 * diagonal.max(axis=1, keepdims=True)
    image = (atoms @ T[rows, :, None])[:, :, 0] - alpha * signs
    solved = np.linalg.solve(gram, image[:, :, None])[:, :, 0]
    kept = (np.sign(solved) == signs).all(axis=1)
    exact = A.copy()
    exact[rows[kept, None], support[kept]] = solved[kept]
    return exact


def _violation(D: Array, T: Array, A: Array, alpha: float, barred: Indices) -> Array:
    """Return each row's largest breach of the optimality conditions as a share of alpha."""
    G = (T - A @ D) @ D.T
    breach = np.where(A == 0.0, np.maximum(np.abs(G) - alpha, 0.0), np.abs(G - alpha * np.sign(A)))
    _clear(breach, barred)
    return np.asarray(breach.max(axis=1, initial=0.0) / alpha)
