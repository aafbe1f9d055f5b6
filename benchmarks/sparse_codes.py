"""Batched sparse codes against one lasso a row."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from benchmarks.timing import best_of, table
from l2t.numerics import lasso_objective, sparse_codes

ROWS, ATOMS, DIMENSIONS, ALPHA = 240, 480, 20, 0.05


def run() -> str:
    rng = np.random.default_rng(0)
    spread = (1.0 + np.arange(DIMENSIONS)) ** -0.5
    D = rng.normal(size=(ATOMS, DIMENSIONS)) * spread
    D /= np.sqrt(np.mean(np.sum(D**2, axis=1)))
    T = D[-ROWS:]
    own = np.arange(ATOMS - ROWS, ATOMS)
    ours, found = best_of(lambda: sparse_codes(D, T, ALPHA, forbidden=own, max_iter=5000), 3)
    theirs, codes = best_of(lambda: _row_by_row(D, T, own), 3)
    rows = [
        ("l2t, batched", f"{ours:.2f}", "1.0", f"{lasso_objective(D, T, found.codes, ALPHA):.6f}"),
        (
            "scikit-learn `Lasso`, row by row",
            f"{theirs:.2f}",
            f"{theirs / ours:.1f}",
            f"{lasso_objective(D, T, codes, ALPHA):.6f}",
        ),
    ]
    return (
        f"## Sparse codes: {ROWS} rows over {ATOMS} atoms in {DIMENSIONS} dimensions, no row its own\n\n"
        f"Optimality conditions met to {found.violation:.0e} of alpha.\n\n"
        + table(("", "seconds", "times l2t's", "objective"), rows)
    )


def _row_by_row(D: np.ndarray, T: np.ndarray, own: np.ndarray) -> np.ndarray:
    codes = np.zeros((len(T), len(D)))
    lasso = Lasso(ALPHA / D.shape[1], fit_intercept=False, tol=1e-6, max_iter=100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for row, (t, barred) in enumerate(zip(T, own, strict=True)):
            others = np.delete(np.arange(len(D)), barred)
            codes[row, others] = lasso.fit(D[others].T, t).coef_
    return codes
