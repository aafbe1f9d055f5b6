"""Every table and figure of the paper's experiments; one function each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from l2t.experiences import Experience
from l2t.paper import Plan
from l2t.statistics import KernelBank
from l2t.typing import Array
from reproduction.paper import published
from reproduction.paper.drawing import curves, ratio_curves, small_multiples
from reproduction.paper.measuring import Measured, measure, p_values
from reproduction.paper.methods import Base, Method, PaperMethod, Source
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
from reproduction.paper.study import ALGORITHMS, PUBLISHED, THE_PAPERS, WITH_PAST, Study

__all__ = [
    "average",
    "components",
    "controls",
    "experiences",
    "kernels",
    "number",
    "random_classes",
    "settings",
    "six_pairs",
]

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
#: Training pairs on the curve of their number.
AXIS = (1, 3, 10, 30, 100, 300, 1000)
#: What takes the place of the source in the controls.
SOURCES: dict[Source, str] = {"another": "another pair's source", "noise": "Gaussian noise"}
#: Label counts of short tables.
SHOWN = (3, 15, 30, 60, 120)
#: A difference with a smaller p counts.
SIGNIFICANT = 0.05


def average(study: Study) -> Section:
    """Figure "average performance improvement ratio"."""
    found = study.tested
    counts, columns = found.label_counts, label_columns(found)
    bases = {name.upper(): name for name in ALGORITHMS}
    ours = list(study.ours)
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
                for kind in ours
                for name, key in bases.items()
            ],
        ),
    ]
    text = paragraph("average", pairs=len(found.names), past=study.past is not None)
    shown = bases | {name: name for name in ours}
    section = _ratios("average", "Average improvement ratio", text, found, shown)
    cells = [cell for ratio in _published("all", counts) for cell in (ratio, None)]
    ratios = replace(section.tables[0], rows=[*section.tables[0].rows, ("published", *cells)])
    return replace(
        section,
        tables=[ratios, *tables],
        notes={"settings of base algorithms": study.bases},
        claims=[claim for name in ours for claim in _average_claims(found, name, margins[name])],
    )


def _average_claims(found: Measured, name: str, margin: Array) -> list[Claim]:
    """Return the paper's claims about the average, and the measurements of a method."""
    counts, theirs = found.label_counts, _published_margin(found.label_counts)
    reached = [c for c, m, t in zip(counts, margin, theirs, strict=True) if m >= t - 5e-4]
    worst = max(float(p_values(found[name], found[base]).max()) for base in ALGORITHMS)
    ratios = mean(found[name])
    first, last = counts[0], counts[-1]
    lowest = float((ratios + standard_error(found[name])).min())
    above = int((margin > 1).sum())
    return [
        Claim(
            "better than every base algorithm at every label count",
            name,
            above == len(counts),
            f"at {above} of {len(counts)}; over the best of them {margin[0]:.3f} at {first} labels and "
            f"{margin[-1]:.3f} at {last}; largest p {worst:.1g}",
        ),
        Claim(
            f"by the published margin ({theirs[0]:.3f} at {first} labels)",
            name,
            len(reached) == len(counts),
            f"{margin[0]:.3f} at {first} labels; reached at {len(reached)} of {len(counts)} label counts",
        ),
        Claim(
            "never worse than no transfer",
            name,
            lowest >= 1,
            f"mean plus one standard error at least {lowest:.3f}",
        ),
        Claim(
            "most with few labels",
            name,
            bool(ratios[0] == ratios.max()),
            f"{ratios[0]:.3f} at {first} labels, {ratios[-1]:.3f} at {last}",
        ),
    ]


