"""Splits of runs into those learned from and those predicted; no pair is on both sides.

Where one split serves for good (`held_out`), no target domain is on both sides either.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from l2t.exceptions import InvalidInputError

__all__ = ["Split", "class_splits", "held_out", "pair_splits"]

Mask = npt.NDArray[np.bool_]
#: Which runs to learn from, and which to predict.
Split = tuple[Mask, Mask]

#: One target domain in so many is held out.
SHARE = 4


def held_out(target: str) -> bool:
    """Tell whether all pairs with a target domain are held out, by its fingerprint alone.

    So everybody holds out the same pairs, on every machine and whatever else is in the store.
    """
    return zlib.crc32(target.encode()) % SHARE == 0


def pair_splits(pair: npt.NDArray[np.intp], n_folds: int, rng: np.random.Generator) -> list[Split]:
    """Return n_folds splits, each pair held out in one of them; none where there is one pair only."""
    n_pairs = int(pair.max()) + 1
    n_folds = min(n_folds, n_pairs)
    if n_folds < 2:
        return []
    fold = (rng.permutation(n_pairs) % n_folds)[pair]
    return [(fold != k, fold == k) for k in range(n_folds)]


def class_splits(
    pair: npt.NDArray[np.intp],
    classes: Sequence[frozenset[str]],
    n_folds: int,
    rng: np.random.Generator,
) -> list[Split]:
    """Return splits in which no target class is on both sides; `classes` has those of each pair.

    Classes are halved at random; pairs with classes of both halves are left out.
    """
    names = sorted(set().union(*classes))
    found: list[Split] = []
    for _ in range(50 * n_folds):
        half = {names[i] for i in rng.permutation(len(names))[: len(names) // 2]}
        learned = np.array([each <= half for each in classes])
        held = np.array([not each & half for each in classes])
        if learned.sum() >= 2 and held.any():
            found.append((learned[pair], held[pair]))
        if len(found) == n_folds:
            return found
    raise InvalidInputError(
        f"split='class' needs pairs whose target classes can be divided, got {len(classes)} pairs over "
        f"{len(names)} classes that cannot; use split='pair'"
    )
