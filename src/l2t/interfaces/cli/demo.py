"""`l2t demo`: the whole story on embedded data, from experiences to new pairs, as a table and a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from l2t.domains import DomainPair, PairSampler, digits, mnist, normalize
from l2t.experiences import collect, open_store
from l2t.inference.comparison import TransferStudy, measure_transfer
from l2t.inference.tuning import choose_plans
from l2t.interfaces.cli.formats import Format
from l2t.interfaces.cli.output import say, show_rows
from l2t.interfaces.cli.report import check_report, write_report
from l2t.plots import check_figure_path, plot_ratios
from l2t.reflection import ReflectionFunction, learn

__all__ = ["demo_rows", "digit_pairs", "run_demo"]

TRAINING_PAIRS, VALIDATION_PAIRS = 24, 8


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
    """Collect, learn, infer, and print a table to standard output."""
    check_report(report)
    if plot is not None:
        check_figure_path(plot)
    start = time.perf_counter()
    say(f"1/4 collecting: eight algorithms on {TRAINING_PAIRS} pairs of digit classes", quiet)
    with open_store("memory://") as store:
        pairs = digit_pairs(TRAINING_PAIRS, 3 * seed)
        collect(pairs, store, n_jobs=jobs, progress=not quiet)
        say(f"2/4 learning the reflection function from {store.count()} experiences", quiet)
        function = learn(store.experiences())
    say(f"3/4 choosing how to search W on {VALIDATION_PAIRS} validation pairs", quiet)
    held = digit_pairs(VALIDATION_PAIRS, 3 * seed + 1)
    function = choose_plans(function, held, n_jobs=jobs)
    say(f"4/4 testing on {n_pairs} new pairs", quiet)
    tests = digit_pairs(n_pairs, 3 * seed + 2)
    study = measure_transfer(tests, function, n_jobs=jobs)
    if format is Format.table:
        Console(highlight=False).print(_table(study))
        print(
            f"{n_pairs} new pairs of three digit classes each, UCI digits <-> MNIST. A ratio above 1 means\n"
            "that the transfer helped; 1 stands for 1-NN without transfer. L2T uses W where its verdict is\n"
            f"to transfer. Took {time.perf_counter() - start:.0f} s."
        )
    else:
        show_rows(demo_rows(study), format)
    title = f"UCI digits <-> MNIST, mean of {n_pairs} new pairs"
    if plot is not None:
        plot_ratios(study, title).savefig(plot, dpi=150)
        say(f"Picture: {plot}", quiet)
    write_report(report, study, function, title, tests[0])
    say(f"Report with pictures: {report}", quiet)
    say(_next(function), quiet)


def digit_pairs(n_pairs: int, random_state: int) -> list[DomainPair]:
    """Draw pairs of UCI digits and MNIST, by turns from one to the other and back."""
    first, second = normalize(digits()), normalize(mnist())
    each = -(-n_pairs // 2)
    samplers = [
        PairSampler(first, second, each, random_state=2 * random_state),
        PairSampler(second, first, each, random_state=2 * random_state + 1),
    ]
    return [samplers[i % 2][i // 2] for i in range(n_pairs)]


def _next(function: ReflectionFunction) -> str:
    runs = function.training["runs"]
    return (
        f"This function knows {runs} runs on digits; the one that ships with l2t knows more. Next:\n"
        "  l2t transfer SOURCE.csv TARGET.csv --labels 15 -o transformed.csv\n"
        "  l2t collect SOURCE.npz TARGET.npz && l2t learn   # experiences of your own"
    )


def demo_rows(study: TransferStudy) -> list[dict[str, Any]]:
    """Return one row a method and number of labels."""
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


def _short(error: float) -> str:
    """Return a number below 1 in two digits, without its zero."""
    return f"{error:.2f}".lstrip("0")


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
        cells = [
            f"[bold]{mean:.3f}[/]±{_short(error)}" if mean == top else f"{mean:.3f}±{_short(error)}"
            for mean, error, top in zip(
                study.mean(ratios), study.standard_error(ratios), best, strict=True
            )
        ]
        table.add_row(name, *cells)
    table.add_section()
    table.add_row("1.000 means", *(f"{100 * a:.1f} %" for a in study.mean(study.original)))
    return table
