"""Beyond the paper: further questions about L2T, measured on the same testing pairs."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.stats import spearmanr

from l2t.paper import ReflectionFunction
from reproduction.paper.drawing import ratio_curves, scatter
from reproduction.paper.measuring import measure, p_values
from reproduction.paper.methods import L2T, Method, Source
from reproduction.paper.parts import SIGNIFICANT
from reproduction.paper.section import (
    Claim,
    Figure,
    Section,
    Table,
    label_columns,
    mean,
    p_of_means,
    paragraph,
    ratio_table,
    standard_error,
)
from reproduction.paper.study import ALGORITHMS, ONE_TEACHER, THE_PAPERS, WITH_PAST, Study

__all__ = ["controls", "exhaustive", "prediction", "random_classes"]

SOURCES: dict[Source, str] = {
    "itself": "the source itself",
    "another": "another pair's source",
    "noise": "Gaussian noise",
    "none": "no source",
    "permuted": "permuted labels",
}


def exhaustive(study: Study) -> Section:
    """Compare L2T with running all eight algorithms and choosing one, by accuracy and time."""
    found = study.tested
    single = max(ALGORITHMS, key=lambda name: float(np.nanmean(found[name])))
    all_eight = found.seconds("exhaustive")
    best = found.field("exhaustive", "best")
    rows = [
        ("all eight, the best by the labelled rows", found["exhaustive"], all_eight),
        ("all eight, the best by the test rows (unattainable)", best, all_eight),
        (f"the best single one, {single.upper()}", found[single], found.seconds(single)),
        *((name, found[name], found.seconds(name)) for name in study.ours),
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
    """Compare predicted and actual ratios of L2T's choice, and check the intervals."""
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
    """Replace the source by noise, by another one, by none, or permute its labels.

    The paper's search uses no source label: there the ratios from which its function is learned are permuted.
    """
    methods: dict[str, Method] = {}
    kinds = [kind for kind in study.ours if kind != ONE_TEACHER]
    for kind, source in itertools.product(kinds, SOURCES):
        if kind == WITH_PAST and source in ("another", "none"):
            continue  # past targets weigh so much more that these are all but the same
        method: Method = L2T(None if kind == "L2T" else study.past, source)
        if kind == THE_PAPERS:
            function = study.permuted if source == "permuted" else study.function
            place: Source = "itself" if source == "permuted" else source
            method = study.paper(function, place)
        methods[f"{kind}, {SOURCES[source]}"] = method
    found = study.varied(methods, "controls")
    rows, claims = [], []
    for kind in kinds:
        true = found[kind]
        for name in list(SOURCES.values())[1:]:
            if f"{kind}, {name}" not in methods:
                continue
            other = found[f"{kind}, {name}"]
            rows.append((f"{kind}: less {name}", *mean(true - other).tolist()))
            rows.append((f"p {kind} {name}", *p_values(true, other).tolist()))
        noise = found[f"{kind}, {SOURCES['noise']}"]
        p = p_of_means(true, noise)
        gains = [float(np.nanmean(each)) - 1 for each in (true, noise)]
        figures = f"gain {gains[0]:+.3f} with the source, {gains[1]:+.3f} with noise in its place, p {p:.1g}"
        holds = gains[0] > gains[1] and p < SIGNIFICANT
        claims.append(Claim("the gain comes from the source", kind, holds, figures))
    shown = {name: name for name in methods}
    return Section(
        "Is it transfer at all?",
        paragraph("controls", pairs=len(found.names), past=study.past is not None),
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
        claims=claims,
    )


def random_classes(study: Study) -> Section:
    """Draw classes at random for all pairs, as in the paper, so that parts may share classes."""
    s = study.setting

    def learned() -> ReflectionFunction:
        with s.collected(s.sizes.any_class, disjoint=False) as store:
            return study.learn(store.experiences(status="done"))

    function = study.kept("any-class", learned)
    any_class = s.pairs("test", s.sizes.varied, disjoint=False)
    ours: dict[str, Method] = {THE_PAPERS: study.paper(function), "L2T": L2T()}
    again = measure(ours, any_class, s, "classes at random")
    few = study.paper(study.first_pairs(s.sizes.any_class))
    apart = study.varied({"few": few}, "classes apart")
    columns = label_columns(apart)
    shown = (
        (f"{THE_PAPERS}, classes at random", again[THE_PAPERS]),
        (f"{THE_PAPERS}, classes disjoint", apart["few"]),
        ("L2T, classes at random", again["L2T"]),
        ("L2T, classes disjoint", apart["L2T"]),
    )
    rows = [(name, *mean(found).tolist(), *standard_error(found).tolist()) for name, found in shown]
    errors = (f"{column}, standard error" for column in columns)
    return Section(
        "Classes at random, and disjoint",
        paragraph("random_classes", train=s.sizes.any_class),
        [
            Table(
                "random-classes",
                "Mean improvement ratio.",
                ("", *columns, *errors),
                rows,
            )
        ],
    )
