"""Made data to measure on."""

from __future__ import annotations

import numpy as np

from l2t.domains import Domain, DomainPair

__all__ = ["feature_pair"]


def feature_pair(ns: int, nt: int, m: int, *, decay: float = 0.5, seed: int = 0) -> DomainPair:
    """Return rows with a falling spectrum (standard deviations i^-decay), as learned features have."""
    rng = np.random.default_rng(seed)
    spread = (1.0 + np.arange(m)) ** -decay
    Xs = rng.normal(size=(ns, m)) * spread
    Xt = rng.normal(size=(nt, m)) * spread + 0.3 * spread
    return DomainPair(Domain(Xs, np.arange(ns) % 3), Domain(Xt, np.arange(nt) % 3 + 3))
