"""How well the reflection function predicts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from l2t.experiences import open_store
from reproduction.families import draw_pairs
from reproduction.figures import draw_prediction
from reproduction.pages import write_page
from reproduction.prediction import MEASURED_AT, measure_prediction

__all__ = ["write_prediction"]

TRAINING_PAIRS, TESTING_PAIRS, FRESH_PAIRS = 130, 60, 240


def write_prediction(data: Path, out: Path, work: Path, jobs: int) -> None:
    """Measure how well ratios of unseen classes are predicted, and write the page."""
    start = time.perf_counter()
    work.mkdir(parents=True, exist_ok=True)
    train = draw_pairs("photo-sketch", "train", TRAINING_PAIRS, data)
    test = draw_pairs("photo-sketch", "test", TESTING_PAIRS, data)
    fresh = draw_pairs("photo-sketch", "test", FRESH_PAIRS, data, random_state=1)
    files = ("photo-sketch.db", "photo-sketch-test.db", "photo-sketch-fresh.db")
    with ExitStack() as opened:
        stores = [opened.enter_context(open_store(work / file)) for file in files]
        study = measure_prediction(train, test, fresh, stores, n_jobs=jobs)
    draw_prediction(study, out / "images" / "reflection.png")
    write_page(
        out / "reflection.md",
        minutes=(time.perf_counter() - start) / 60,
        jobs=jobs,
        study=study,
        train_pairs=len(train),
        test_pairs=len(test),
        fresh=len(fresh),
        counts=MEASURED_AT,
        choices=_best_by_neighbors(study.reflection.training["choices"]),
    )


def _best_by_neighbors(choices: Iterable[Mapping[str, Any]]) -> dict[int, float]:
    """Return the best rank correlation on held-out training pairs for each r."""
    best: dict[int, float] = {}
    for each in choices:
        score = each["spearman"] if each["spearman"] is not None else 0.0
        best[each["n_neighbors"]] = max(score, best.get(each["n_neighbors"], -1.0))
    return best
