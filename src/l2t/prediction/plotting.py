"""The figure of a report."""

from __future__ import annotations

from typing import Any

from l2t.exceptions import MissingExtraError
from l2t.prediction.report import Report

__all__ = ["plot_report"]


def plot_report(report: Report) -> Any:
    """Return a `matplotlib.figure.Figure` of the accuracies to expect, and of those measured."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("a plot", "plots") from None
    figure = Figure(figsize=(7, 0.4 * len(report.rows) + 1), layout="constrained")
    axes = figure.subplots()
    names = [row.name for row in report.rows]
    colours = ["C0" if row.used else "C7" for row in report.rows]
    axes.barh(names, [row.expected or 0.0 for row in report.rows], color=colours)
    for row in report.rows:
        if row.measured is not None:
            axes.errorbar(row.measured, row.name, xerr=row.error, fmt="o", color="k")
    axes.set(xlabel="accuracy (bars: expected; dots: on the labelled rows)", xlim=(0, 1))
    axes.invert_yaxis()
    return figure
