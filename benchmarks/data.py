"""Pairs for the benchmarks: real data if `L2T_DATA` is set, synthetic data of the same size otherwise."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from l2t import Domain, DomainPair, PairSampler, normalize, read_domain

__all__ = ["feature_pair", "many_class_pairs", "photo_sketch_pair", "photo_sketch_pairs"]


def feature_pair(ns: int, nt: int, m: int, *, decay: float = 0.5, seed: int = 0) -> DomainPair:
    """Return rows with a falling spectrum (standard deviations i^-decay), as learned features have."""
    rng = np.random.default_rng(seed)
    spread = (1.0 + np.arange(m)) ** -decay
    Xs = rng.normal(size=(ns, m)) * spread
    Xt = rng.normal(size=(nt, m)) * spread + 0.3 * spread
    return DomainPair(Domain(Xs, np.arange(ns) % 3), Domain(Xt, np.arange(nt) % 3 + 3))


def many_class_pairs(n: int, ns: int, nt: int, m: int) -> tuple[list[DomainPair], str]:
    """Return n pairs of one source with 30 classes and targets of three others, and what they are."""
    rng = np.random.default_rng(0)
    spread = (1.0 + np.arange(m)) ** -0.5
    means = rng.normal(size=(30 + 3 * n, m)) * spread

    def rows(codes: np.ndarray) -> Domain:
        return Domain(means[codes] + rng.normal(size=(len(codes), m)) * spread, codes)

    source = rows(np.arange(ns) % 30)
    targets = [rows(30 + 3 * i + np.arange(nt) % 3) for i in range(n)]
    what = "made classes with a falling spectrum"
    return [DomainPair(source, Domain(each.X)) for each in targets], what


def photo_sketch_pair() -> tuple[DomainPair, str]:
    """Return a pair of 240 + 240 rows and 1280 features, and what it is."""
    drawn = _photo_sketch(1000)
    if drawn is None:
        return feature_pair(240, 240, 1280), "a made pair with a falling spectrum"
    for pair in drawn:
        if len(pair.source) == len(pair.target) == 240:
            return pair, f"photo-sketch, {pair.source.name} -> {pair.target.name}"
    raise RuntimeError("no pair of 240 + 240 rows among the first thousand")


def photo_sketch_pairs(n: int) -> tuple[list[DomainPair], str]:
    """Return n pairs of up to 240 + 240 rows and 1280 features, and what they are."""
    drawn = _photo_sketch(n)
    if drawn is None:
        made = [feature_pair(240, 240, 1280, seed=seed) for seed in range(n)]
        return made, "made pairs with a falling spectrum"
    return list(drawn), "photo-sketch"


def _photo_sketch(n: int) -> PairSampler | None:
    """Return pairs of photo-sketch, or None where `L2T_DATA` does not name it."""
    folder = Path(os.environ.get("L2T_DATA", "")) / "photo-sketch"
    if not os.environ.get("L2T_DATA") or not folder.exists():
        return None
    photo, sketch = (normalize(read_domain(folder / f"{name}.npz")) for name in ("photo", "sketch"))
    return PairSampler(photo, sketch, n)
