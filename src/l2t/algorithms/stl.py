"""STL: self-taught learning (Raina, Battle, Lee, Packer, Ng 2007).

``min_{B, A} 1/2 ||X - A B||_F² + alpha ||A||_1   s.t.  ||b_j|| = 1``   on the *source* rows X alone,
B (u x m) the dictionary, A (ns x u) its codes. A target row is represented by its own code
``a(x) = argmin 1/2 ||x - a B||² + alpha ||a||_1``, and W is fitted to the target's codes.

Alternating: codes by batched feature-sign search with a warm start; atoms one after another in closed form
(Mairal, Bach, Ponce, Sapiro 2010), each scaled to norm 1 together with its codes, which never increases the
objective. Rows of both domains are centred by the source's mean and projected to the row space of the centred
source, which contains all atoms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from l2t.algorithms.base import BaseAlgorithm, Diagnostics, LatentFactors, parameter
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.numerics import lasso_objective, principal_axes, sparse_codes
from l2t.typing import Array
from l2t.validation import real_number, whole_number

#: alpha is halved at most so often: codes 2**-30 as large are rounding in float32.
MAX_ALPHA_HALVINGS = 30


@dataclass(frozen=True)
class STL(BaseAlgorithm):
    """Self-taught learning.

    Parameters
    ----------
    n_components : int, default=20
        Number of atoms u; at most the number of source rows.
    random_state : int or None, default=0
        The seed for choosing source rows as initial atoms where u exceeds the rank of the source.
    sparsity : float, default=0.03
        ``alpha`` as a share of the largest inner product of a source row and an initial atom; at 1 all
        codes are zero.
    max_iter : int, default=100
        Maximum number of updates of codes and atoms.

    Notes
    -----
    While more than half of the target rows have a zero code, `alpha` is halved, for coding the target
    only. Parts: ``dictionary`` (u x m), ``codes`` (nt x u), ``alpha``
    and ``target_alpha`` (1,).
    """

    name: ClassVar[str] = "stl"

    sparsity: float = parameter(0.03, real_number, above=0, most=1)
    max_iter: int = parameter(100, whole_number, least=1)

    def _fit(self, pair: DomainPair) -> LatentFactors:
        span = pair.span
        mean = span.source.mean(axis=0)
        source, target = span.source - mean, span.target - mean
        axes = principal_axes(span.source, min(source.shape))
        u = self._clip(len(source) if axes.size else 0, "the source (one per row)")
        rows = source @ axes
        atoms = self._initial_atoms(rows, u)
        alpha = self.sparsity * float(np.abs(rows @ atoms.T).max())
        atoms, diagnostics = self._learn(rows, atoms, alpha)
        codes, target_alpha = _code(atoms, target @ axes, alpha)
        parts = {
            "dictionary": span.lift(axes @ atoms.T).T,
            "codes": codes,
            "alpha": np.array([alpha]),
            "target_alpha": np.array([target_alpha]),
        }
        return self._fitted(span, codes, diagnostics, parts)

    def _initial_atoms(self, rows: Array, u: int) -> Array:
        """Return the leading principal directions, then random source rows, of norm 1."""
        atoms = np.eye(min(u, rows.shape[1]), rows.shape[1])
        if u > len(atoms):
            order = np.random.default_rng(self.random_state).permutation(len(rows))
            norms = np.linalg.norm(rows[order], axis=1)
            chosen = order[norms > 1e-10 * norms.max()][: u - len(atoms)]
            atoms = np.concatenate([atoms, rows[chosen]])
        return np.asarray(atoms / np.linalg.norm(atoms, axis=1, keepdims=True))

    def _learn(self, rows: Array, atoms: Array, alpha: float) -> tuple[Array, Diagnostics]:
        codes = np.zeros((len(rows), len(atoms)))
        trace = [lasso_objective(atoms, rows, codes, alpha)]
        reason = "max_iter"
        for _ in range(self.max_iter):
            codes = sparse_codes(atoms, rows, alpha, start=codes).codes
            atoms, codes = _update_atoms(rows, atoms, codes)
            trace.append(lasso_objective(atoms, rows, codes, alpha))
            if trace[-2] - trace[-1] <= 1e-4 * trace[-2]:
                reason = "progress"
                break
        return atoms, Diagnostics(tuple(trace), len(trace) - 1, reason)


def _update_atoms(rows: Array, atoms: Array, codes: Array) -> tuple[Array, Array]:
    """Minimise over each atom given the codes and the other atoms, then scale it to norm 1."""
    atoms, codes = atoms.copy(), codes.copy()
    gram, image = codes.T @ codes, codes.T @ rows
    used = np.flatnonzero(np.diag(gram) > 1e-12 * max(float(np.trace(gram)), 1e-300))
    for j in used:
        atom = atoms[j] + (image[j] - gram[j] @ atoms) / gram[j, j]
        atoms[j] = atom / max(1.0, float(np.linalg.norm(atom)))
    # Scaling up an atom of norm below 1 scales its codes down, which reduces their l1 norm.
    norms = np.linalg.norm(atoms, axis=1)
    kept = norms > 1e-12
    atoms[kept] /= norms[kept, None]
    codes[:, kept] *= norms[kept]
    return atoms, codes


def _code(atoms: Array, target: Array, alpha: float) -> tuple[Array, float]:
    """Return the codes of the target, and alpha halved until half of the rows have a nonzero code."""
    reach = np.abs(target @ atoms.T).max(axis=1)
    needed = float(np.median(reach))
    if needed * 2.0**MAX_ALPHA_HALVINGS < alpha:
        raise InvalidInputError(
            "stl needs a target that the source's dictionary can represent, but at least half of the target "
            "rows are orthogonal to all its atoms"
        )
    halvings = max(0, int(np.ceil(np.log2(alpha / needed) + 1e-9)))
    alpha /= 2.0**halvings
    return sparse_codes(atoms, target, alpha, tol=1e-6).codes, alpha
