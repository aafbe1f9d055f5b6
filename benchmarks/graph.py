"""The feature graph of CMF against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import kneighbors_graph

from benchmarks.data import photo_sketch_pair
from benchmarks.timing import best_of
from l2t.numerics import cosine_graph

NEIGHBORS = 10


def run() -> dict[str, Any]:
    pair, what = photo_sketch_pair()
    rows = []
    for copies in (1, 4, 16):
        features = _features(pair.target.X.astype(np.float64), copies)
        tree, graph = best_of(lambda F=features: cosine_graph(F, NEIGHBORS), 2)
        brute, exact = best_of(
            lambda F=features: kneighbors_graph(F, NEIGHBORS, metric="cosine", mode="distance"),
            1,
        )
        exact.data = np.maximum(1 - exact.data, 0)
        full = exact.maximum(exact.T)
        share = graph.sum() / full.sum()
        rows.append(
            (len(features), f"{tree:.2f}", f"{brute:.2f}", f"{brute / tree:.1f}", f"{share:.3f}")
        )
    return {"what": what, "neighbors": NEIGHBORS, "n": len(pair.target), "rows": rows}


def _features(X: np.ndarray, copies: int) -> np.ndarray:
    """Return the columns of X as rows, and mixtures of two columns for each further copy."""
    rng = np.random.default_rng(0)
    m = X.shape[1]
    mixed = [
        X[:, rng.permutation(m)] * rng.uniform(size=m)
        + X[:, rng.permutation(m)] * rng.uniform(size=m)
        for _ in range(copies - 1)
    ]
    F = np.hstack([X, *mixed]).T
    return F[np.linalg.norm(F, axis=1) > 0]
