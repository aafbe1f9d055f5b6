"""`l2t demo`: the whole story on embedded data, from experiences to new pairs, as a table and a report."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from l2t.experiences import collect, open_store
from l2t.experiments.families import draw_pairs
from l2t.experiments.figures import check_figure_path, draw_ratios
from l2t.experiments.transfer import TransferStudy, measure_transfer
from l2t.inference.tuning import choose_plans
from l2t.interfaces.cli.report import write_report
from l2t.reflection import ReflectionFunction, learn

__all__ = ["run_demo"]

TRAINING_PAIRS, VALIDATION_PAIRS = 24, 8


def run_demo(n_pairs: int, seed: int, jobs: int, plot: Path | None, report: Path | None) -> None:
    """Collect, learn, infer, and print a table to standard output."""
    if plot is not None:
        check_figure_path(plot)
    start = time.perf_counter()
    say = Console(stderr=True, highlight=False).print
    say(f"1/4 collecting experiences: eight algorithms on {TRAINING_PAIRS} pairs of digit classes")
    with open_store("memory://") as store:
        pairs = draw_pairs("digits", "train", TRAINING_PAIRS, random_state=seed)
        collect(pairs, store, n_jobs=jobs)
        say(f"2/4 learning the reflection function from {store.count()} experiences")
        function = learn(store.experiences())
    say(f"3/4 choosing how to search W on {VALIDATION_PAIRS} validation pairs")
    held = draw_pairs("digits", "validation", VALIDATION_PAIRS, random_state=seed)
    function = choose_plans(function, held, n_jobs=jobs)
    say(f"4/4 testing on {n_pairs} new pairs")
    tests = draw_pairs("digits", "test", n_pairs, random_state=seed)
    study = measure_transfer(tests, function, n_jobs=jobs)
    console = Console()
    console.print(_table(study))
    console.print(
        f"{n_pairs} new pairs of three digit classes each, UCI digits <-> MNIST. A ratio above 1 means that "
        "the transfer helped; 1 stands for 1-NN without transfer. L2T uses W where its verdict is to "
        f"transfer. Took {time.perf_counter() - start:.0f} s.",
        highlight=False,
    )
    title = f"UCI digits <-> MNIST, mean of {n_pairs} new pairs"
    if plot is not None:
        draw_ratios(study, plot, title)
        console.print(f"Drawn to {plot}.", highlight=False)
    if report is not None:
        write_report(report, study, function, title, tests[0])
        console.print(f"Report with pictures: {report}", highlight=False)
    console.print(_next(function), highlight=False)


def _next(function: ReflectionFunction) -> str:
    runs = function.training["runs"]
    return (
        f"This function knows {runs} runs on digits; the one that ships with l2t knows more. Next:\n"
        "  l2t transfer SOURCE.csv TARGET.csv --labels 15 -o transformed.csv\n"
        "  l2t collect SOURCE.npz TARGET.npz && l2t learn   # experiences of your own"
    )


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
    table.add_row("1 means", *(f"{100 * a:.1f} %" for a in study.mean(study.original)))
    return table
