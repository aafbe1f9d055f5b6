"""Sparse codes of many rows at once: the lasso by feature-sign search, batched over rows.

``min_A  1/2 ||T - A D||_F² + alpha ||A||_1``,  T (n x d) rows to code, D (k x d) atoms as rows,
A (n x k) codes; optionally one forbidden atom per row, so that a row is not coded by itself.

Feature-sign search (Lee, Battle, Raina, Ng 2007), one step of all rows at a time: given the signs s of its
support S, a row solves ``D_S D_S' a = D_S t - alpha s``. If a sign changes on the way to the solution, the
row moves to the first such change and that atom leaves the support; otherwise the atom that violates
optimality most enters. A row is solved exactly when no atom violates optimality.

The Gram matrix of the atoms (k x k) is never formed: ``(T - A D) D'`` takes two products of thin matrices.

Optimality (KKT), with ``G = (T - A D) D'``: ``G_ij = alpha sign(A_ij)`` where ``A_ij != 0`` and
``|G_ij| <= alpha`` elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from l2t.typing import Array, Indices, Mask

#: Iterations of feature-sign search per dimension of the rows, at most; a row needs about one per atom.
ROUNDS = 6


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """The codes A, and the largest violation of the optimality conditions relative to alpha."""

    codes: Array
    violation: float


def lasso_objective(D: Array, T: Array, codes: Array, alpha: float) -> float:
    """Return ``1/2 ||T - A D||² + alpha ||A||_1``."""
    return float(0.5 * np.sum((T - codes @ D) ** 2) + alpha * np.abs(codes).sum())


def sparse_codes(
    D: Array,
    T: Array,
    alpha: float,
    *,
    start: Array | None = None,
    forbidden: Indices | None = None,
    tol: float = 1e-3,
) -> SparseCodes:
    """Code the rows of T (n x d) over the atoms, the rows of D (k x d).

    `start` (n x k) is a warm start; row i never uses atom ``forbidden[i]`` (-1 for none); `tol` is the
    accepted violation of the optimality conditions, relative to alpha.

    >>> sparse_codes(np.eye(2), np.array([[3.0, 0.5]]), 1.0).codes.round(9).tolist()
    [[2.0, 0.0]]
    """
    codes = np.zeros((len(T), len(D))) if start is None else np.array(start, dtype=np.float64)
    barred = np.full(len(T), -1) if forbidden is None else np.asarray(forbidden)
    _clear(codes, barred)
    codes[:, ~D.any(axis=1)] = 0.0  # zero atoms are never used
    if len(D) < D.shape[1]:  # the projection on the span of the atoms is enough
        Q, R = np.linalg.qr(D.T)
        D, T = R.T, T @ Q
    rows = np.flatnonzero(_violation(D, T, codes, alpha, barred) > tol)
    codes[rows] = _feature_sign(D, T[rows], codes[rows], alpha, barred[rows])
    worst = float(_violation(D, T, codes, alpha, barred).max(initial=0.0))
    return SparseCodes(codes, worst)


def _clear(A: Array, barred: Indices) -> None:
    """Set the forbidden entries of A to zero."""
    rows = np.flatnonzero(barred >= 0)
    A[rows, barred[rows]] = 0.0


def _feature_sign(D: Array, T: Array, A: Array, alpha: float, barred: Indices) -> Array:
    """Return the codes found by feature-sign search from the start A, for each row on its own."""
    # A support with more atoms than dimensions has no unique solution: start such a row from zero.
    A = np.where((np.count_nonzero(A, axis=1) <= D.shape[1])[:, None], A, 0.0)
    signs = np.sign(A)
    active = np.arange(len(A))
    for _ in range(ROUNDS * (D.shape[1] + 1)):
        settled = _solve_supports(D, T, A, signs, active, alpha)
        G = (T[active] - A[active] @ D) @ D.T
        outside = np.where(signs[active] == 0, np.abs(G), 0.0)
        _clear(outside, barred[active])
        worst = outside.argmax(axis=1)
        enters = outside[np.arange(len(active)), worst] > alpha * (1 + 1e-9)
        # An atom enters only if all signs of the row were kept; if none does, the row is solved.
        at = np.flatnonzero(settled & enters)
        signs[active[at], worst[at]] = np.sign(G[at, worst[at]])
        active = active[~settled | enters]
        if not active.size:
            break
    return A


def _solve_supports(
    D: Array, T: Array, A: Array, signs: Array, rows: Indices, alpha: float
) -> Mask:
    """Move each row of A to the solution on its support, or to the first change of a sign.

    Returns the mask of rows that kept all of their signs.
    """
    # Supports as an array, padded with atoms that are masked to zero.
    width = max(1, int(np.count_nonzero(signs[rows], axis=1).max(initial=0)))
    support = np.argsort(signs[rows] == 0, axis=1, kind="stable")[:, :width]
    wanted = np.take_along_axis(signs[rows], support, axis=1)
    atoms = D[support] * (wanted != 0)[:, :, None]
    gram = atoms @ atoms.transpose(0, 2, 1)
    diagonal = np.einsum("nii->ni", gram)
    # A ridge far below the tolerance keeps the system solvable for linearly dependent atoms.
    diagonal += (wanted == 0) + 1e-12 * diagonal.max(axis=1, keepdims=True)
    image = (atoms @ T[rows, :, None])[:, :, 0] - alpha * wanted
    solved = np.linalg.solve(gram, image[:, :, None])[:, :, 0]
    current = np.take_along_axis(A[rows], support, axis=1)
    crossing = (wanted != 0) & (solved * wanted <= 0)
    reach = np.where(crossing, current / np.where(crossing, current - solved, 1.0), 1.0)
    step = reach.min(axis=1, keepdims=True)
    moved = current + step * (solved - current)
    leaves = crossing & (reach <= step)
    moved[leaves] = wanted[leaves] = 0.0
    A[rows[:, None], support] = moved
    signs[rows[:, None], support] = wanted
    return np.asarray(~leaves.any(axis=1))


def _violation(D: Array, T: Array, A: Array, alpha: float, barred: Indices) -> Array:
    """Return the largest violation of the optimality conditions in each row, relative to alpha."""
    G = (T - A @ D) @ D.T
    gaps = np.where(A == 0.0, np.maximum(np.abs(G) - alpha, 0.0), np.abs(G - alpha * np.sign(A)))
    _clear(gaps, barred)
    return np.asarray(gaps.max(axis=1, initial=0.0) / alpha)
