"""How a first inference grows with target rows, features and candidates."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure as Drawing

from benchmarks.data import feature_pair, many_class_pairs
from l2t.inference import infer

ROWS, FEATURES, SOURCE = 1000, 128, 600
SIZES = {
    "target rows": (300, 1000, 3000, 10_000, 30_000, 100_000),
    "features": (32, 128, 512, 2048),
    "candidates": (1, 2, 4, 8),
}
CANDIDATES = ("spectrum", "classes", "classes+spectrum", "gfk", "tca", "coral", "sa", "dip")
GROWTH = Path(__file__).parents[1] / "docs" / "results" / "images" / "inference-growth.png"


def run() -> dict[str, Any]:
    infer(feature_pair(60, 60, 8), n_labels=3)  # what a first call imports
    found = {name: {size: _seconds(name, size) for size in sizes} for name, sizes in SIZES.items()}
    _draw(found)
    return {"rows": ROWS, "features": FEATURES, "source": SOURCE, "growth": found}


def _seconds(name: str, size: int) -> float:
    """Return the processor time of an inference that finds nothing ready: a source of its own for each."""
    rows = size if name == "target rows" else ROWS
    m = size if name == "features" else FEATURES
    candidates = CANDIDATES[:size] if name == "candidates" else None
    (pair,), _ = many_class_pairs(1, SOURCE, rows, m)
    start = time.process_time()
    infer(pair, n_labels=15, candidates=candidates, random_state=size)
    return time.process_time() - start


def _draw(found: dict[str, dict[int, float]]) -> None:
    """Draw the times over each size."""
    figure = Drawing(figsize=(9.0, 3.2), layout="constrained")
    for ax, (name, times) in zip(figure.subplots(1, 3, sharey=True), found.items(), strict=True):
        sizes, seconds = list(times), list(times.values())
        ax.loglog(sizes, seconds, "o-", color="C0", label="infer")
        linear = [seconds[0] * size / sizes[0] for size in sizes]
        ax.loglog(sizes, linear, ":", color="0.6", label="linear")
        ax.set(xlabel=name, ylim=(0.1, 50))
        ax.set_xticks(
            sizes, [f"{size:,}" if size < 10_000 else f"{size // 1000}k" for size in sizes]
        )
        ax.minorticks_off()
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("seconds of one processor")
    figure.axes[0].legend(frameon=False)
    GROWTH.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(GROWTH, dpi=150)
