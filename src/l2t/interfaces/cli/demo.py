"""`l2t demo`: the table of the base algorithms on embedded data."""

from __future__ import annotations

import time
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from l2t import algorithms
from l2t.domains import PairSampler, digits, mnist, normalize
from l2t.experiments import BaseRatios, measure_base_ratios
from l2t.experiments.figures import check_figure_path, draw_base_ratios
from l2t.progress import progress_bar

__all__ = ["run_demo"]


def run_demo(n_pairs: int, seed: int, plot: Path | None) -> None:
    """Measure, and print a table to standard output."""
    if plot is not None:
        check_figure_path(plot)
    start = time.perf_counter()
    with progress_bar(n_pairs * len(algorithms.names()), "loading digits and MNIST") as advance:
        source, target = normalize(digits()), normalize(mnist())
        pairs = PairSampler(source, target, n_pairs, random_state=seed)
        with threadpool_limits(limits=1):  # matrices this small are slower on several threads
            measured = measure_base_ratios(pairs, progress=advance)
    console = Console()
    console.print(_table(measured))
    rows, columns = pairs[0].target.X.shape
    console.print(
        f"{n_pairs} pairs of 3 digit classes each, UCI digits -> MNIST, about {rows} target rows of "
        f"{columns} features.\nA ratio above 1 means that the transfer helped; 1 stands for the accuracy "
        f"without transfer.\nTook {time.perf_counter() - start:.0f} s.",
        highlight=False,
    )
    if plot is not None:
        draw_base_ratios(measured, plot, f"UCI digits → MNIST, mean of {n_pairs} pairs")
        console.print(f"Drawn to {plot}.", highlight=False)


def _short(error: float) -> str:
    """Return a number below 1 in two digits, without its zero."""
    return f"{error:.2f}".lstrip("0")


def _table(measured: BaseRatios) -> Table:
    title = "Improvement ratio by number of labelled target rows (± standard error)"
    table = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for count in measured.label_counts:
        table.add_column(str(count), justify="right", no_wrap=True)
    table.add_column("s a fit", justify="right", no_wrap=True)
    best = measured.mean.max(axis=0)
    for name, means, errors, seconds in zip(
        measured.names, measured.mean, measured.standard_error, measured.seconds, strict=True
    ):
        cells = [
            f"[bold]{mean:.3f}[/]±{_short(error)}" if mean == top else f"{mean:.3f}±{_short(error)}"
            for mean, error, top in zip(means, errors, best, strict=True)
        ]
        table.add_row(name, *cells, f"{seconds:.2f}")
    table.add_section()
    original = measured.original.mean(axis=0)
    table.add_row("1 means", *(f"{100 * a:.1f} %" for a in original), "")
    return table
