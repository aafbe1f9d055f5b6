"""Figures of a transfer, of a comparison and of an explanation; nothing is computed here.

Each function returns a `matplotlib.figure.Figure`, which needs no display: ``plot_transfer(pair,
found).savefig("both.png")``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from l2t.display import new_figure
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.inference import Inference
from l2t.inference.comparison import TransferStudy
from l2t.numerics import two_components
from l2t.reflection import Explanation

__all__ = ["check_figure_path", "plot_explanation", "plot_ratios", "plot_transfer"]

FORMATS = (".png", ".svg", ".pdf")
PALETTE = tuple(f"C{i}" for i in range(10))


def check_figure_path(path: Path) -> None:
    """Raise InvalidInputError where no figure can be written to `path`."""
    if path.suffix.lower() not in FORMATS:
        raise InvalidInputError(f"a figure must end in {', '.join(FORMATS)}, got {path.name!r}")
    if not path.parent.is_dir():
        raise InvalidInputError(f"the folder of a figure must exist, got {str(path.parent)!r}")


def plot_transfer(pair: DomainPair, found: Inference) -> Any:
    """Plot both domains before and after the transfer, each in two principal components of both together.

    Parameters
    ----------
    pair : DomainPair
        The pair; target rows with labels are coloured by class.
    found : Inference
        What was inferred for it.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = new_figure(10, 4.4)
    panels = figure.subplots(1, 2)
    sides = (pair.source.X, pair.target.X)
    views = {
        "as they are": sides,
        f"with {found.choice} (predicted {found.predicted:.2f})": [
            found.transform(X) for X in sides
        ],
    }
    for axes, (title, rows) in zip(panels, views.items(), strict=True):
        source, target = two_components(*rows)
        axes.scatter(*source.T, s=10, color="0.75", edgecolors="none", label=pair.source.name)
        _scatter_classes(axes, target, pair)
        axes.set_title(title, fontsize=11)
        axes.set(xticks=[], yticks=[])
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False, fontsize=8)
    return figure


def _scatter_classes(axes: Any, rows: Any, pair: DomainPair) -> None:
    """Draw target rows, one colour per class where there are labels."""
    target = pair.target
    style = {"s": 14, "edgecolors": "none", "alpha": 0.85}
    unknown = np.ones(len(rows), dtype=bool) if target.y is None else target.codes < 0
    pale = {"color": "#b9cfe4", "label": target.name if unknown.any() else None}
    axes.scatter(*rows[unknown].T, **pale, **style)
    if unknown.any():
        style["s"] = 26  # the few labelled rows must stand out
    for code, name in enumerate(target.classes):
        at = ~unknown & (target.codes == code)
        colour = PALETTE[code % len(PALETTE)]
        axes.scatter(*rows[at].T, color=colour, label=str(name)[:30], **style)


def plot_ratios(study: TransferStudy, title: str) -> Any:
    """Plot the mean improvement ratio of each algorithm and of L2T over the label counts.

    Parameters
    ----------
    study : TransferStudy
        What was measured.
    title : str
        The title.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = new_figure(7, 4.2)
    axes = figure.subplots()
    counts = study.label_counts
    axes.plot([counts[0], counts[-1]], [1.0, 1.0], color="0.35", linewidth=1.2, linestyle="--")
    axes.annotate("no transfer", (counts[-1], 1.0), xytext=(8, -4), **_BESIDE)
    lines = [*zip(study.names, study.base, strict=True), ("L2T", study.l2t)]
    ends = _spread([float(study.mean(ratios)[-1]) for _, ratios in lines], taken=1.0, gap=0.022)
    for at, (name, ratios) in enumerate(lines):
        means, errors = study.mean(ratios), study.standard_error(ratios)
        colour, width = ("black", 2.4) if name == "L2T" else (PALETTE[at % len(PALETTE)], 1.4)
        axes.plot(counts, means, marker="o", markersize=4, color=colour, linewidth=width)
        axes.fill_between(counts, means - errors, means + errors, color=colour, alpha=0.12)
        label = {"xy": (counts[-1], ends[at]), "xytext": (8, -4)}
        axes.annotate(name, **label, color=colour, weight="bold", **_BESIDE)
    axes.set_xscale("log")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.set_xlim(right=counts[-1] * 1.6)
    axes.set(xlabel="labelled target rows", ylabel="improvement ratio")
    axes.set_ylim(bottom=min(axes.get_ylim()[0], min(ends) - 0.01))  # names outside are not drawn
    axes.set_title(title, fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


_BESIDE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9}


def _spread(heights: list[float], *, taken: float, gap: float) -> list[float]:
    """Move labels apart, downwards from the highest, and away from the height that is taken."""
    placed = [taken]
    moved = dict.fromkeys(range(len(heights)), 0.0)
    for at in sorted(moved, key=lambda each: -heights[each]):
        height = heights[at]
        while any(abs(height - other) < gap for other in placed):
            height -= gap / 4
        placed.append(height)
        moved[at] = height
    return [moved[at] for at in range(len(heights))]


def plot_explanation(explanation: Explanation) -> Any:
    """Plot beta over the bandwidths, with the part of each term of 1/f at every kernel.

    Parameters
    ----------
    explanation : Explanation
        The prediction in parts.

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
    handles = [each.get_legend_handles_labels() for each in (axes, shares)]
    both = (a + b for a, b in zip(*handles, strict=True))
    axes.legend(*both, loc="upper right", frameon=False)
    return figure
