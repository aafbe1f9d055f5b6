"""Beyond the paper: what it leaves open about L2T, measured on the same testing pairs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from l2t.experiences.evaluation import LABEL_COUNTS
from l2t.reflection import ReflectionFunction
from reproduction.families import FAMILIES
from reproduction.paper.drawing import ratio_curves, scatter
from reproduction.paper.measuring import Measured, measure, p_values
from reproduction.paper.methods import Search, Source
from reproduction.paper.section import (
    Figure,
    Section,
    Table,
    mean,
    paragraph,
    ratio_table,
    standard_error,
)
from reproduction.paper.study import ALGORITHMS, Study
from reproduction.shipped import learn_from_families

__all__ = ["controls", "exhaustive", "families", "prediction", "random_classes"]

SOURCES: dict[Source, str] = {
    "itself": "itself",
    "another": "another pair's",
    "noise": "Gaussian noise",
    "none": "left out",
}
#: Neighbours of tau in the functions of families left out: the default, and what was best, of 5, 20 and 40,
#: on validation pairs of families left out.
FAMILY_NEIGHBORS = (5, 20)
VERDICT_COLUMNS = ("labels", "verdict right", '"don\'t transfer"', "of these right")


def exhaustive(study: Study) -> Section:
    """Compare L2T with running all eight and picking one, in quality and in time."""
    found = study.tested
    best = found.field("exhaustive", "best")
    single = max(ALGORITHMS, key=lambda name: float(np.nanmean(found[name])))
    rows = [
        (
            "all eight, the best by the labelled rows",
            found["exhaustive"],
            found.seconds("exhaustive"),
        ),
        ("all eight, the best by the test rows (unattainable)", best, found.seconds("exhaustive")),
        (f"the best single one, {single.upper()}", found[single], found.seconds(single)),
        ("L2T", found["L2T"], found.seconds("L2T")),
    ]
    times = found.seconds("exhaustive") / found.seconds("L2T")
    p = p_values(found["L2T"], found["exhaustive"])
    return Section(
        "Exhaustive search",
        paragraph("exhaustive", times=times, p=p),
        [
            Table(
                "exhaustive",
                "Mean improvement ratio, and seconds a pair.",
                ("", *(f"{count} labels" for count in found.label_counts), "seconds"),
                [(name, *mean(ratios).tolist(), seconds) for name, ratios, seconds in rows],
            )
        ],
    )


def prediction(study: Study) -> Section:
    """Predicted against actual ratios, the intervals, and whether verdicts were right."""
    found = study.tested
    predicted, actual = found.field("L2T", "predicted"), found.field("L2T", "always")
    low, high = found.field("L2T", "low"), found.field("L2T", "high")
    rows = []
    for at, count in enumerate(found.label_counts):
        known = np.isfinite(actual[:, at])
        constant = np.ptp(predicted[known, at]) == 0
        rank = 0.0 if constant else spearmanr(predicted[known, at], actual[known, at]).statistic
        inside = np.mean((low[:, at] <= actual[:, at]) & (actual[:, at] <= high[:, at]))
        rows.append(
            (
                count,
                float(np.nanmean(predicted[:, at])),
                float(np.nanmean(actual[:, at])),
                float(rank),
                float(inside),
            )
        )
    shown = [at for at, count in enumerate(found.label_counts) if count in (3, 15, 30, 60, 120)]
    groups = {f"{found.label_counts[at]} labels": (predicted[:, at], actual[:, at]) for at in shown}
    return Section(
        "Predicted against actual ratio, and the verdict",
        paragraph("prediction"),
        [
            Table(
                "prediction",
                "Predictions for L2T's W.",
                ("labels", "mean predicted", "mean actual", "rank correlation", "covered by 90 % interval"),
                rows,
            ),
            Table(
                "verdict",
                "How often the verdict was right, by the test rows.",
                VERDICT_COLUMNS,
                verdict_rows([found], "L2T"),
            ),
        ],
        [
            Figure(
                "prediction",
                "Predicted against actual improvement ratio of L2T's W on testing pairs.",
                scatter(groups, "L2T's own W on new pairs"),
            )
        ],
    )  # fmt: skip


def verdict_rows(several: Sequence[Measured], method: str) -> list[tuple[Any, ...]]:
    """Return how often verdicts were right, over pairs and draws of labelled rows."""
    counts = max((each.label_counts for each in several), key=len)
    rows: list[tuple[Any, ...]] = []
    for at, count in enumerate(counts):
        fitting = [each for each in several if at < len(each.label_counts)]
        transferred, right, refused_rightly = (
            float(np.nanmean(np.concatenate([each.field(method, name)[:, at] for each in fitting])))
            for name in ("transferred", "right", "refused_rightly")
        )
        refused = 1.0 - transferred
        rows.append((count, right, refused, refused_rightly / refused if refused > 0 else None))
    return rows


def controls(study: Study) -> Section:
    """Is it transfer at all? The source replaced by noise, by another one, and left out."""
    methods = {}
    for source, name in SOURCES.items():
        methods[f"L2T, source {name}"] = Search(study.function, past=study.past, source=source)
        methods[f"paper's search, source {name}"] = Search(
            study.without_past,
            study.literal,
            source=source,
        )
    found = study.varied(methods, "controls")
    rows, gains = [], []
    for kind in ("L2T", "paper's search"):
        true = found[f"{kind}, source itself"]
        for name in list(SOURCES.values())[1:]:
            other = found[f"{kind}, source {name}"]
            difference = mean(true - other)
            rows.append((f"{kind}: itself less {name}", *difference.tolist()))
            rows.append((f"p {kind} {name}", *p_values(true, other).tolist()))
        noise = found[f"{kind}, source Gaussian noise"]
        gains.append(
            {"kind": kind, "source": np.nanmean(true) - 1.0, "noise": np.nanmean(noise) - 1.0}
        )
    return Section(
        "Is it transfer at all?",
        paragraph("controls", pairs=len(found.names), gains=gains),
        [
            ratio_table("controls", "Mean improvement ratio.", found, {name: name for name in methods}),
            Table(
                "controls-differences",
                "What the true source adds, and paired t-tests.",
                ("", *(f"{count} labels" for count in found.label_counts)),
                rows,
            ),
        ],
        [
            Figure(
                "controls",
                "Mean improvement ratio with the source replaced.",
                ratio_curves(found, {name: name for name in methods}, "what stands for the source"),
            )
        ],
    )  # fmt: skip


def random_classes(study: Study) -> Section:
    """As in the paper, classes drawn at random for all pairs; the same classes may be met again."""
    s = study.setting

    def learned() -> ReflectionFunction:
        with s.collected(s.sizes.family, disjoint=False) as store:
            return study.learn(store.experiences(status="done"))

    function = study.kept("any-class", learned)
    any_class = s.pairs("test", s.sizes.varied, disjoint=False)
    search = {"search": Search(function, study.literal)}
    again = measure(search, any_class, s, "classes at random")

    def few() -> ReflectionFunction:
        with s.collected() as store:
            kept = {pair.target.fingerprint for pair in s.pairs("train", s.sizes.family)}
            return study.learn(e for e in store.experiences(status="done") if e.target in kept)

    apart = study.varied(
        {"search": Search(study.kept("disjoint-few", few), study.literal)}, "classes apart"
    )
    rows = [
        (name, *mean(found["search"]).tolist(), *standard_error(found["search"]).tolist())
        for name, found in (("classes at random", again), ("classes disjoint", apart))
    ]
    columns = (
        "training and testing pairs",
        *(f"{count} labels" for count in apart.label_counts),
        *(f"{count} labels, standard error" for count in apart.label_counts),
    )
    return Section(
        "Classes at random, and disjoint",
        paragraph("random_classes", train=s.sizes.family),
        [Table("random-classes", "Mean improvement ratio.", columns, rows)],
    )


def families(study: Study) -> Section:
    """For each family left out, L2T with a function learned on the others."""
    s = study.setting
    known = FAMILIES if s.family == "photo-sketch" and s.data is not None else ("digits",)
    if len(known) == 1:
        return Section("Families of domains", paragraph("families", alone=True))
    ratios, verdicts = [], []
    for r in FAMILY_NEIGHBORS:
        measured = {}
        for left in known:
            others = tuple(family for family in known if family != left)
            function = study.kept(f"without-{left}-{r}", partial(_from, study, others, r))
            pairs = s.pairs("test", s.sizes.family, family=left)
            found = measure({"L2T": Search(function)}, pairs, s, f"without {left}, r = {r}")
            cells = np.full((2, len(LABEL_COUNTS)), np.nan)
            shown = found["L2T"]
            cells[:, : shown.shape[1]] = mean(shown), standard_error(shown)
            ratios += [
                (r, left, *cells[0].tolist()),
                (r, f"{left}, standard error", *cells[1].tolist()),
            ]
            measured[left] = [found]
        measured["all of them"] = [found for several in measured.values() for found in several]
        verdicts += [
            (r, left, *row)
            for left, several in measured.items()
            for row in verdict_rows(several, "L2T")
            if row[0] in (3, 15, 30, 60, 120)
        ]
    return Section(
        "Families of domains",
        paragraph("families", alone=False),
        [
            Table(
                "families",
                "Mean improvement ratio on the family left out.",
                ("r", "left out", *(f"{count} labels" for count in LABEL_COUNTS)),
                ratios,
            ),
            Table(
                "families-verdicts",
                "How often the verdict was right on the family left out.",
                ("r", "left out", *VERDICT_COLUMNS),
                verdicts,
            ),
        ],
    )


def _from(study: Study, families: tuple[str, ...], r: int) -> ReflectionFunction:
    s = study.setting
    return learn_from_families(
        dict.fromkeys(families, s.sizes.family),
        s.data,
        s.work,
        n_validation=max(2, s.sizes.family // 3),
        n_neighbors=r,
        n_jobs=s.n_jobs,
        cluster=s.cluster,
        progress=s.progress,
    )
