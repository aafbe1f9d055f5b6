"""Figures from measured numbers; nothing is computed here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from l2t.exceptions import InvalidInputError, MissingExtraError
from l2t.experiments.base_ratios import BaseRatios

__all__ = ["check_figure_path", "draw_base_ratios"]

FORMATS = (".png", ".svg", ".pdf")


def check_figure_path(path: Path) -> None:
    """Refuse a path that no figure can be written to, before anything is measured."""
    if path.suffix.lower() not in FORMATS:
        raise InvalidInputError(f"a figure must end in {', '.join(FORMATS)}, got {path.name!r}")
    if not path.parent.is_dir():
        raise InvalidInputError(f"the folder of a figure must exist, got {str(path.parent)!r}")


def draw_base_ratios(measured: BaseRatios, path: Path, title: str) -> None:
    """Draw the mean improvement ratio of each algorithm over the label counts, with its error."""
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    ends_of_axis = [measured.label_counts[0], measured.label_counts[-1]]
    axes.plot(ends_of_axis, [1.0, 1.0], color="0.35", linewidth=1.2, linestyle="--")
    axes.annotate("no transfer", (measured.label_counts[-1], 1.0), xytext=(8, -4), **_BESIDE)
    palette = plt.get_cmap("tab10").colors
    ends = _spread([float(means[-1]) for means in measured.mean], taken=1.0, gap=0.022)
    for at, name in enumerate(measured.names):
        means, errors = measured.mean[at], measured.standard_error[at]
        colour = palette[at % len(palette)]
        axes.plot(measured.label_counts, means, marker="o", markersize=4, color=colour)
        axes.fill_between(
            measured.label_counts, means - errors, means + errors, color=colour, alpha=0.15
        )
        label = {"xy": (measured.label_counts[-1], ends[at]), "xytext": (8, -4)}
        axes.annotate(name, **label, color=colour, weight="bold", **_BESIDE)
    axes.set_xscale("log")
    axes.set_xticks(measured.label_counts, [str(count) for count in measured.label_counts])
    axes.minorticks_off()
    axes.set_xlim(right=measured.label_counts[-1] * 1.6)
    axes.set_xlabel("labelled target rows")
    axes.set_ylabel("improvement ratio")
    axes.set_title(title, fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


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


def _pyplot() -> Any:
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtraError("drawing a figure", "plots") from None
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt
