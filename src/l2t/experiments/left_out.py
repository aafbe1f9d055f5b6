"""A function that has never met a family of pairs, on that family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from l2t.experiences import collect, open_store
from l2t.experiments.families import FAMILIES, draw_pairs
from l2t.experiments.transfer import TransferStudy, measure_transfer
from l2t.inference.tuning import choose_plans
from l2t.reflection import learn
from l2t.reflection.plan import Plan

__all__ = ["measure_left_out", "refusals_right"]

Array = npt.NDArray[np.float64]

#: What plans are chosen from, on validation pairs of the other families.
CANDIDATES = tuple(Plan("soft", None, n, power) for n in (0, 1) for power in (1.0, 1.5))


def measure_left_out(
    data: Path,
    work: Path,
    *,
    families: Sequence[str] = FAMILIES,
    n_train: int = 40,
    n_validation: int = 10,
    n_test: int = 40,
    n_jobs: int = 1,
    progress: bool = True,
) -> Mapping[str, TransferStudy]:
    """Return, for each family, how a function learned on all the others does on its testing pairs."""
    stores = {}
    for family in families:
        stores[family] = open_store(work / f"left-out-{family}.db")
        pairs = draw_pairs(family, "train", n_train, data)
        collect(pairs, stores[family], n_jobs=n_jobs, progress=progress)
    found = {}
    for family in families:
        others = [each for each in families if each != family]
        runs = chain.from_iterable(stores[each].experiences(status="done") for each in others)
        validation = chain.from_iterable(
            draw_pairs(each, "validation", n_validation, data) for each in others
        )
        function = choose_plans(
            learn(runs), validation, candidates=CANDIDATES, n_jobs=n_jobs, progress=progress
        )
        test = draw_pairs(family, "test", n_test, data)
        found[family] = measure_transfer(test, function, names=(), n_jobs=n_jobs, progress=progress)
    for store in stores.values():
        store.close()
    return found


def refusals_right(study: TransferStudy) -> Array:
    """Return at each label count in which share of refusals W would have harmed; NaN without any."""
    refused = 1.0 - study.transferred
    known = np.isfinite(study.always)
    total = np.where(known, refused, 0.0).sum(axis=0)
    right = np.where(known & (study.always < 1.0), refused, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(right / total)
