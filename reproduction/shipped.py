"""The reflection functions that ship with the package.

The default one is learned from all families of domains, one is learned from photo-sketch alone and one from
digits alone; each has its plans, and what to expect of them, from validation pairs of the same families.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from l2t.experiences import Experience, collect, open_store
from l2t.inference import tuning
from l2t.reflection import ReflectionFunction, learn, restated
from reproduction.families import FAMILIES, draw_pairs

__all__ = ["SHIPPED", "VALIDATION_PAIRS", "learn_from_families", "learn_shipped"]

#: The pairs of each family that all eight algorithms are run on, for each function. Of several families as
#: many each: with more of one, predictions for the W's of the others suffer (docs/adr/0013).
SHIPPED: dict[str, dict[str, int]] = {
    "default": dict.fromkeys(FAMILIES, 60),
    "photo-sketch": {"photo-sketch": 200},
    "digits": {"digits": 100},
}
#: Pairs of each family that plans are chosen on.
VALIDATION_PAIRS = 24
#: Plans to choose from; the paper's search is behind on every validation set (docs/results/paper).
CANDIDATES = tuple(plan for plan in tuning.CANDIDATES if plan.constraint == "soft")


def learn_shipped(
    name: str, data: Path | None, work: Path, *, n_jobs: int = 1, progress: bool = True
) -> ReflectionFunction:
    """Learn one of the functions that ship, by its name."""
    return learn_from_families(
        SHIPPED[name],
        data,
        work,
        n_validation=VALIDATION_PAIRS,
        n_jobs=n_jobs,
        progress=progress,
    )


def learn_from_families(
    n_train: Mapping[str, int],
    data: Path | None,
    work: Path,
    *,
    n_validation: int,
    n_neighbors: int | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    progress: bool = True,
) -> ReflectionFunction:
    """Collect so many training pairs of each family into `work`, learn, and choose plans on validation pairs.

    What `work` has already is not collected again; of a store that has more pairs, the wanted ones count.
    With `n_neighbors`, statistics are computed anew with so many.
    """
    work.mkdir(parents=True, exist_ok=True)
    experiences: list[Experience] = []
    for family, n_pairs in n_train.items():
        pairs = draw_pairs(family, "train", n_pairs, data)
        with open_store(work / f"{family}.db") as store:
            collect(pairs, store, n_jobs=n_jobs, cluster=cluster, progress=progress)
            wanted = {(pair.source.fingerprint, pair.target.fingerprint) for pair in pairs}
            done = (
                each
                for each in store.experiences(status="done")
                if (each.source, each.target) in wanted
            )
            experiences += restated(done, store, n_neighbors=n_neighbors)
    function = learn(experiences)
    function = replace(function, training=dict(function.training) | {"families": dict(n_train)})
    validation = list(
        chain.from_iterable(
            draw_pairs(family, "validation", n_validation, data) for family in n_train
        )
    )
    return tuning.choose_plans(
        function,
        validation,
        candidates=CANDIDATES,
        n_jobs=n_jobs,
        cluster=cluster,
        progress=progress,
    )
