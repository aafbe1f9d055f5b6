"""The reflection functions that ship with the package.

The default one is learned from all families of domains, one is learned from photo-sketch alone and one from
digits alone; each has its plans, and what to expect of them, from validation pairs of the same families.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from l2t.domains import DomainPair
from l2t.experiences import Experience, collect, open_store
from l2t.experiments.families import FAMILIES, draw_pairs
from l2t.experiments.transfer import measure_transfer
from l2t.inference import tuning
from l2t.reflection import ReflectionFunction, learn, restated

__all__ = ["SHIPPED", "TRAINING_PAIRS", "VALIDATION_PAIRS", "learn_from_families", "learn_shipped"]

#: The families that each function is learned from.
SHIPPED: dict[str, tuple[str, ...]] = {
    "default": FAMILIES,
    "photo-sketch": ("photo-sketch",),
    "digits": ("digits",),
}
#: Pairs of each family that all eight algorithms are run on.
TRAINING_PAIRS = {"photo-sketch": 200, "digits": 100, "office-caltech": 60, "photo-style": 60}
#: Pairs of each family that plans are chosen on.
VALIDATION_PAIRS = 24
#: Plans to choose from; the paper's search is behind on every validation set (docs/results/paper).
CANDIDATES = tuple(plan for plan in tuning.CANDIDATES if plan.constraint == "soft")
#: Neighbours of tau to choose from, on validation pairs.
NEIGHBORS = (5, 20, 40)


def learn_shipped(
    name: str, data: Path | None, work: Path, *, n_jobs: int = 1, progress: bool = True
) -> ReflectionFunction:
    """Learn one of the functions that ship, by its name."""
    families = SHIPPED[name]
    return learn_from_families(
        families,
        data,
        work,
        n_train={family: TRAINING_PAIRS[family] for family in families},
        n_validation=VALIDATION_PAIRS,
        n_jobs=n_jobs,
        progress=progress,
    )


def learn_from_families(
    families: Sequence[str],
    data: Path | None,
    work: Path,
    *,
    n_train: Mapping[str, int],
    n_validation: int,
    n_jobs: int = 1,
    cluster: Any = None,
    progress: bool = True,
) -> ReflectionFunction:
    """Collect training pairs into `work`, learn, and choose plans on validation pairs of the families.

    What `work` has already is not collected again; of a store that has more pairs, the wanted ones count.
    """
    work.mkdir(parents=True, exist_ok=True)
    experiences: dict[int, list[Experience]] = {r: [] for r in NEIGHBORS}
    for family in families:
        pairs = draw_pairs(family, "train", n_train[family], data)
        with open_store(work / f"{family}.db") as store:
            collect(pairs, store, n_jobs=n_jobs, cluster=cluster, progress=progress)
            wanted = {(pair.source.fingerprint, pair.target.fingerprint) for pair in pairs}
            done = [
                each
                for each in store.experiences(status="done")
                if (each.source, each.target) in wanted
            ]
            for r, several in experiences.items():
                several += restated(done, store, n_neighbors=r)
    validation = list(
        chain.from_iterable(
            draw_pairs(family, "validation", n_validation, data) for family in families
        )
    )
    functions = []
    for several in experiences.values():
        learned = learn(several)
        told = dict(learned.training) | {"families": dict(n_train)}
        functions.append(
            tuning.choose_plans(
                replace(learned, training=told),
                validation,
                candidates=CANDIDATES,
                n_jobs=n_jobs,
                cluster=cluster,
                progress=progress,
            )
        )
    worth = [_worth(each, validation, n_jobs, progress) for each in functions]
    told = dict(zip(map(str, NEIGHBORS), worth, strict=True))
    best = max(functions, key=lambda each: (told[str(each.n_neighbors)], _held_out_score(each)))
    return replace(best, training=dict(best.training) | {"neighbors": told})


def _worth(
    function: ReflectionFunction, pairs: Sequence[DomainPair], n_jobs: int, progress: bool
) -> float:
    """Return the geometric mean of what people get on validation pairs, refused ones included."""
    study = measure_transfer(
        pairs,
        function,
        names=(),
        label_counts=tuning.LABEL_COUNTS,
        n_jobs=n_jobs,
        progress=progress,
    )
    return round(float(np.exp(np.nanmean(np.log(study.l2t)))), 4)


def _held_out_score(function: ReflectionFunction) -> float:
    """Return the best rank correlation on held-out training pairs; it decides between equals."""
    return max(each["spearman"] or 0.0 for each in function.training["choices"])
