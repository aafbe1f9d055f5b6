"""How well the reflection function predicts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import typer

from l2t._version import __version__
from l2t.experiences import open_store
from l2t.experiments.families import draw_pairs
from l2t.experiments.figures import draw_prediction
from l2t.experiments.prediction import MEASURED_AT, PredictionStudy, measure_prediction
from l2t.interfaces.cli.results.writing import markdown_table, write

__all__ = ["write_reflection"]

TRAINING_PAIRS = 130

TEXT = """# How well the reflection function predicts

Photo-sketch: three photo classes as the source, three sketch classes with other names as the target, at
most 80 rows a class, rows divided by their norm. Classes are divided: none of the {n_test} testing runs
({test_pairs} pairs) has a class in common with the {n_train} training runs ({train_pairs} pairs, eight
algorithms). Made by

    l2t reproduce reflection --data DIR --jobs 2

with l2t {version}, in {minutes:.0f} minutes (most of it collection, where nothing was collected before).

## Predicted against actual

Spearman's rank correlation between the predicted ratio and the actual one (its mean over {counts} labels),
pooled over all runs, and within a pair (which of the eight to take), averaged over pairs. The neighbours r of
the discriminant criterion, gamma and the Huber threshold were chosen by predicting held-out training pairs;
r = {neighbors} it was ({choices}).

{table}

![predicted against actual ratio, and beta over bandwidths](images/reflection.png)

{agree} of {starts} starts ended within 1e-4 of the best loss.

How to read the ablations: what a term adds is the difference between all three and the row without it. A
correlation of 0 means that nothing was learned but a constant. beta cannot be negative, so the MMD can only
lower a prediction; on these pairs a W that leaves the domains further apart is, if anything, the better one,
and the function learns to leave the term out.

## Intervals

90 % intervals on {fresh} fresh pairs with classes not seen in training, one random algorithm a pair. The
share should be 90 %; "agrees" is an exact binomial test at 5 %. The last row is one test for all numbers of
labels; of nine single ones, one in two such studies fails by chance.

{coverage}
"""


def write_reflection(data: Path, out: Path, work: Path, jobs: int) -> None:
    """Measure how well ratios of unseen classes are predicted, and write it as Markdown."""
    start = time.perf_counter()
    work.mkdir(parents=True, exist_ok=True)
    train = draw_pairs("photo-sketch", "train", TRAINING_PAIRS, data)
    test = draw_pairs("photo-sketch", "test", 60, data)
    fresh = draw_pairs("photo-sketch", "test", 240, data, random_state=1)
    files = ("photo-sketch.db", "photo-sketch-test.db", "photo-sketch-fresh.db")
    stores = [open_store(work / file) for file in files]
    study = measure_prediction(train, test, fresh, stores, n_jobs=jobs)
    for store in stores:
        store.close()
    draw_prediction(study, out / "images" / "reflection.png")
    table = _correlations(study)
    typer.echo(table)
    text = TEXT.format(
        version=__version__,
        minutes=(time.perf_counter() - start) / 60,
        n_train=study.n_train,
        n_test=study.n_test,
        train_pairs=len(train),
        test_pairs=len(test),
        fresh=len(fresh),
        counts=", ".join(str(count) for count in MEASURED_AT),
        table=table,
        agree=study.reflection.training["starts_agreeing"],
        starts=study.reflection.training["starts"],
        coverage=_coverage(study),
        neighbors=study.reflection.n_neighbors,
        choices=_choices(study.reflection.training["choices"]),
    )
    write(out / "reflection.md", text)


def _correlations(study: PredictionStudy) -> str:
    rows = [
        (name, f"{value:.3f}", f"{study.within[name]:.3f}")
        for name, value in study.rank_correlations.items()
    ]
    return markdown_table(("function", "pooled", "within a pair"), rows)


def _choices(choices: list[dict[str, Any]]) -> str:
    """Return the best rank correlation on held-out training pairs for each r."""
    best: dict[int, float] = {}
    for each in choices:
        score = each["spearman"] if each["spearman"] is not None else 0.0
        best[each["n_neighbors"]] = max(score, best.get(each["n_neighbors"], -1.0))
    return ", ".join(f"{value:.3f} for r = {r}" for r, value in best.items())


def _coverage(study: PredictionStudy) -> str:
    rows = [
        (
            "one count a pair, by turns" if each.n_labels is None else str(each.n_labels),
            f"{each.covered} of {each.pairs}",
            f"{100 * each.covered / each.pairs:.1f} %",
            "agrees" if each.agrees else "**does not agree**",
        )
        for each in study.coverage
    ]
    return markdown_table(("labels", "covered", "share", "with 90 %"), rows)
