"""All parts by name, and how long they will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from l2t.experiences import collect, open_store
from reproduction.paper import beyond, parts
from reproduction.paper.section import Section
from reproduction.paper.setting import Setting
from reproduction.paper.study import Study

__all__ = ["PARTS", "estimated_minutes", "reproduce"]

PARTS: dict[str, Callable[[Study], Section]] = {
    "average": parts.average,
    "six-pairs": parts.six_pairs,
    "experiences": parts.experiences,
    "number": parts.number,
    "components": parts.components,
    "kernels": parts.kernels,
    "supplement": parts.supplement,
    "exhaustive": beyond.exhaustive,
    "prediction": beyond.prediction,
    "controls": beyond.controls,
    "random-classes": beyond.random_classes,
    "families": beyond.families,
}


def reproduce(
    setting: Setting, names: Sequence[str], say: Callable[[str], None]
) -> Iterable[Section]:
    """Run parts, in their order; what the work directory has already is not done again."""
    study = Study(setting)
    for at, name in enumerate(names, start=1):
        say(f"{at}/{len(names)} {name}")
        yield PARTS[name](study)


def estimated_minutes(setting: Setting) -> float:
    """Estimate the time of all parts from one training pair, if nothing has been done yet.

    The unit is what the eight base algorithms take on a pair. On validation pairs base algorithms are run
    with four settings each and W is searched by fourteen plans, twice; on testing pairs come the chosen
    settings, and on varied ones some thirty searches.
    """
    start = time.perf_counter()
    with open_store("memory://") as store:
        collect(setting.pairs("train", 1), store, progress=False)
    unit = time.perf_counter() - start
    n = setting.sizes
    units = n.train + 10 * n.validation + 4 * n.test + 8 * n.varied + 10 * n.family
    workers = 1 if setting.cluster is not None else max(1, setting.n_jobs)
    return unit * units / workers / 60
