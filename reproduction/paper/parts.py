"""Every table and figure of the paper's experiments; one function each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
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
from reproduction.paper.study import ALGORITHMS, THE_PAPERS, WITH_PAST, Study

__all__ = [
    "average",
    "components",
    "experiences",
    "kernels",
    "number",
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
    text = paragraph(
        "average",
        pairs=len(found.names),
        past=study.past is not None,
        plan=study.search[0],
        starts=study.search[1],
        teacher=study.teacher.upper(),
    )
    shown = bases | {name: name for name in ours}
    section = _ratios("average", "Average improvement ratio", text, found, shown)
    return replace(
        section,
        tables=[*section.tables, *tables],
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

    methods = {}
    for name, members in SETS.items():
        kept = f"from-{name.replace('/', '-').lower()}"
        function = study.variant(kept, partial(one_run_per_pair, members))
        methods[name] = study.paper(function)
    found = study.varied(methods, "varying experiences")
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
    rows += [(f"{name}, for comparison", *mean(found[name]).tolist()) for name in study.ours]
    title = "Table 1: which algorithms the experiences come from"
    text = paragraph("experiences", train=study.setting.sizes.train, pairs=len(found.names))
    shown = {name: name for name in (*SETS, *study.ours)}
    figures = _ratios("experiences", title, text, found, shown).figures
    columns = ("", *label_columns(found))
    table = Table("experiences", "Mean improvement ratio.", columns, rows)
    others = [name for name in SETS if name != "all"]
    most = "experiences of all eight algorithms teach most"
    claims.append(_best_of(found, most, "all", others, "sets"))
    return Section(title, text, [table], figures, claims=claims)


def _alone(ours: Array, theirs: Array, name: str) -> Claim:
    """Return the claim that learning from one algorithm's runs is better than that algorithm."""
    a, b, p = np.nanmean(ours), np.nanmean(theirs), p_of_means(ours, theirs)
    figures = f"{a:.3f} and {b:.3f}, p {p:.1g}"
    text = f"learning from runs of {name} alone is better than {name}"
    return Claim(text, THE_PAPERS, bool(a > b and p < SIGNIFICANT), figures)


def number(study: Study) -> Section:
    """Figure "number of experiences": for the paper's method, and past targets of the same pairs for L2T."""
    total = study.setting.sizes.train
    sizes = sorted({max(3, round(total * share)) for share in (0.025, 0.05, 0.1, 0.25, 1.0)})
    methods: dict[str, Method] = {f"paper {n}": study.paper(study.first_pairs(n)) for n in sizes}
    still = replace(study.search[0], n_iter=0)
    methods["pca"] = PaperMethod(study.function, still, starts=())  # nothing learned: no step
    kinds = {"paper": THE_PAPERS}
    if study.past is not None:
        methods |= {f"past {n}": L2T(study.setting.past(n)) for n in sizes}
        kinds["past"] = WITH_PAST
    found = study.varied(methods, "varying their number")
    counts = [count for count in (3, 15, 30, 60, 120) if count in found.label_counts]
    at = [found.label_counts.index(count) for count in counts]
    runs = [n * len(ALGORITHMS) for n in sizes]
    tables, figures, changes, claims = [], [], [], []
    without = {THE_PAPERS: "pca", WITH_PAST: "L2T"}
    for kind, title in kinds.items():
        means = np.array([mean(found[f"{kind} {n}"])[at] for n in sizes])
        errors = np.array([standard_error(found[f"{kind} {n}"])[at] for n in sizes])
        rows = [(run, *row.tolist()) for run, row in zip(runs, means, strict=True)]
        rows.insert(0, (0, *mean(found[without[title]])[at].tolist()))
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
        none, few, many = (
            found[each] for each in (without[title], f"{kind} {sizes[0]}", f"{kind} {sizes[-1]}")
        )
        changes.append({"title": title, "first": np.nanmean(few), "last": np.nanmean(many)})
        several = {
            "experiences help": (none, 0),
            "more experiences, higher ratios": (few, runs[0]),
        }
        for text, (fewer, n_fewer) in several.items():
            first, last, p = np.nanmean(fewer), np.nanmean(many), p_of_means(many, fewer)
            shown = f"{first:.3f} with {n_fewer} and {last:.3f} with {runs[-1]}, p {p:.1g}"
            claims.append(Claim(text, title, bool(last > first and p < SIGNIFICANT), shown))
    text = paragraph(
        "number", pairs=len(found.names), changes=changes, fewest=runs[0], most=runs[-1]
    )
    return Section("Number of experiences", text, tables, figures, claims=claims)


def components(study: Study) -> Section:
    """Figure "components": the terms of the reflection function alone, in twos, and all."""
    methods = {
        name: study.paper(study.variant(f"only-{'-'.join(terms)}", components=terms))
        for name, terms in COMPONENTS.items()
    }
    methods["all three, equal beta"] = study.paper(study.equal_beta)
    found = study.varied(methods, "varying components")
    learned, equal = found["all three"], found["all three, equal beta"]
    p = p_of_means(learned, equal)
    text = paragraph("components", pairs=len(found.names))
    title = "Components"
    section = _ratios("components", title, text, found, {name: name for name in found.rows})
    candidates = _candidates(study)
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
    return replace(section, tables=[*section.tables, candidates], claims=claims)


def _candidates(study: Study) -> Table:
    """Return the ratios of each candidate of L2T if it were always used, and of the choice."""
    found, rows = study.tested, []
    for kind in [name for name in study.ours if name.startswith("L2T")]:
        names = [name for name in found.rows[kind][0]["candidates"] if name != "identity"]
        every = []
        for name in names:
            of_it = [{"ratio": row["candidates"].get(name, [])} for row in found.rows[kind]]
            every.append(replace(found, rows={name: of_it})[name])
            rows.append((f"{kind}: always {name}", *mean(every[-1]).tolist()))
        rows.append((f"{kind}: its choice", *mean(found[kind]).tolist()))
        best = np.nanmax([*every, np.ones_like(every[0])], axis=0)
        rows.append((f"{kind}: the best by the test rows (unattainable)", *mean(best).tolist()))
    caption = f"The candidates of L2T, on {len(found.names)} testing pairs."
    return Table("candidates", caption, ("", *label_columns(found)), rows)


def kernels(study: Study) -> Section:
    """Figure "kernels": narrower and wider ranges of bandwidths."""
    methods = {}
    for reach in RANGES:
        bank = KernelBank(-reach, reach, 0.5)
        function = study.with_bank(f"kernels-{reach}", bank)
        methods[f"2^-{reach} ... 2^{reach} ({len(bank)})"] = study.paper(function)
    found = study.varied(methods, "varying kernels")
    text = paragraph("kernels", pairs=len(found.names))
    section = _ratios("kernels", "Kernels", text, found, {name: name for name in found.rows})
    names = [*methods]
    claim = _best_of(found, "more kernels are better than fewer", names[-1], names[:-1], "ranges")
    return replace(section, claims=[claim])


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
