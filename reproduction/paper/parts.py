"""Every table and figure of the paper's experiments, measured; one function each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from l2t.experiences import Experience
from l2t.statistics import KernelBank
from l2t.typing import Array
from reproduction.paper import published
from reproduction.paper.drawing import curves, ratio_curves, small_multiples
from reproduction.paper.measuring import Measured, p_values
from reproduction.paper.methods import L2T, Method, PaperMethod
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

__all__ = [
    "OURS",
    "average",
    "components",
    "experiences",
    "kernels",
    "number",
    "six_pairs",
]

#: L2T as it ships, and the paper's own method.
OURS = ("L2T", "L2T, the paper's method")
#: What the paper learns from, in its Table 1.
SETS: dict[str, tuple[str, ...]] = {
    "ITL": ("itl",),
    "DIP": ("dip",),
    "LSDT/GFK/SIE": ("lsdt", "gfk", "sie"),
    "TCA/ITL/CMF/GFK/LSDT/SIE": ("tca", "itl", "cmf", "gfk", "lsdt", "sie"),
    "all": ALGORITHMS,
}
COMPONENTS: dict[str, tuple[str, ...]] = {
    "MMD": ("mmd",),
    "variance": ("variance",),
    "discriminant": ("discriminant",),
    "MMD, variance": ("mmd", "variance"),
    "MMD, discriminant": ("mmd", "discriminant"),
    "variance, discriminant": ("variance", "discriminant"),
    "all three": ("mmd", "variance", "discriminant"),
}
RANGES = (2, 4, 6, 8, 12)


def average(study: Study) -> Section:
    """Figure "average performance improvement ratio"."""
    found = study.tested
    counts, columns = found.label_counts, label_columns(found)
    bases = {name.upper(): name for name in ALGORITHMS}
    ours = [name for name in found.rows if name.startswith("L2T")]
    means = np.array([mean(found[name]) for name in ALGORITHMS])
    theirs = _published_margin(counts)
    margins = {name: mean(found[name]) / means.max(axis=0) for name in ours}
    tables = [
        Table(
            "average-margins",
            "L2T over the best base algorithm, beside the paper's own figures.",
            ("", *columns),
            [
                ("best base algorithm", *(ALGORITHMS[at].upper() for at in means.argmax(axis=0))),
                *((f"{name} / best base", *margin.tolist()) for name, margin in margins.items()),
                ("published", *theirs.tolist()),
            ],
        ),
        Table(
            "average-p-values",
            "Two-sided paired t-test against each base algorithm.",
            ("", *columns),
            [
                (f"{kind} against {name}", *p_values(found[kind], found[key]).tolist())
                for kind in OURS
                for name, key in bases.items()
            ],
        ),
    ]
    kinds = [
        {
            "name": name,
            "above": int((margin > 1).sum()),
            "reached": [c for c, m, t in zip(counts, margin, theirs, strict=True) if m >= t - 5e-4],
            "lowest": float((mean(found[name]) + standard_error(found[name])).min()),
        }
        for name, margin in margins.items()
    ]
    text = paragraph(
        "average",
        pairs=len(found.names),
        counts=len(counts),
        kinds=kinds,
        past=study.past is not None,
        plan=study.plan,
    )
    shown = bases | {name: name for name in ours}
    section = _ratios("average", "Average improvement ratio", text, found, shown)
    return Section(
        section.title,
        text,
        [*section.tables, *tables],
        section.figures,
        {"settings of base algorithms": study.bases},
    )


def six_pairs(study: Study) -> Section:
    """Figure "six pairs": accuracies on testing pairs drawn by the seed."""
    found = study.tested
    n = min(6, len(found.names))
    drawn = np.random.default_rng(study.setting.seed).permutation(len(found.names))[:n]
    shown = {name.upper(): name for name in ALGORITHMS} | {name: name for name in OURS}
    panels: dict[str, dict[str, Array]] = {}
    rows = []
    for at in np.sort(drawn):
        source, target = found.names[at]
        accuracies = {"Original": found.before[at]}
        accuracies |= {name: found.before[at] * found[key][at] for name, key in shown.items()}
        panels[f"{source}\n→ {target}"] = accuracies
        rows += [(f"{source} -> {target}", name, *y.tolist()) for name, y in accuracies.items()]
    wins = sum(
        bool(np.nanmean(panel["L2T"]) >= max(np.nanmean(y) for y in panel.values()) - 1e-12)
        for panel in panels.values()
    )
    return Section(
        "Six pairs",
        paragraph("six_pairs", pairs=n, wins=wins),
        [Table("six-pairs", "Accuracies.", ("pair", "method", *label_columns(found)), rows)],
        [
            Figure(
                "six-pairs",
                "Accuracy over the number of labelled target rows.",
                small_multiples(found.label_counts, panels, "accuracy"),
            )
        ],
    )


def experiences(study: Study) -> Section:
    """Table 1: experiences from some of the algorithms only."""

    def one_run_per_pair(names: tuple[str, ...]) -> Iterator[Experience]:
        rng = np.random.default_rng(study.setting.seed)
        for pair in study.runs:
            run = [name for name in names if name in pair]
            if run:
                yield from pair[run[int(rng.integers(len(run)))]]

    methods = {}
    for name, members in SETS.items():
        kept = f"from-{name.replace('/', '-').lower()}"
        function = study.variant(kept, partial(one_run_per_pair, members))
        methods[name] = PaperMethod(function, study.plan)
    found = study.varied(methods, "varying experiences")
    part = slice(0, len(found.names))
    rows: list[tuple[object, ...]] = []
    for name, members in SETS.items():
        several = np.array([study.tested[base][part] for base in members])
        best = np.nanmean(several, axis=1).argmax(axis=0)
        against = several[best, :, np.arange(len(best))].T
        rows += [
            (f"{name} + L2T", *mean(found[name]).tolist()),
            ("p against the best of them", *p_values(found[name], against).tolist()),
            ("published", *_published(name, found.label_counts)),
        ]
    title = "Table 1: which algorithms the experiences come from"
    text = paragraph("experiences", train=study.setting.sizes.train, pairs=len(found.names))
    figures = _ratios("experiences", title, text, found, {name: name for name in SETS}).figures
    columns = ("", *label_columns(found))
    return Section(
        title, text, [Table("experiences", "Mean improvement ratio.", columns, rows)], figures
    )


def number(study: Study) -> Section:
    """Figure "number of experiences": for the paper's method, and past targets of the same pairs for L2T."""
    total = study.setting.sizes.train
    sizes = sorted({max(3, round(total * share)) for share in (0.025, 0.05, 0.1, 0.25, 0.5, 1.0)})
    methods: dict[str, Method] = {
        f"paper {n}": PaperMethod(study.first_pairs(n), study.plan) for n in sizes
    }
    kinds = {"paper": "the paper's method"}
    if study.past is not None:
        methods |= {f"past {n}": L2T(study.setting.past(n)) for n in sizes}
        kinds["past"] = "L2T with the past"
    found = study.varied(methods, "varying their number")
    counts = [count for count in (3, 15, 30, 60, 120) if count in found.label_counts]
    at = [found.label_counts.index(count) for count in counts]
    runs = [n * len(ALGORITHMS) for n in sizes]
    tables, figures, changes = [], [], []
    for kind, title in kinds.items():
        means = np.array([mean(found[f"{kind} {n}"])[at] for n in sizes])
        errors = np.array([standard_error(found[f"{kind} {n}"])[at] for n in sizes])
        rows = [(run, *row.tolist()) for run, row in zip(runs, means, strict=True)]
        columns = ("experiences (runs)", *(f"{count} labels" for count in counts))
        tables.append(Table(f"number-{kind}", f"Mean improvement ratio, {title}.", columns, rows))
        series = {f"{count} labels": (means[:, i], errors[:, i]) for i, count in enumerate(counts)}
        figures.append(
            Figure(
                f"number-{kind}",
                f"Mean improvement ratio against the number of experiences, {title}.",
                curves(runs, series, title, "experiences learned from", "improvement ratio"),
            )
        )
        changes.append({"title": title, "first": means[0].mean(), "last": means[-1].mean()})
    text = paragraph(
        "number", pairs=len(found.names), changes=changes, fewest=runs[0], most=runs[-1]
    )
    return Section("Number of experiences", text, tables, figures)


