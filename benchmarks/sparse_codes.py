"""Batched sparse codes against one lasso per row."""

from __future__ import annotations

from typing import Any

from benchmarks.plain.sparse_codes import codes_row_by_row, sparse_problem
from benchmarks.timing import best_of
from l2t.numerics import lasso_objective, sparse_codes

ROWS, ATOMS, DIMENSIONS, ALPHA = 240, 480, 20, 0.05


def run() -> dict[str, Any]:
    D, T, own = sparse_problem(ROWS, ATOMS, DIMENSIONS)
    ours, found = best_of(lambda: sparse_codes(D, T, ALPHA, forbidden=own), 3)
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
    return {
        "n_rows": ROWS,
        "atoms": ATOMS,
        "dimensions": DIMENSIONS,
        "violation": found.violation,
        "rows": rows,
    }
