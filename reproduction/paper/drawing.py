"""Drawing of the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from l2t.display import new_figure
from l2t.plots import PALETTE
from l2t.typing import Array
from reproduction.paper.measuring import Measured
from reproduction.paper.section import mean, standard_error

__all__ = ["bars", "curves", "ratio_curves", "small_multiples"]

#: What stands out from the rest.
OURS = "the paper's method"


def ratio_curves(found: Measured, methods: Mapping[str, str], title: str) -> Callable[[], Any]:
    """Draw mean improvement ratios over label counts, with standard errors."""
    series = {name: (mean(found[key]), standard_error(found[key])) for name, key in methods.items()}
    return curves(found.label_counts, series, title, "labelled target rows", "improvement ratio")


def curves(
    x: Sequence[float],
    series: Mapping[str, tuple[Array, Array]],
    title: str,
    xlabel: str,
    ylabel: str,
    *,
    level: float | None = 1.0,
) -> Callable[[], Any]:
    """Draw one curve per series over a logarithmic x, with a band of standard errors."""

    def draw() -> Any:
        figure = new_figure(8, 4.6)
        axes = figure.subplots()
        _curves(axes, x, series, level)
        axes.set(xlabel=xlabel, ylabel=ylabel)
        axes.set_title(title, fontsize=11)
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
        return figure

    return draw


def small_multiples(
    x: Sequence[float], panels: Mapping[str, Mapping[str, Array]], ylabel: str
) -> Callable[[], Any]:
    """Draw panels of curves with one legend."""

    def draw() -> Any:
        n = len(panels)
        columns = min(3, n)
        rows = -(-n // columns)
        figure = new_figure(11, 3.4 * rows)
        grid = figure.subplots(rows, columns, squeeze=False)
        for axes, (title, series) in zip(grid.flat, panels.items(), strict=False):
            none = {name: (y, np.zeros_like(y)) for name, y in series.items()}
            _curves(axes, x, none, None)
            axes.set_title(title, fontsize=9)
        for axes in grid.flat[n:]:
            axes.axis("off")
        for axes in grid[-1]:
            axes.set_xlabel("labelled target rows")
        for axes in grid[:, 0]:
            axes.set_ylabel(ylabel)
        handles, labels = grid.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
        return figure

    return draw


def bars(x: Sequence[float], y: Array, title: str, xlabel: str, ylabel: str) -> Callable[[], Any]:
    """Draw bars."""

    def draw() -> Any:
        figure = new_figure(7, 3.6)
        axes = figure.subplots()
        axes.bar(x, y, width=0.4, color="#30618c")
        axes.set(xlabel=xlabel, ylabel=ylabel)
        axes.set_title(title, fontsize=11)
        _plain(axes)
        return figure

    return draw


def _curves(
    axes: Any,
    x: Sequence[float],
    series: Mapping[str, tuple[Array, Array]],
    level: float | None,
) -> None:
    if level is not None:
        axes.axhline(level, color="0.35", linewidth=1.2, linestyle="--", label="no transfer")
    for at, (name, (y, error)) in enumerate(series.items()):
        colour, width = ("black", 2.4) if name == OURS else (PALETTE[at % len(PALETTE)], 1.4)
        style = "-" if at < len(PALETTE) or name == OURS else "--"  # colours begin again
        if name.startswith(f"{OURS} "):
            colour, style = "0.3", ("--", ":", "-.")[at % 3]
        look = {"marker": "o", "markersize": 3.5, "color": colour, "linestyle": style}
        axes.plot(x, y, linewidth=width, label=name, **look)
        if np.any(error):
            axes.fill_between(x, y - error, y + error, color=colour, alpha=0.12)
    axes.set_xscale("log")
    shown = [value for at, value in enumerate(x) if at % max(1, -(-len(x) // 6)) == 0]
    axes.set_xticks(shown, [f"{value:g}" for value in shown])
    axes.minorticks_off()
    _plain(axes)


def _plain(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
