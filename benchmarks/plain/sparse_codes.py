"""Sparse codes row by row."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from l2t.typing import Array

__all__ = ["codes_row_by_row", "sparse_problem"]


def sparse_problem(
    rows: int = 240, atoms: int = 480, dimensions: int = 20, seed: int = 0
) -> tuple[Array, Array, npt.NDArray[np.intp]]:
    """Return atoms with a falling spectrum, the rows to code (the last atoms), and the atom of each row."""
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(atoms, dimensions)) * (1.0 + np.arange(dimensions)) ** -0.5
    D /= np.sqrt(np.mean(np.sum(D**2, axis=1)))
    return D, D[-rows:], np.arange(atoms - rows, atoms)


def codes_row_by_row(D: Array, T: Array, own: npt.NDArray[np.intp], alpha: float) -> Array:
    """Return sparse codes by one scikit-learn lasso per row, which may not use the row's own atom."""
    codes = np.zeros((len(T), len(D)))
    lasso = Lasso(alpha / D.shape[1], fit_intercept=False, tol=1e-6, max_iter=100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for row, (t, barred) in enumerate(zip(T, own, strict=True)):
            others = np.delete(np.arange(len(D)), barred)
            codes[row, others] = lasso.fit(D[others].T, t).coef_
    return codes
