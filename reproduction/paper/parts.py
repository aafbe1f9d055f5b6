"""Every table and figure of the paper's experiments, measured; one function each."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from l2t.inference import infer
from l2t.plots import plot_transfer
from l2t.reflection.label_counts import LabelCurve
from l2t.statistics import KernelBank
from l2t.typing import Array
from reproduction.paper import published
from reproduction.paper.drawing import bars, curves, ratio_curves, small_multiples
from reproduction.paper.measuring import p_values
from reproduction.paper.methods import Search
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

__all__ = ["average", "components", "experiences", "kernels", "number", "six_pairs", "supplement"]


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
    counts = found.label_counts
    bases = {name.upper(): name for name in ALGORITHMS}
    ours = {"L2T": "L2T", "L2T, the paper's search": "L2T, the paper's search"}
    if study.past is not None:
        ours["L2T without the past"] = "L2T without the past"
    tests = Table(
        "average-p-values",
        "Two-sided paired t-test of L2T against each base algorithm.",
        ("against", *(f"{count} labels" for count in counts)),
        [(name, *p_values(found["L2T"], found[key]).tolist()) for name, key in bases.items()],
    )
    means = np.array([mean(found[name]) for name in ALGORITHMS])
    best = means.argmax(axis=0)
    margin = mean(found["L2T"]) / means.max(axis=0)
    theirs = _published_margin(counts)
    margins = Table(
        "average-margins",
        "L2T over the best base algorithm, beside the paper's own.",
        ("", *(f"{count} labels" for count in counts)),
        [
            ("best base algorithm", *(ALGORITHMS[at].upper() for at in best)),
            ("L2T / best base", *margin.tolist()),
            ("the paper's", *theirs.tolist()),
        ],
    )
    reached = [count for count, m, t in zip(counts, margin, theirs, strict=True) if m >= t - 5e-4]
    text = paragraph(
        "average",
        pairs=len(found.names),
        above=int((margin > 1).sum()),
        counts=len(counts),
        reached=reached,
        missed=[count for count in counts if count not in reached],
        lowest=float((mean(found["L2T"]) + standard_error(found["L2T"])).min()),
        past=study.past is not None,
    )
    shown = bases | ours
    return Section(
        "Average improvement ratio",
        text,
        [ratio_table("average", "Mean improvement ratio.", found, shown), margins, tests],
        [
            Figure(
                "average",
                "Mean improvement ratio over the number of labelled target rows; bands are standard errors.",
                ratio_curves(
                    found, shown, f"{study.setting.family}, {len(found.names)} testing pairs"
                ),
            )
        ],
        {"settings of base algorithms": study.bases},
    )


def six_pairs(study: Study) -> Section:
    """Figure "six pairs": accuracies on testing pairs drawn by the seed."""
    found = study.tested
    n = min(6, len(found.names))
    drawn = np.random.default_rng(study.setting.seed).permutation(len(found.names))[:n]
    shown = {"Original": None, **{name.upper(): name for name in ALGORITHMS}, "L2T": "L2T"}
    panels: dict[str, dict[str, Array]] = {}
    rows = []
    for at in np.sort(drawn):
        source, target = found.names[at]
        title = f"{source}\n→ {target}"
        panels[title] = {}
        for name, key in shown.items():
            accuracy = found.before[at] * (1.0 if key is None else found[key][at])
            panels[title][name] = accuracy
            rows.append((f"{source} -> {target}", name, *accuracy.tolist()))
    wins = sum(
        bool(np.nanmean(panel["L2T"]) >= max(np.nanmean(y) for y in panel.values()) - 1e-12)
        for panel in panels.values()
    )
    columns = ("pair", "method", *(f"{count} labels" for count in found.label_counts))
    return Section(
        "Six pairs",
        paragraph("six_pairs", pairs=n, wins=wins),
        [Table("six-pairs", "Accuracies.", columns, rows)],
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
    rng = np.random.default_rng(study.setting.seed)
    turns = rng.random(10**6)

    def one_of(names: tuple[str, ...]) -> Callable[[list[str], list[str]], Iterable[int]]:
        def chosen(algorithms: list[str], pairs: list[str]) -> Iterable[int]:
            for at, pair in enumerate(dict.fromkeys(pairs)):
                runs = [
                    i
                    for i, (a, p) in enumerate(zip(algorithms, pairs, strict=True))
                    if p == pair and a in names
                ]
                if runs:
                    yield runs[int(turns[at] * len(runs))]

        return chosen

    methods = {}
    for name, members in SETS.items():
        function = study.learned_from(f"from-{name.replace('/', '-').lower()}", one_of(members))
        methods[name] = Search(function, study.literal)
    found = study.varied(methods, "varying experiences")
    tested = study.tested
    part = slice(0, len(found.names))
    rows: list[tuple[object, ...]] = []
    for name, members in SETS.items():
        several = np.array([tested[base][part] for base in members])
        best = np.nanmean(several, axis=1).argmax(axis=0)
        against = several[best, :, np.arange(len(best))].T
        rows += [
            (f"{name} + L2T", *mean(found[name]).tolist()),
            ("p against the best of them", *p_values(found[name], against).tolist()),
            ("the paper's", *_published(name, found.label_counts)),
        ]
    return Section(
        "Table 1: which algorithms the experiences come from",
        paragraph("experiences", train=study.setting.sizes.train, pairs=len(found.names)),
        [
            Table(
                "experiences",
                "Mean improvement ratio by the algorithms that experiences come from.",
                ("", *(f"{count} labels" for count in found.label_counts)),
                rows,
            )
        ],
        [
            Figure(
                "experiences",
                "Mean improvement ratio by the algorithms that experiences come from.",
                ratio_curves(found, {name: name for name in SETS}, "experiences from"),
            )
        ],
    )


def number(study: Study) -> Section:
    """Figure "number of experiences"."""
    total = study.setting.sizes.train
    sizes = sorted({max(3, round(total * share)) for share in (0.025, 0.05, 0.1, 0.25, 0.5, 1.0)})
    ever = sorted({1, 2, *sizes})  # a single past target is enough for a metric
    methods = {}
    for n in sizes:

        def first(algorithms: list[str], pairs: list[str], n: int = n) -> Iterable[int]:
            kept = set(list(dict.fromkeys(pairs))[:n])
            return (i for i, pair in enumerate(pairs) if pair in kept)

        function = study.learned_from(f"from-{n}-pairs", first)
        methods[f"search {n}"] = Search(function, study.literal)
    for n in ever:
        past = study.setting.past(study.setting.pairs("train", n))
        if past is not None:
            methods[f"past {n}"] = Search(study.function, past=past)
    found = study.varied(methods, "varying their number")
    shown = [count for count in (3, 15, 30, 60, 120) if count in found.label_counts]
    at = [found.label_counts.index(count) for count in shown]
    tables, figures, changes = [], [], []
    kinds = (("search", "the paper's search", sizes), ("past", "L2T with past targets", ever))
    for kind, title, several in kinds:
        if f"{kind} {several[0]}" not in methods:
            continue
        runs = [n * len(ALGORITHMS) for n in several]
        means = np.array([mean(found[f"{kind} {n}"])[at] for n in several])
        errors = np.array([standard_error(found[f"{kind} {n}"])[at] for n in several])
        columns = ("experiences (runs)", *(f"{count} labels" for count in shown))
        rows = [(run, *row.tolist()) for run, row in zip(runs, means, strict=True)]
        change: dict[str, object] = {
            "title": title,
            "fewest": runs[0],
            "most": runs[-1],
            "none": None,
        }
        change |= {"first": means[0].mean(), "last": means[-1].mean()}
        if kind == "past":
            none = mean(study.tested["L2T without the past"][: len(found.names)])[at]
            rows.insert(0, (0, *none.tolist()))
            change["none"] = none.mean()
        changes.append(change)
        tables.append(Table(f"number-{kind}", f"Mean improvement ratio, {title}.", columns, rows))
        series = {f"{count} labels": (means[:, i], errors[:, i]) for i, count in enumerate(shown)}
        figures.append(
            Figure(
                f"number-{kind}",
                f"Mean improvement ratio against the number of experiences, {title}.",
                curves(runs, series, title, "experiences learned from", "improvement ratio"),
            )
        )
    return Section(
        "Number of experiences",
        paragraph("number", pairs=len(found.names), changes=changes),
        tables,
        figures,
    )


def components(study: Study) -> Section:
    """Figure "components": the terms of the reflection function alone, in twos, and all."""
    methods = {
        name: Search(study.variant(f"only-{'-'.join(terms)}", components=terms), study.literal)
        for name, terms in COMPONENTS.items()
    }
    methods["all three, equal beta"] = Search(study.equal_beta, study.literal)
    found = study.varied(methods, "varying components")
    learned, equal = found["all three"], found["all three, equal beta"]
    p = p_values(np.nanmean(learned, axis=1)[:, None], np.nanmean(equal, axis=1)[:, None])[0]
    return Section(
        "Components of the reflection function",
        paragraph(
            "components",
            pairs=len(found.names),
            learned=np.nanmean(learned),
            equal=np.nanmean(equal),
            p=p,
        ),
        [
            ratio_table(
                "components", "Mean improvement ratio.", found, {name: name for name in methods}
            )
        ],
        [
            Figure(
                "components",
                "Mean improvement ratio by the terms of the function.",
                ratio_curves(found, {name: name for name in methods}, "terms of 1/f"),
            )
        ],
    )


def kernels(study: Study) -> Section:
    """Figure "kernels": narrower and wider ranges of bandwidths."""
    methods = {}
    for reach in RANGES:
        bank = KernelBank(-reach, reach, 0.5)
        function = study.with_bank(f"kernels-{reach}", bank)
        methods[f"2^-{reach} ... 2^{reach} ({len(bank)})"] = Search(function, study.literal)
    found = study.varied(methods, "varying kernels")
    return Section(
        "Kernels",
        paragraph("kernels", pairs=len(found.names)),
        [
            ratio_table(
                "kernels", "Mean improvement ratio.", found, {name: name for name in methods}
            )
        ],
        [
            Figure(
                "kernels",
                "Mean improvement ratio by the range of bandwidths (number of kernels).",
                ratio_curves(found, {name: name for name in methods}, "range of bandwidths"),
            )
        ],
    )


def supplement(study: Study) -> Section:
    """Show the learned beta, one example pair, and the label-count correction on measured curves."""
    function = study.function
    weights = function.beta / max(float(function.beta.sum()), 1e-300)
    pair = study.setting.pairs("test")[0]
    inferred = infer(pair, function, n_labels=15, past=study.past)
    table, curve = _corrected(study)
    return Section(
        "Supplement: beta, one pair, and the label-count correction",
        paragraph(
            "supplement",
            largest=function.kernels.exponents[int(weights.argmax())],
            pair=pair,
            inferred=inferred,
            c=function.c,
        ),
        [
            Table(
                "beta",
                "beta over bandwidths, as shares of its sum.",
                ("p", "share"),
                list(zip(function.kernels.exponents.tolist(), weights.tolist(), strict=True)),
            ),
            table,
        ],
        [
            Figure(
                "beta",
                "The learned beta over bandwidths 2^p eta.",
                bars(
                    function.kernels.exponents.tolist(), weights, "learned beta",
                    "p of the bandwidth 2^p eta", "share of the sum",
                ),
            ),
            Figure(
                "example",
                "The first testing pair before and after W, in two principal components.",
                lambda: plot_transfer(pair, inferred),
            ),
            curve,
        ],
    )  # fmt: skip


def _corrected(study: Study) -> tuple[Table, Figure]:
    """Correct the measured ratios for the label count."""
    function = study.function
    found = study.tested
    counts = np.array(found.label_counts, dtype=float)
    curve = LabelCurve(function.c, *function.label_range)
    series, rows = {}, []
    for name in (*ALGORITHMS, "L2T"):
        ratios = mean(found[name])
        corrected = ratios * curve.factor(counts)
        series[name if name == "L2T" else name.upper()] = (corrected, standard_error(found[name]))
        rows.append((name.upper(), *ratios.tolist(), *corrected.tolist()))
    columns = [
        "method",
        *(f"{c} labels" for c in found.label_counts),
        *(f"{c} labels, l_hat" for c in found.label_counts),
    ]
    caption = "Ratios, and ratios corrected for the label count."
    title = f"l_hat, c = {function.c:.3f}"
    drawn = curves(found.label_counts, series, title, "labelled target rows", "l_hat")
    return (
        Table("l-hat", caption, tuple(columns), rows),
        Figure("l-hat", "Mean ratios corrected for the label count.", drawn),
    )


def _published(name: str, counts: tuple[int, ...]) -> list[float]:
    ratios = dict(zip(published.LABEL_COUNTS, published.RATIOS[name], strict=True))
    return [ratios[count] for count in counts]


def _published_margin(counts: tuple[int, ...]) -> Array:
    best = np.max([_published(name, counts) for name in ALGORITHMS], axis=0)
    return np.asarray(np.array(_published("all", counts)) / best)
