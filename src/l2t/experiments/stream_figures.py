"""Figures of streams; nothing is computed here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.experiments.figures import pyplot
from l2t.experiments.online import Stream

__all__ = ["draw_drift", "draw_stream"]

WINDOW = 50


def draw_stream(stream: Stream, at_once: float, path: Path) -> None:
    """Draw the running mean of the ratio beside learning at once, and the cost of an experience."""
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
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
    _save(plt, figure, (left, right), path)


def draw_drift(stream: Stream, change: int, known: tuple[float, float], path: Path) -> None:
    """Draw the ratio over a stream whose kind of pairs changes, beside functions of each kind."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    pairs = np.arange(1, len(stream.ratio) + 1)
    _last_pairs(axes, pairs, stream)
    for ends, value in zip(((1, change), (change, pairs[-1])), known, strict=True):
        axes.plot(ends, (value, value), color="C3", linewidth=1.2, linestyle="--")
    axes.annotate("learned at once, of each kind", (change, known[0]), **_ABOVE, color="C3")
    axes.axvline(change, color="0.35", linewidth=1.0)
    axes.annotate("the kind of pairs changes", (change, axes.get_ylim()[0]), **_BESIDE)
    axes.set(xlabel="pairs asked", ylabel="improvement ratio")
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    _save(plt, figure, (axes,), path)


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


def _save(plt: Any, figure: Any, panels: tuple[Any, ...], path: Path) -> None:
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
