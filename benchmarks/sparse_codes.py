"""Batched sparse codes against one lasso a row."""

from __future__ import annotations

from benchmarks.timing import best_of, table
from l2t.numerics import lasso_objective, sparse_codes
from l2t.speed import codes_row_by_row, sparse_problem

ROWS, ATOMS, DIMENSIONS, ALPHA = 240, 480, 20, 0.05


def run() -> str:
    D, T, own = sparse_problem(ROWS, ATOMS, DIMENSIONS)
    ours, found = best_of(lambda: sparse_codes(D, T, ALPHA, forbidden=own, max_iter=5000), 3)
    theirs, codes = best_of(lambda: codes_row_by_row(D, T, own, ALPHA), 3)
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
