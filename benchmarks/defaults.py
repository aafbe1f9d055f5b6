"""Choice of the defaults of the base algorithms: `python -m benchmarks defaults` (not about speed)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from l2t import Domain, PairSampler, domains, normalize, read_domain
from l2t.algorithms import CMF, DIP, ITL, SIE, STL, BaseAlgorithm
from l2t.experiences import evaluate, improvement_ratio

COUNTS = (3, 30, 120)
PAIRS, SEED = 8, 12345  # a seed that no reported result uses

VARIANTS: dict[str, BaseAlgorithm] = {
    "CMF, sig = 10": CMF(sig=10.0),
    "**CMF, sig = 1**": CMF(),
    "CMF, sig = 0.1": CMF(sig=0.1),
    "STL, sparsity .1": STL(sparsity=0.1),
    "**STL, sparsity .03**": STL(),
    "STL, sparsity .01": STL(sparsity=0.01),
    "DIP, 60 iterations": DIP(max_iter=60),
    "**DIP, 20 iterations**": DIP(),
    "SIE, 60 iterations": SIE(max_iter=60),
    "**SIE, 20 iterations**": SIE(),
    "ITL, 100 iterations": ITL(max_iter=100),
    "**ITL, 30 iterations**": ITL(),
}


def run() -> dict[str, Any]:
    families = {"digits -> MNIST": (domains.digits(), domains.mnist())}
    if os.environ.get("L2T_DATA"):
        folder = Path(os.environ["L2T_DATA"]) / "photo-sketch"
        families["photo -> sketch"] = (
            read_domain(folder / "photo.npz"),
            read_domain(folder / "sketch.npz"),
        )
    columns = {name: _ratios(*family) for name, family in families.items()}
    rows = [
        (variant, *(" ".join(f"{r:.2f}" for r in ratios[variant]) for ratios in columns.values()))
        for variant in VARIANTS
    ]
    return {"columns": (f"ratio at {COUNTS} labels", *columns), "rows": rows}


def _ratios(source: Domain, target: Domain) -> dict[str, np.ndarray]:
    """Return the mean improvement ratio of each variant."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in VARIANTS}
    for pair in PairSampler(normalize(source), normalize(target), PAIRS, random_state=SEED):
        codes = pair.target.codes
        before = evaluate(pair.target.X, codes, label_counts=COUNTS)
        for name, algorithm in VARIANTS.items():
            Z = algorithm.fit(pair).transform(pair.target.X)
            after = evaluate(Z, codes, label_counts=COUNTS)
            found[name].append(improvement_ratio(before.mean, after.mean, before.n_test))
    return {name: np.mean(ratios, axis=0) for name, ratios in found.items()}
