"""`l2t demo`: the whole story on embedded data, from experiences to new pairs, as a table and a report."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from l2t.algorithms import PAPER
from l2t.domains import Domain, DomainPair, PairSampler, digits, mnist, normalize
from l2t.experiences import collect, open_store
from l2t.inference.comparison import TransferStudy, measure_transfer
from l2t.interfaces.cli.output import Format, say, show_rows
from l2t.interfaces.cli.report import check_report, write_report
from l2t.plots import check_figure_path, plot_ratios
from l2t.reflection import ReflectionFunction, learn

__all__ = ["demo_rows", "digit_pairs", "measure_demo", "run_demo", "wide_pairs"]

TRAINING_PAIRS = 12
#: Classes of a target, and rows of a class at most.
N_CLASSES, MAX_PER_CLASS = 3, 80


def run_demo(
    n_pairs: int,
    seed: int,
    jobs: int,
    plot: Path | None,
    report: Path,
    format: Format,
    *,
    quiet: bool,
) -> None:
    """Collect, learn, transfer, and print a table to standard output."""
    check_report()
    if plot is not None:
        check_figure_path(plot)
    start = time.perf_counter()
    say(f"1/3 collecting: eight algorithms on {TRAINING_PAIRS} pairs of digit classes", quiet)
    with open_store("memory://") as store:
        pairs = digit_pairs(TRAINING_PAIRS, 2 * seed)
        collect(pairs, store, algorithms=PAPER, n_jobs=jobs, progress=not quiet)
        say(f"2/3 learning the reflection function from {store.count()} experiences", quiet)
        function = learn(store.experiences())
    say(f"3/3 testing on {n_pairs} new pairs", quiet)
    tests = wide_pairs(n_pairs, 2 * seed + 1)
    study = measure_demo(tests, function, n_jobs=jobs, progress=not quiet)
    if format is Format.table:
        Console(highlight=False).print(_table(study))
        print(
            f"{n_pairs} new pairs, UCI digits <-> MNIST: the source has seven digits of one kind, the\n"
            "target the other three of the other kind. A ratio above 1 means that the transfer helped;\n"
            "1 stands for 1-NN without transfer. 'paper' searches with the function that was just\n"
            "learned. L2T rehearses on the classes of the source, and does not transfer where nothing\n"
            f"should help. Took {time.perf_counter() - start:.0f} s."
        )
    else:
        show_rows(demo_rows(study), format)
    title = f"UCI digits <-> MNIST, mean of {n_pairs} new pairs"
    if plot is not None:
        plot_ratios(study, title).savefig(plot, dpi=150)
        say(f"Picture: {plot}", quiet)
    write_report(report, study, function, title, tests[0])
    say(f"Report with pictures: {report}", quiet)
    say(
        "Next, with files of your own:\n"
        "  l2t predict SOURCE.csv TARGET.csv --label COLUMN -o predictions.csv\n"
        "  l2t collect SOURCE.npz TARGET.npz && l2t learn   # experiences of your own",
        quiet,
    )


def digit_pairs(n_pairs: int, random_state: int) -> list[DomainPair]:
    """Draw pairs of three and three digits of UCI and MNIST, by turns from one to the other and back."""
    first, second = normalize(digits()), normalize(mnist())
    each = -(-n_pairs // 2)
    samplers = [
        PairSampler(first, second, each, random_state=2 * random_state),
        PairSampler(second, first, each, random_state=2 * random_state + 1),
    ]
    return [samplers[i % 2][i // 2] for i in range(n_pairs)]


def wide_pairs(n_pairs: int, random_state: int) -> list[DomainPair]:
    """Draw pairs whose source has all digits that the target does not have, seven of them."""
    sides = normalize(digits()), normalize(mnist())
    pairs = []
    for i in range(n_pairs):
        rng = np.random.default_rng([random_state, i])
        source, target = sides if i % 2 == 0 else sides[::-1]
        order = rng.permutation(len(target.classes))
        pairs.append(
            DomainPair(
                _only(source, np.sort(order[N_CLASSES:]), rng),
                _only(target, np.sort(order[:N_CLASSES]), rng),
            )
        )
    return pairs


def _only(domain: Domain, codes: Iterable[int], rng: np.random.Generator) -> Domain:
    """Return at most 80 random rows of each of some classes."""
    rows = [rng.permutation(np.flatnonzero(domain.codes == code))[:MAX_PER_CLASS] for code in codes]
    names = ", ".join(str(domain.classes[code]) for code in codes)
    return domain.take(np.sort(np.concatenate(rows)), name=f"{domain.name}[{names}]")


def measure_demo(
    pairs: list[DomainPair], function: ReflectionFunction, *, n_jobs: int, progress: bool
) -> TransferStudy:
    """Measure the base algorithms, the paper's search with a function, and L2T."""
    shared: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
    study = measure_transfer(pairs, **shared)
    paper = measure_transfer(pairs, names=(), method="paper", reflection=function, **shared)
    return replace(
        study, names=(*study.names, "paper"), base=np.concatenate([study.base, paper.l2t[None]])
    )


def demo_rows(study: TransferStudy) -> list[dict[str, Any]]:
    """Return one row per method and number of labels."""
    named = [*zip(study.names, study.base, strict=True), ("l2t", study.l2t)]
    columns = {
        name: zip(study.label_counts, study.mean(r), study.standard_error(r), strict=True)
        for name, r in named
    }
    return [
        {"method": name, "labels": count, "ratio": float(mean), "standard_error": float(error)}
        for name, cells in columns.items()
        for count, mean, error in cells
    ]


def _table(study: TransferStudy) -> Table:
    title = "Improvement ratio by number of labelled target rows (± standard error)"
    table = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for count in study.label_counts:
        table.add_column(str(count), justify="right", no_wrap=True)
    rows = [*zip(study.names, study.base, strict=True), ("L2T", study.l2t)]
    table.add_row("no transfer", *("1.000" for _ in study.label_counts))
    best = np.max([study.mean(ratios) for _, ratios in rows], axis=0)
    for name, ratios in rows:
        if name == "L2T":
            table.add_section()
        cells = []
        for mean, error, top in zip(
            study.mean(ratios), study.standard_error(ratios), best, strict=True
        ):
            shown = f"[bold]{mean:.3f}[/]" if mean == top else f"{mean:.3f}"
            cells.append(shown + "±" + f"{error:.2f}".lstrip("0"))
        table.add_row(name, *cells)
    table.add_section()
    table.add_row("1.000 means", *(f"{100 * a:.1f} %" for a in study.mean(study.original)))
    return table
