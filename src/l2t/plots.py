"""Figures of a transfer, of a comparison and of an explanation.

Each function returns a `matplotlib.figure.Figure`, which needs no display: ``plot_transfer(pair,
found).savefig("both.png")``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from l2t.display import new_figure
from l2t.domains import DomainPair
from l2t.inference import Inference
from l2t.numerics import two_components
from l2t.paper import Explanation
from l2t.typing import Array

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["plot_explanation", "plot_ratios", "plot_transfer"]

PALETTE = tuple(f"C{i}" for i in range(10))


def plot_transfer(pair: DomainPair, inference: Inference) -> Figure:
    """Plot both domains before and after the transfer, in two principal components of all rows.

    Parameters
    ----------
    pair : DomainPair
        The pair; target rows with labels are coloured by class.
    inference : Inference
        The result of `l2t.infer` for the pair.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = new_figure(10, 4.4)
    panels = figure.subplots(1, 2)
    sides = (pair.source.X, pair.target.X)
    transferred = [inference.transform(X) for X in sides]
    title = f"with {inference.choice} (predicted {inference.predicted:.2f})"
    views = (("original features", sides), (title, transferred))
    for axes, (title, rows) in zip(panels, views, strict=True):
        source, target = two_components(*rows)
        axes.scatter(*source.T, s=10, color="0.75", edgecolors="none", label=pair.source.name)
        _scatter_classes(axes, target, pair)
        axes.set_title(title, fontsize=11)
        axes.set(xticks=[], yticks=[])
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False, fontsize=8)
    return figure


def _scatter_classes(axes: Any, rows: Array, pair: DomainPair) -> None:
    """Draw the target rows, labelled ones in the colour of their class."""
    target = pair.target
    style: dict[str, Any] = {"s": 14, "edgecolors": "none", "alpha": 0.85}
    unknown = np.ones(len(rows), dtype=bool) if target.y is None else target.codes < 0
    pale: dict[str, Any] = {"color": "#b9cfe4", "label": target.name if unknown.any() else None}
    axes.scatter(*rows[unknown].T, **pale, **style)
    if unknown.any():
        style["s"] = 26  # the few labelled rows must stand out
    for code, name in enumerate(target.classes):
        at = ~unknown & (target.codes == code)
        colour = PALETTE[code % len(PALETTE)]
        axes.scatter(*rows[at].T, color=colour, label=str(name)[:30], **style)


def plot_ratios(ratios: pd.DataFrame, title: str) -> Figure:
    """Plot the mean improvement ratio of each method over the numbers of labels, with its standard error.

    Parameters
    ----------
    ratios : DataFrame
        One row per measurement, with the columns "method", "labels" and "ratio".
    title : str
        The title.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = new_figure(7, 4.2)
    axes = figure.subplots()
    axes.axhline(1.0, color="0.35", linewidth=1.2, linestyle="--", label="no transfer")
    for at, (name, group) in enumerate(ratios.groupby("method", sort=False)):
        by_count = group.groupby("labels")["ratio"]
        means, errors = by_count.mean(), by_count.sem()
        colour, width = ("black", 2.4) if name == "L2T" else (PALETTE[at % len(PALETTE)], 1.4)
        style: dict[str, Any] = {
            "color": colour,
            "linewidth": width,
            "marker": "o",
            "markersize": 4,
        }
        axes.plot(means, label=name, **style)
        axes.fill_between(means.index, means - errors, means + errors, color=colour, alpha=0.12)
    axes.set_xscale("log")
    counts = ratios["labels"].unique()
    axes.set_xticks(counts, map(str, counts))
    axes.minorticks_off()
    axes.set(xlabel="labelled target rows", ylabel="improvement ratio")
    axes.set_title(title, fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    return figure


def plot_explanation(explanation: Explanation) -> Figure:
    """Plot the weight beta of each kernel over the bandwidths, with its part of each term of 1/f.

    Parameters
    ----------
    explanation : Explanation
        The result of `ReflectionFunction.explain`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = new_figure(7, 3.6)
    axes = figure.subplots()
    bank = explanation.kernels
    width = 0.8 * bank.step
    axes.bar(bank.exponents, explanation.weights, width=width, color="0.8", label="beta")
    axes.set(xlabel="bandwidth exponent p (bandwidth 2^p eta)", ylabel="beta / sum")
    shares = axes.twinx()
    for (name, values), colour in zip(explanation.by_kernel.items(), PALETTE, strict=False):
        shares.plot(bank.exponents, values, color=colour, marker=".", label=name)
    shares.set_ylabel("part of 1/f")
    shares.set_ylim(bottom=0.0)
    figure.legend(loc="outside right upper", frameon=False)
    return figure