def components(study: Study) -> Section:
    """Figure "components": the terms of the reflection function alone, in twos, and all."""
    methods = {
        name: PaperMethod(study.variant(f"only-{'-'.join(terms)}", components=terms), study.plan)
        for name, terms in COMPONENTS.items()
    }
    methods["all three, equal beta"] = PaperMethod(study.equal_beta, study.plan)
    found = study.varied(methods, "varying components")
    learned, equal = found["all three"], found["all three, equal beta"]
    p = p_values(np.nanmean(learned, axis=1)[:, None], np.nanmean(equal, axis=1)[:, None])[0]
    text = paragraph(
        "components",
        pairs=len(found.names),
        learned=np.nanmean(learned),
        equal=np.nanmean(equal),
        p=p,
    )
    title = "Components of the reflection function"
    return _ratios("components", title, text, found, {name: name for name in methods})


def kernels(study: Study) -> Section:
    """Figure "kernels": narrower and wider ranges of bandwidths."""
    methods = {}
    for reach in RANGES:
        bank = KernelBank(-reach, reach, 0.5)
        function = study.with_bank(f"kernels-{reach}", bank)
        methods[f"2^-{reach} ... 2^{reach} ({len(bank)})"] = PaperMethod(function, study.plan)
    found = study.varied(methods, "varying kernels")
    text = paragraph("kernels", pairs=len(found.names))
    return _ratios("kernels", "Kernels", text, found, {name: name for name in methods})


def _ratios(
    name: str, title: str, text: str, found: Measured, methods: Mapping[str, str]
) -> Section:
    """Return a section with a table and a figure of mean ratios over label counts."""
    caption = (
        "Mean improvement ratio over the number of labelled target rows; bands are standard errors."
    )
    return Section(
        title,
        text,
        [ratio_table(name, "Mean improvement ratio.", found, methods)],
        [Figure(name, caption, ratio_curves(found, methods, f"{len(found.names)} testing pairs"))],
    )


def _published(name: str, counts: Sequence[int]) -> list[float]:
    ratios = dict(zip(published.LABEL_COUNTS, published.RATIOS[name], strict=True))
    return [ratios[count] for count in counts]


def _published_margin(counts: Sequence[int]) -> Array:
    best = np.max([_published(name, counts) for name in ALGORITHMS], axis=0)
    return np.asarray(np.array(_published("all", counts)) / best)
