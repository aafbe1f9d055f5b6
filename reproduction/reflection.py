"""The reflection function that ships with the package: what it is learned from, and how.

One family of pairs teaches it, and only the classes of its training part: no validation or testing pair of a
reproduction shares a class with them. One function cannot fit several families at once, because the levels of
their ratios and of tau differ by more than those of the W's of a pair. On other families it is used in units
of what its terms are without transfer (`ConvexReflection.for_pair`).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from l2t.algorithms import PAPER
from l2t.experiences import collect, open_store
from l2t.paper import ConvexReflection, Reflection, learn
from reproduction.families import draw_pairs
from reproduction.paper.setting import MOST_SHOTS, N_NEIGHBORS, SHOTS

__all__ = ["FAMILY", "N_PAIRS", "learn_from", "write_reflection"]

#: The family of domain pairs that it is learned from, and the number of pairs.
FAMILY, N_PAIRS = "photo-sketch", 60
#: The classes of each domain.
N_CLASSES = 3
#: The options of `learn`: the recipe of docs/paper-system.md.
OPTIONS: Mapping[str, Any] = {
    "form": "convex",
    "best": 0.5,
    "max_labels": N_CLASSES * MOST_SHOTS,
}


def write_reflection(data: Path, out: Path, work: Path) -> None:
    """Learn the function that ships, and write it to a file."""
    learn_from(FAMILY, data, work).save(out)
    print(f"written to {out}", file=sys.stderr)


def learn_from(family: str, data: Path | None, work: Path, n_pairs: int = N_PAIRS) -> Reflection:
    """Return the function learned from all eight algorithms on training pairs of a family.

    Parameters
    ----------
    family : str
        One of `reproduction.families.FAMILIES`.
    data : path or None
        The folder with the data sets; digits need none.
    work : path
        Folder of the experiences, which are reused.
    n_pairs : int, default=60
        The number of pairs.

    Returns
    -------
    ConvexReflection
        Without a forecast, which `load_reflection` adds; `training` has the family and its pairs.
    """
    work.mkdir(parents=True, exist_ok=True)
    pairs = draw_pairs(family, "train", n_pairs, data, n_classes=N_CLASSES)
    with open_store(work / f"{family}.db") as store:
        collect(
            pairs,
            store,
            algorithms=PAPER,
            label_counts=[N_CLASSES * shots for shots in SHOTS],
            n_neighbors=N_NEIGHBORS,
            progress=False,
        )
        wanted = {(pair.source.fingerprint, pair.target.fingerprint) for pair in pairs}
        done = store.experiences(status="done")
        experiences = [each for each in done if (each.source, each.target) in wanted]
    function = learn(experiences, **OPTIONS)
    assert isinstance(function, ConvexReflection)  # as the options say
    level = float(np.median([function.without_transfer(pair) for pair in pairs]))
    training = {**function.training, "families": {family: n_pairs}}
    # f(I) = 1 is another bias than the one that was learned and calibrated.
    changed: dict[str, Any] = {"level": level, "b": 1.0 - level, "calibration": None}
    return replace(function, **changed, training=training, forecast=None)
