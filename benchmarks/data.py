"""Pairs to measure on: real ones where `L2T_DATA` names them, made ones of the same size elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from l2t import Domain, DomainPair, PairSampler, normalize, read_domain

__all__ = ["feature_pair", "photo_sketch_pair"]


def feature_pair(ns: int, nt: int, m: int, *, decay: float = 0.5, seed: int = 0) -> DomainPair:
    """Return rows with a falling spectrum (standard deviations i^-decay), as learned features have."""
    rng = np.random.default_rng(seed)
    spread = (1.0 + np.arange(m)) ** -decay
    Xs = rng.normal(size=(ns, m)) * spread
    Xt = rng.normal(size=(nt, m)) * spread + 0.3 * spread
    return DomainPair(Domain(Xs, np.arange(ns) % 3), Domain(Xt, np.arange(nt) % 3 + 3))


def photo_sketch_pair() -> tuple[DomainPair, str]:
    """Return a pair of 240 + 240 rows and 1280 features, and what it is."""
    folder = Path(os.environ.get("L2T_DATA", "")) / "photo-sketch"
    if not os.environ.get("L2T_DATA") or not folder.exists():
        return feature_pair(240, 240, 1280), "a made pair with a falling spectrum"
    photo, sketch = (normalize(read_domain(folder / f"{name}.npz")) for name in ("photo", "sketch"))
    for pair in PairSampler(photo, sketch, 1000):
        if len(pair.source) == len(pair.target) == 240:
            return pair, f"photo-sketch, {pair.source.name} -> {pair.target.name}"
    raise RuntimeError("no pair of 240 + 240 rows among the first thousand")