def six_pairs(study: Study) -> Section:
    """Figure "six pairs": accuracies on testing pairs drawn by the seed."""
    found = study.tested
    n = min(6, len(found.names))
    drawn = np.random.default_rng(study.setting.seed).permutation(len(found.names))[:n]
    shown = {name.upper(): name for name in ALGORITHMS} | {name: name for name in study.ours}
    panels: dict[str, dict[str, Array]] = {}
    rows = []
    for at in np.sort(drawn):
        source, target = found.names[at]
        accuracies = {"Original": found.before[at]}
        accuracies |= {name: found.before[at] * found[key][at] for name, key in shown.items()}
        panels[f"{source}\n→ {target}"] = accuracies
        rows += [(f"{source} -> {target}", name, *y.tolist()) for name, y in accuracies.items()]
    wins = {
        name: sum(
            bool(
                np.nanmean(panel[name])
                > max(np.nanmean(y) for other, y in panel.items() if other not in study.ours)
            )
            for panel in panels.values()
        )
        for name in study.ours
    }
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
        claims=[
            Claim(
                "best on each of six pairs, averaged over label counts",
                name,
                won == n,
                f"above all base algorithms and the original features on {won} of {n}",
            )
            for name, won in wins.items()
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

    methods: dict[str, Method] = {}
    for name, members in SETS.items():
        kept = f"from-{name.replace('/', '-').lower()}"
        methods[name] = PaperMethod(study.variant(kept, partial(one_run_per_pair, members)))
    alone = {f"{name.upper()} alone": PaperMethod(study.from_one(name)) for name in ALGORITHMS}
    found = study.varied(methods | alone, "varying experiences")
    part = slice(0, len(found.names))
    rows: list[tuple[object, ...]] = []
    claims: list[Claim] = []
    for name, members in SETS.items():
        several = np.array([study.tested[base][part] for base in members])
        best = np.nanmean(several, axis=1).argmax(axis=0)
        against = several[best, :, np.arange(len(best))].T
        if len(members) == 1:
            claims.append(_alone(found[name], against, name))
        rows += [
            (f"{name} + L2T", *mean(found[name]).tolist()),
            ("p against the best of them", *p_values(found[name], against).tolist()),
            ("published", *_published(name, found.label_counts)),
        ]
    text = paragraph("experiences", train=study.setting.sizes.train, pairs=len(found.names))
    shown = {name: name for name in (THE_PAPERS, *alone)}
    title = "Which algorithms the experiences come from"
    section = _ratios("experiences", title, text, found, shown)
    columns = ("", *label_columns(found))
    table = Table("table-1", "Table 1: one run of a set for each pair.", columns, rows)
    most = "experiences of all eight algorithms teach most"
    claims.append(_best_of(found, most, THE_PAPERS, [*alone], "teachers"))
    return replace(section, tables=[*section.tables, table], claims=claims)


def _alone(ours: Array, theirs: Array, name: str) -> Claim:
    """Return the claim that learning from one algorithm's runs is better than that algorithm."""
    a, b, p = np.nanmean(ours), np.nanmean(theirs), p_of_means(ours, theirs)
    figures = f"{a:.3f} and {b:.3f}, p {p:.1g}"
    text = f"learning from runs of {name} alone is better than {name}"
    return Claim(text, THE_PAPERS, bool(a > b and p < SIGNIFICANT), figures)


def number(study: Study) -> Section:
    """Figure "number of experiences": functions learned from few and many pairs, and their past targets.

    Averages over several orders of the training pairs; the first pairs of each order are the experience.
    """
    total, seed = study.setting.sizes.train, study.setting.seed
    sizes = sorted({n for n in AXIS if n < total} | {total})
    orders = [
        np.random.default_rng([seed, i]).permutation(total).tolist()
        for i in range(study.setting.sizes.orders)
    ]
    still = Plan(n_iter=0)  # nothing is learned: no step
    methods: dict[str, Method] = {"0": PaperMethod(study.function, still, starts=())}
    members: dict[tuple[str, int], list[str]] = {}
    for i, order in enumerate(orders):
        for n in sizes:
            first = sorted(order[:n])
            f = study.from_pairs(f"from-{n}-pairs-{i}", first)
            methods[f"{n} {i}"] = PaperMethod(f)
            members.setdefault((THE_PAPERS, n), []).append(f"{n} {i}")
            if study.past is not None:
                past = study.setting.past(first)
                methods[f"{n} {i} past"] = PaperMethod(f, past=past)
                members.setdefault((WITH_PAST, n), []).append(f"{n} {i} past")
    found = study.varied(methods, "varying their number")
    ratios = {at: np.mean([found[name] for name in names], axis=0) for at, names in members.items()}
    counts = [count for count in SHOWN if count in found.label_counts]
    places = [found.label_counts.index(count) for count in counts]
    columns = ("method", "pairs", *(f"{count} labels" for count in counts), "mean of all")
    rows, series = [], {}
    claims: list[Claim] = []
    for kind in study.ours:
        curve = [found["0"], *(ratios[kind, n] for n in sizes)]
        averages = np.array([np.nanmean(each, axis=1) for each in curve])
        rows += [
            (kind, n, *mean(each)[places].tolist(), float(np.nanmean(each)))
            for n, each in zip([0, *sizes], curve, strict=True)
        ]
        series[kind] = (averages[1:].mean(axis=1), standard_error(averages[1:].T))
        claims += _more_is_better(kind, [0, *sizes], averages)
    text = paragraph("number", pairs=len(found.names), orders=len(orders))
    label = "mean improvement ratio"
    drawn = curves(sizes, series, "all label counts", "training pairs", label, level=None)
    return Section(
        "Number of experiences",
        text,
        [Table("number", "Mean improvement ratio.", columns, rows)],
        [Figure("number", "Mean improvement ratio against the number of training pairs.", drawn)],
        claims=claims,
    )


def _more_is_better(kind: str, sizes: Sequence[int], averages: Array) -> Iterable[Claim]:
    """Yield the claims about a curve over numbers of pairs; `averages` are of shape (numbers, pairs)."""
    steps = np.diff(averages.mean(axis=1))
    p = p_values(averages[-1][:, None], averages[0][:, None])[0]
    first, last = averages[0].mean(), averages[-1].mean()
    yield Claim(
        "experiences help",
        kind,
        bool(last > first and p < SIGNIFICANT),
        f"{first:.3f} with 0 and {last:.3f} with {sizes[-1]} pairs, p {p:.1g}",
    )
    curve = ", ".join(f"{value:.4f}" for value in averages.mean(axis=1))
    yield Claim(
        "more experiences, higher ratios",
        kind,
        bool((steps > 0).all()),
        f"{curve} with {', '.join(map(str, sizes))} pairs",
    )


def components(study: Study) -> Section:
    """Figure "components": the terms of the reflection function alone, in twos, and all."""
    methods: dict[str, Method] = {
        name: PaperMethod(study.variant(f"only-{'-'.join(terms)}", components=terms))
        for name, terms in COMPONENTS.items()
    }
    shared = PaperMethod(study.variant("paper-form", form="paper"))
    methods |= {"equal weights": PaperMethod(study.equal_weights), "one shared beta": shared}
    found = study.varied(methods, "varying components")
    learned, equal = found["all three"], found["equal weights"]
    p = p_of_means(learned, equal)
    text = paragraph("components", pairs=len(found.names))
    section = _ratios("components", "Components", text, found, {name: name for name in methods})
    parts = [name for name in COMPONENTS if name != "all three"]
    claims = [
        _best_of(found, "all three terms are better than one or two", "all three", parts, "terms"),
        Claim(
            "a learned beta is better than an equal one",
            THE_PAPERS,
            bool(np.nanmean(learned) > np.nanmean(equal) and p < SIGNIFICANT),
            f"{np.nanmean(learned):.3f} and {np.nanmean(equal):.3f}, p {p:.1g}",
        ),
    ]
    return replace(section, claims=claims)


def kernels(study: Study) -> Section:
    """Figure "kernels": narrower and wider ranges of bandwidths."""
    methods = {}
    for reach in RANGES:
        bank = KernelBank(-reach, reach, 0.5)
        function = study.with_bank(f"kernels-{reach}", bank)
        methods[f"2^-{reach} ... 2^{reach} ({len(bank)})"] = PaperMethod(function)
    found = study.varied(methods, "varying kernels")
    text = paragraph("kernels", pairs=len(found.names))
    section = _ratios("kernels", "Kernels", text, found, {name: name for name in methods})
    names = [*methods]
    claim = _best_of(found, "more kernels are better than fewer", names[-1], names[:-1], "ranges")
    return replace(section, claims=[claim])


def controls(study: Study) -> Section:
    """Replace the source by noise or by another one, and learn f from permuted ratios."""
    methods: dict[str, Method] = {}
    for kind in study.ours:
        past = study.past if kind == WITH_PAST else None
        for source, title in SOURCES.items():
            methods[f"{kind}, {title}"] = PaperMethod(study.function, source=source, past=past)
        methods[f"{kind}, permuted ratios"] = PaperMethod(study.permuted, past=past)
    found = study.varied(methods, "controls")
    rows, claims = [], []
    for kind in study.ours:
        for name in (name for name in methods if name.startswith(f"{kind}, ")):
            difference = found[kind] - found[name]
            rows.append((f"less {name}", *mean(difference).tolist()))
            rows.append(("p", *p_values(found[kind], found[name]).tolist()))
        noise = found[f"{kind}, {SOURCES['noise']}"]
        p = p_of_means(found[kind], noise)
        gains = [float(np.nanmean(each)) - 1 for each in (found[kind], noise)]
        figures = f"gain {gains[0]:+.3f} with the source, {gains[1]:+.3f} with noise in its place, p {p:.1g}"
        holds = gains[0] > gains[1] and p < SIGNIFICANT
        claims.append(Claim("the gain comes from the source", kind, holds, figures))
    text = paragraph("controls", pairs=len(found.names))
    shown = {name: name for name in (*study.ours, *methods)}
    section = _ratios("controls", "Is it transfer at all?", text, found, shown)
    caption = "What the true source and the true ratios add, and paired t-tests."
    table = Table("controls-differences", caption, ("", *label_columns(found)), rows)
    return replace(section, tables=[*section.tables, table], claims=claims)


def random_classes(study: Study) -> Section:
    """Draw classes at random for all pairs, as in the paper, so that parts may share classes."""
    s = study.setting

    def learned() -> Iterator[Experience]:
        with s.collected(s.sizes.any_class, disjoint=False) as store:
            yield from store.experiences(status="done")

    function = study.variant("any-class", learned)
    any_class = s.pairs("test", s.sizes.varied, disjoint=False)
    again = measure({THE_PAPERS: PaperMethod(function)}, any_class, s, "classes at random")
    few = study.from_pairs("classes-apart", range(s.sizes.any_class))
    apart = study.varied({"few": PaperMethod(few)}, "classes apart")
    shown = (("classes at random", again[THE_PAPERS]), ("classes disjoint", apart["few"]))
    rows = [(name, *mean(found).tolist()) for name, found in shown]
    return Section(
        "Classes at random, and disjoint",
        paragraph("random_classes", train=s.sizes.any_class, pairs=len(apart.names)),
        [Table("random-classes", "Mean improvement ratio.", ("", *label_columns(apart)), rows)],
    )


def settings(study: Study) -> Section:
    """Compare the base algorithms as they ship, as published and as tuned, and with what else there is."""
    bases: dict[str, Method] = {}
    for name in ALGORITHMS:
        bases[f"{name.upper()}, as it ships"] = Base(name)
        bases[f"{name.upper()}, as published"] = Base(name, PUBLISHED[name])
    found = study.varied(bases | study.others, "settings of base algorithms")
    tuned = {name: study.tested[name][: len(found.names)] for name in ALGORITHMS}
    ours = mean(found[THE_PAPERS])
    best = np.max([mean(ratios) for ratios in tuned.values()], axis=0)
    published_best = np.max([mean(found[f"{n.upper()}, as published"]) for n in ALGORITHMS], axis=0)
    rows: list[tuple[object, ...]] = []
    for name in ALGORITHMS:
        for how in ("as it ships", "as published"):
            rows.append((f"{name.upper()}, {how}", *mean(found[f"{name.upper()}, {how}"]).tolist()))
        rows.append((f"{name.upper()}, as tuned", *mean(tuned[name]).tolist()))
    rows += [
        (f"{THE_PAPERS} over the best as tuned", *(ours / best).tolist()),
        (f"{THE_PAPERS} over the best as published", *(ours / published_best).tolist()),
        ("published", *_published_margin(found.label_counts).tolist()),
    ]
    text = paragraph("settings", pairs=len(found.names))
    columns = ("", *label_columns(found))
    beside = {name: name for name in (*study.ours, *study.others)}
    return Section(
        "Settings of base algorithms, and other answers",
        text,
        [
            ratio_table("others", "Mean improvement ratio.", found, beside),
            Table("settings", "Base algorithms by their settings.", columns, rows),
        ],
    )


def _best_of(found: Measured, text: str, name: str, others: Sequence[str], what: str) -> Claim:
    """Return the claim that the paper's method is best with `name`, compared with the best of the others."""
    best = max(others, key=lambda other: float(np.nanmean(found[other])))
    ours, theirs = np.nanmean(found[name]), np.nanmean(found[best])
    p = p_of_means(found[name], found[best])
    test = f"p {p:.1g}" if np.isfinite(p) else "the same on every pair"
    figures = f"{ours:.4f}, and {theirs:.4f} for {best}, the best of the other {what}; {test}"
    return Claim(text, THE_PAPERS, bool(ours > theirs and p < SIGNIFICANT), figures)


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
