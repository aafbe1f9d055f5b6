"""Figures of predictions and of streams; nothing is computed here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.plots import PALETTE, new_figure
from reproduction.online import Stream
from reproduction.prediction import PredictionStudy

__all__ = ["draw_drift", "draw_prediction", "draw_stream"]

WINDOW = 50


def draw_prediction(study: PredictionStudy, path: Path) -> None:
    """Draw predicted against actual ratios, one colour per algorithm, and beta over the bandwidths."""
    figure = new_figure(10, 4.2)
    left, right = figure.subplots(1, 2)
    named = np.array(study.algorithms)
    for name, colour in zip(sorted(set(study.algorithms)), PALETTE, strict=False):
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
    _save(figure, path)


def draw_stream(stream: Stream, at_once: float, path: Path) -> None:
    """Draw the running mean of the ratio beside learning at once, and the cost of an experience."""
    figure = new_figure(10, 4)
    left, right = figure.subplots(1, 2)
    pairs = np.arange(1, len(stream.ratio) + 1)
    left.plot(pairs, stream.running_mean(), color="black", label="mean of all pairs so far")
    _last_pairs(left, pairs, stream)
    left.axhline(at_once, color="C3", linewidth=1.2, linestyle="--")
    left.annotate("learned from all at once", (0, at_once), **_ABOVE | {"ha": "left"}, color="C3")
    left.axhline(1.0, color="0.35", linewidth=1.2, linestyle="--")
    left.annotate("no transfer", (pairs[-1], 1.0), **_ABOVE, color="0.35")
    left.set(xlabel="pairs asked", ylabel="improvement ratio")
    left.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 0.1))
    milliseconds = 1000 * stream.seconds
    so_far = np.cumsum(milliseconds) / np.arange(1, len(milliseconds) + 1)
    right.plot(stream.runs, milliseconds, marker="o", markersize=3, color="C0", label="each time")
    right.plot(stream.runs, so_far, color="black", label="mean so far")
    right.legend(frameon=False, fontsize=8, loc="upper left")
    right.set(xlabel="runs learned from", ylabel="milliseconds of computing a new run")
    right.set_ylim(bottom=0)
    right.set_title("what it takes to take in one more", fontsize=11)
    left.set_title("what the suggestions were worth", fontsize=11)
    _save(figure, path)


def draw_drift(stream: Stream, change: int, known: tuple[float, float], path: Path) -> None:
    """Draw the ratio over a stream whose kind of pairs changes, beside functions of each kind."""
    figure = new_figure(7, 4)
    axes = figure.subplots()
    pairs = np.arange(1, len(stream.ratio) + 1)
    _last_pairs(axes, pairs, stream)
    for ends, value in zip(((1, change), (change, pairs[-1])), known, strict=True):
        axes.plot(ends, (value, value), color="C3", linewidth=1.2, linestyle="--")
    axes.annotate("learned at once, of each kind", (change, known[0]), **_ABOVE, color="C3")
    axes.axvline(change, color="0.35", linewidth=1.0)
    axes.annotate("the kind of pairs changes", (change, axes.get_ylim()[0]), **_BESIDE)
    axes.set(xlabel="pairs asked", ylabel="improvement ratio")
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    _save(figure, path)


_ABOVE: dict[str, Any] = {
    "xytext": (0, 3),
    "textcoords": "offset points",
    "fontsize": 8,
    "ha": "right",
}
_BESIDE: dict[str, Any] = {"xytext": (4, 4), "textcoords": "offset points", "fontsize": 8}


def _last_pairs(axes: Any, pairs: npt.NDArray[np.intp], stream: Stream) -> None:
    means = stream.running_mean(WINDOW)
    axes.plot(pairs, means, color="C0", linewidth=1.2, label=f"mean of the last {WINDOW}")


def _save(figure: Any, path: Path) -> None:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
