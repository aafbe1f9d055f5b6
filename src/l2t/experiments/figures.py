"""Figures from measured numbers; nothing is computed here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError, MissingExtraError
from l2t.experiments.prediction import PredictionStudy
from l2t.experiments.transfer import TransferStudy
from l2t.inference import Inference
from l2t.numerics import two_components

__all__ = [
    "check_figure_path",
    "draw_prediction",
    "draw_ratios",
    "draw_transfer",
    "plot_transfer",
    "pyplot",
]

FORMATS = (".png", ".svg", ".pdf")


def check_figure_path(path: Path) -> None:
    """Refuse a path that no figure can be written to, before anything is measured."""
    if path.suffix.lower() not in FORMATS:
        raise InvalidInputError(f"a figure must end in {', '.join(FORMATS)}, got {path.name!r}")
    if not path.parent.is_dir():
        raise InvalidInputError(f"the folder of a figure must exist, got {str(path.parent)!r}")


def draw_ratios(study: TransferStudy, path: Path, title: str) -> None:
    """Draw the mean improvement ratio of each algorithm and of L2T over the label counts."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    counts = study.label_counts
    axes.plot([counts[0], counts[-1]], [1.0, 1.0], color="0.35", linewidth=1.2, linestyle="--")
    axes.annotate("no transfer", (counts[-1], 1.0), xytext=(8, -4), **_BESIDE)
    lines = [*zip(study.names, study.base, strict=True), ("L2T", study.l2t)]
    palette = plt.get_cmap("tab10").colors
    ends = _spread([float(study.mean(ratios)[-1]) for _, ratios in lines], taken=1.0, gap=0.022)
    for at, (name, ratios) in enumerate(lines):
        means, errors = study.mean(ratios), study.standard_error(ratios)
        colour, width = ("black", 2.4) if name == "L2T" else (palette[at % len(palette)], 1.4)
        axes.plot(counts, means, marker="o", markersize=4, color=colour, linewidth=width)
        axes.fill_between(counts, means - errors, means + errors, color=colour, alpha=0.12)
        label = {"xy": (counts[-1], ends[at]), "xytext": (8, -4)}
        axes.annotate(name, **label, color=colour, weight="bold", **_BESIDE)
    axes.set_xscale("log")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.set_xlim(right=counts[-1] * 1.6)
    axes.set_xlabel("labelled target rows")
    axes.set_ylabel("improvement ratio")
    axes.set_title(title, fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_prediction(study: PredictionStudy, path: Path) -> None:
    """Draw predicted against actual ratios, one colour an algorithm, and beta over the bandwidths."""
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    named = np.array(study.algorithms)
    for name, colour in zip(
        sorted(set(study.algorithms)), plt.get_cmap("tab10").colors, strict=False
    ):
        at = named == name
        style = {"s": 10, "alpha": 0.7, "color": colour, "edgecolors": "none"}
        left.scatter(study.predicted[at], study.actual[at], label=name, **style)
    ends = [study.predicted.min(), study.predicted.max()]
    left.plot(ends, ends, color="0.35", linewidth=1.2, linestyle="--")
    left.set(xlabel="predicted improvement ratio", ylabel="actual improvement ratio")
    left.legend(frameon=False, fontsize=8, ncols=2)
    correlation = study.rank_correlations["all three"]
    left.set_title(f"unseen classes, rank correlation {correlation:.2f}", fontsize=11)
    function = study.reflection
    right.bar(
        function.kernels.exponents, function.beta / max(function.beta.sum(), 1e-300), width=0.4
    )
    right.set(xlabel="p of the bandwidth 2^p eta", ylabel="beta / its sum")
    right.set_title("which kernels were learned", fontsize=11)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_transfer(pair: DomainPair, found: Inference, path: Path) -> None:
    """Draw both domains before and after W, each in two principal components of both together."""
    plt = pyplot()
    figure = plot_transfer(plt, pair, found)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def plot_transfer(plt: Any, pair: DomainPair, found: Inference) -> Any:
    """Return the figure of `draw_transfer`."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    sides = (pair.source.X, pair.target.X)
    views = {
        "as they are": sides,
        f"under W (predicted {found.predicted:.2f}, {found.verdict})": [X @ found.W for X in sides],
    }
    for axes, (title, rows) in zip(panels, views.items(), strict=True):
        source, target = two_components(*rows)
        axes.scatter(*source.T, s=10, color="0.75", edgecolors="none", label=pair.source.name)
        _scatter_classes(plt, axes, target, pair)
        axes.set_title(title, fontsize=11)
        axes.set(xticks=[], yticks=[])
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False, fontsize=8)
    return figure


def _scatter_classes(plt: Any, axes: Any, rows: Any, pair: DomainPair) -> None:
    """Draw target rows, one colour a class where labels are there."""
    target = pair.target
    style = {"s": 14, "edgecolors": "none", "alpha": 0.85}
    unknown = np.ones(len(rows), dtype=bool) if target.y is None else target.codes < 0
    pale = {"color": "#b9cfe4", "label": target.name if unknown.any() else None}
    axes.scatter(*rows[unknown].T, **pale, **style)
    if unknown.any():
        style["s"] = 26  # the few labelled rows are to be seen
    palette = plt.get_cmap("tab10").colors
    for code, name in enumerate(target.classes):
        at = ~unknown & (target.codes == code)
        axes.scatter(*rows[at].T, color=palette[code % len(palette)], label=str(name)[:30], **style)


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


def pyplot() -> Any:
    """Return matplotlib.pyplot, drawing to files."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtraError("drawing a figure", "plots") from None
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt
