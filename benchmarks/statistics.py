"""d, Q and tau compared with a plain implementation: time, growth and memory."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Drawing

from benchmarks.data import feature_pair, photo_sketch_pair
from benchmarks.figures import Figure
from benchmarks.memory import alone, peak_memory
from benchmarks.plain.statistics import plain_statistics, statistics_floor
from benchmarks.timing import best_of
from l2t import Domain, DomainPair, KernelBank, pair_statistics

COMPONENTS = 20
GOAL, AGREEMENT = 4.0, 1e-9
LARGE, GOAL_MIB = 5000, 2048
GROWTH = Path(__file__).parents[1] / "docs" / "results" / "images" / "statistics-growth.png"


def run() -> dict[str, Any]:
    growth = _growth()
    _draw(growth)
    memory = alone("from benchmarks.statistics import large; large()")
    goals = {"goal": GOAL, "agreement": AGREEMENT, "large": LARGE, "goal_mib": GOAL_MIB}
    found = _against_plain()
    beside = f"floor: {1e3 * found['floor']:.1f} ms, l2t: {1e3 * found['ours']:.1f} ms"
    times = found["plain"] / found["ours"]
    figures = [
        Figure("pair statistics, times faster than plain numpy", times, GOAL, "", True, beside),
        Figure(f"pair statistics, {LARGE:,} + {LARGE:,} rows", memory["peak"], GOAL_MIB, "MiB"),
    ]
    return {**found, "growth": growth, "memory": memory, "figures": figures, **goals}


def _against_plain() -> dict[str, Any]:
    pair, what = photo_sketch_pair()
    W = _some_factors(pair.n_features)
    ours, found = best_of(lambda: pair_statistics(pair, W), 40)
    plain, expected = best_of(lambda: plain_statistics(pair, W, found.kernels), 15)
    floor = best_of(lambda: statistics_floor(pair, W), 40)[0]
    for name, values in zip(("d", "Q", "tau"), expected, strict=True):
        np.testing.assert_allclose(
            getattr(found, name), values, rtol=AGREEMENT, atol=AGREEMENT, err_msg=name
        )
    return {
        "what": what,
        "ns": len(pair.source),
        "nt": len(pair.target),
        "m": pair.n_features,
        "kernels": len(found.kernels),
        "ours": ours,
        "plain": plain,
        "floor": floor,
    }


def _some_factors(m: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(m, COMPONENTS))


def _growth() -> dict[str, dict[int, tuple[float, float]]]:
    """Return the seconds of l2t and of plain numpy for each size of what is varied."""
    found: dict[str, dict[int, tuple[float, float]]] = {}
    for name, cases in _cases().items():
        found[name] = {}
        for size, (pair, kernels) in cases.items():
            W = _some_factors(pair.n_features)
            ours = partial(pair_statistics, pair, W, kernels=kernels)
            plain = partial(plain_statistics, pair, W, kernels)
            repeats = 5 if len(pair.source) > 240 else 15
            found[name][size] = best_of(ours, repeats)[0], best_of(plain, 3)[0]
    return found


def _cases() -> dict[str, dict[int, tuple[DomainPair, KernelBank]]]:
    """Return what is varied: its sizes, and the pair and the bank of each."""
    bank, usual = KernelBank(), feature_pair(240, 240, 1280)
    return {
        "rows of each domain": {n: (feature_pair(n, n, 1280), bank) for n in (120, 240, 480, 960)},
        "features": {m: (feature_pair(240, 240, m), bank) for m in (320, 1280, 5120, 20480)},
        "kernels": {4 * p + 1: (usual, KernelBank(-p, p, 0.5)) for p in (1, 2, 4, 8)},
    }


def _draw(lines: dict[str, dict[int, tuple[float, float]]]) -> None:
    """Draw the times over each size."""
    figure = Drawing(figsize=(9.0, 3.2), layout="constrained")
    for ax, (name, times) in zip(figure.subplots(1, 3, sharey=True), lines.items(), strict=True):
        sizes = list(times)
        for which, (label, colour) in enumerate((("l2t", "C0"), ("plain numpy", "0.6"))):
            ax.loglog(
                sizes, [1e3 * t[which] for t in times.values()], "o-", color=colour, label=label
            )
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.minorticks_off()
        ax.set_xlabel(name)
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    first = figure.axes[0]
    first.set_ylabel("d, Q and tau, ms")
    first.legend(frameon=False)
    GROWTH.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(GROWTH, dpi=150)


def large() -> None:
    """Print what a large pair takes, in a process of its own."""
    rng = np.random.default_rng(0)
    domains = (Domain(rng.normal(size=(LARGE, 1280)).astype(np.float32)) for _ in range(2))
    pair, W = DomainPair(*domains), _some_factors(1280)
    before = peak_memory()
    seconds = best_of(lambda: pair_statistics(pair, W), 1)[0]
    print(json.dumps({"before": before, "peak": peak_memory(), "seconds": seconds}))
