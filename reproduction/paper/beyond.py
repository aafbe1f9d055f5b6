"""Beyond the paper: what it leaves open about L2T, measured on the same testing pairs."""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr

from l2t.reflection import ReflectionFunction
from reproduction.paper.drawing import ratio_curves, scatter
from reproduction.paper.measuring import measure, p_values
from reproduction.paper.methods import L2T, Method, PaperMethod, Source
from reproduction.paper.parts import OURS
from reproduction.paper.section import (
    Figure,
    Section,
    Table,
    label_columns,
    mean,
    paragraph,
    ratio_table,
    standard_error,
)
from reproduction.paper.study import ALGORITHMS, Study

__all__ = ["controls", "exhaustive", "prediction", "random_classes"]

SOURCES: dict[Source, str] = {
    "itself": "itself",
    "another": "another pair's",
    "noise": "Gaussian noise",
    "none": "left out",
}


def exhaustive(study: Study) -> Section:
    """Compare L2T with running all eight and picking one, in quality and in time."""
    found = study.tested
    single = max(ALGORITHMS, key=lambda name: float(np.nanmean(found[name])))
    all_eight = found.seconds("exhaustive")
    best = found.field("exhaustive", "best")
    rows = [
        ("all eight, the best by the labelled rows", found["exhaustive"], all_eight),
        ("all eight, the best by the test rows (unattainable)", best, all_eight),
        (f"the best single one, {single.upper()}", found[single], found.seconds(single)),
        *((name, found[name], found.seconds(name)) for name in OURS),
    ]
    return Section(
        "Exhaustive search",
        paragraph(
            "exhaustive",
            share=found.seconds("L2T") / all_eight,
            p=p_values(found["L2T"], found["exhaustive"]),
        ),
        [
            Table(
                "exhaustive",
                "Mean improvement ratio, and seconds per pair.",
                ("", *label_columns(found), "seconds"),
                [(name, *mean(ratios).tolist(), seconds) for name, ratios, seconds in rows],
            )
        ],
    )


def prediction(study: Study) -> Section:
    """Predicted against actual ratios of L2T's choice, and the intervals."""
    found = study.tested
    actual, predicted = found["L2T"], found.field("L2T", "predicted")
    low, high = found.field("L2T", "low"), found.field("L2T", "high")
    rows, groups = [], {}
    for at, count in enumerate(found.label_counts):
        known = np.isfinite(actual[:, at])
        x, y = predicted[known, at], actual[known, at]
        rank = 0.0 if np.ptp(x) == 0 else spearmanr(x, y).statistic
        inside = (low[known, at] <= y) & (y <= high[known, at])
        rows.append((count, float(x.mean()), float(y.mean()), float(rank), float(inside.mean())))
        if count in (3, 15, 30, 60, 120):
            groups[f"{count} labels"] = (x, y)
    columns = ("labels", "mean predicted", "mean actual", "rank correlation", "in 90 % interval")
    choices = [choice for row in found.rows["L2T"] for choice in row["choice"]]
    shares = {name: choices.count(name) / len(choices) for name in sorted(set(choices))}
    return Section(
        "Predicted against actual ratio",
        paragraph("prediction", shares=shares),
        [Table("prediction", "Predictions for L2T's choice.", columns, rows)],
        [
            Figure(
                "prediction",
                "Predicted against actual improvement ratio of L2T's choice on testing pairs.",
                scatter(groups, "L2T on new pairs"),
            )
        ],
    )


def controls(study: Study) -> Section:
    """Is it transfer at all? The source replaced by noise, by another one, and left out."""
    kinds: dict[str, dict[Source, Method]] = {
        "L2T": {source: L2T(source=source) for source in SOURCES},
        "the paper's method": {
            source: PaperMethod(study.function, study.plan, source) for source in SOURCES
        },
    }
    methods = {
        f"{kind}, source {SOURCES[source]}": method
        for kind, several in kinds.items()
        for source, method in several.items()
    }
    found = study.varied(methods, "controls")
    rows, gains = [], []
    for kind in kinds:
        true = found[f"{kind}, source itself"]
        for name in list(SOURCES.values())[1:]:
            other = found[f"{kind}, source {name}"]
            rows.append((f"{kind}: itself less {name}", *mean(true - other).tolist()))
            rows.append((f"p {kind} {name}", *p_values(true, other).tolist()))
        noise = found[f"{kind}, source Gaussian noise"]
        gains.append({"kind": kind, "source": np.nanmean(true) - 1, "noise": np.nanmean(noise) - 1})
    shown = {name: name for name in methods}
    return Section(
        "Is it transfer at all?",
        paragraph("controls", pairs=len(found.names), gains=gains),
        [
            ratio_table("controls", "Mean improvement ratio.", found, shown),
            Table(
                "controls-differences",
                "What the true source adds, and paired t-tests.",
                ("", *label_columns(found)),
                rows,
            ),
        ],
        [
            Figure(
                "controls",
                "Mean improvement ratio with the source replaced.",
                ratio_curves(found, shown, "what takes the place of the source"),
            )
        ],
    )


def random_classes(study: Study) -> Section:
    """As in the paper, classes drawn at random for all pairs; the same classes may be met again."""
    s = study.setting

    def learned() -> ReflectionFunction:
        with s.collected(s.sizes.any_class, disjoint=False) as store:
            return study.learn(store.experiences(status="done"))

    function = study.kept("any-class", learned)
    any_class = s.pairs("test", s.sizes.varied, disjoint=False)
    again = measure({"paper": PaperMethod(function, study.plan)}, any_class, s, "classes at random")
    few = PaperMethod(study.first_pairs(s.sizes.any_class), study.plan)
    apart = study.varied({"paper": few}, "classes apart")
    columns = label_columns(apart)
    rows = [
        (name, *mean(found["paper"]).tolist(), *standard_error(found["paper"]).tolist())
        for name, found in (("classes at random", again), ("classes disjoint", apart))
    ]
    errors = (f"{column}, standard error" for column in columns)
    return Section(
        "Classes at random, and disjoint",
        paragraph("random_classes", train=s.sizes.any_class),
        [
            Table(
                "random-classes",
                "Mean improvement ratio, the paper's method.",
                ("training and testing pairs", *columns, *errors),
                rows,
            )
        ],
    )
