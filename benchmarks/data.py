"""Pairs to measure on: real ones where `L2T_DATA` names them, made ones of the same size elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

from l2t import DomainPair, PairSampler, normalize, read_domain
from l2t.speed import feature_pair

__all__ = ["feature_pair", "photo_sketch_pair", "photo_sketch_pairs"]


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
