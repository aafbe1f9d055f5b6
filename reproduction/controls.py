"""The same targets with three sources: the true one, noise in its place, and permuted labels.

Targets have 3, 6 and 12 classes; the source has all classes that no target draws from.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reproduction.kinds import KINDS, ROWS, Draw, _source, _split, _target, read_scaled

__all__ = ["CONTROLS", "draw_controls"]

CONTROLS = ("true", "noise", "permuted")
#: Classes of the targets.
SIZES = (3, 6, 12)


def draw_controls(kind: str, number: int, data: Path, *, n_targets: int = 3) -> list[Draw]:
    """Return targets of each size, each with every source of `CONTROLS`; the sources are the same for all."""
    made = KINDS[kind]
    source, target = read_scaled(data, made.source), read_scaled(data, made.target)
    rng = np.random.default_rng([1, sorted(KINDS).index(kind), number])
    ours, theirs = _split(source, target, rng)
    rows = int(rng.choice(ROWS))
    seeds = {mode: np.random.default_rng([2, number]) for mode in CONTROLS}
    sources = {mode: _source(source, ours, mode, each) for mode, each in seeds.items()}
    found = []
    for size in [each for each in SIZES if each <= len(theirs) for _ in range(n_targets)]:
        codes = rng.permutation(theirs)[:size]
        drawn = _target(target, codes, min(rows, 1000 // size), "true", rng)
        found += [Draw(kind, mode, sources[mode], (drawn,), size) for mode in CONTROLS]
    return found
