"""Learning the reflection function: time and memory over the number of experiences."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Drawing

from benchmarks.figures import Figure
from benchmarks.memory import alone, peak_memory
from l2t import KernelBank, PairStatistics
from l2t.algorithms import PAPER
from l2t.experiences import LABEL_COUNTS, Experience
from l2t.paper import learn
from l2t.paper.training_set import MAX_SAMPLE

SIZES = (1_000, 10_000, 100_000, 1_000_000)
GOAL_SECONDS = 120
GOAL_MIB = 2048
GROWTH = Path(__file__).parents[1] / "docs" / "results" / "images" / "learning-growth.png"

_RUN = Experience(
    run_key="",
    source="",
    target="",
    source_name="photos",
    target_name="sketches",
    n_classes=3,
    algorithm="",
    params={},
    random_state=0,
    protocol={},
    status="done",
    reason="",
    n_labels=None,
    accuracy_before=0.5,
    standard_error_before=0.01,
    accuracy_after=0.5,
    standard_error_after=0.01,
    improvement_ratio=1.0,
    statistics=None,
    duration=0.1,
    version="",
    host="",
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def run() -> dict[str, Any]:
    code = "from benchmarks.learning import measure; measure({})"
    measured = {size: alone(code.format(size)) for size in SIZES}
    _draw(measured)
    rows = [
        (
            f"{size:,}",
            f"{each['seconds']:.1f}",
            f"{each['peak']:.0f}",
            f"{each['peak'] - each['before']:.0f}",
        )
        for size, each in measured.items()
    ]
    seconds = [each["seconds"] for each in measured.values()]
    exponent = np.polyfit(np.log(SIZES), np.log(seconds), 1)[0]
    last = np.log(seconds[-1] / seconds[-2]) / np.log(SIZES[-1] / SIZES[-2])
    peak = measured[SIZES[-1]]["peak"]
    return {
        "figures": [
            Figure("learn, power of the number of experiences, last step", last, 1.05),
            Figure(f"learn, {SIZES[-2]:,} experiences", seconds[-2], GOAL_SECONDS, "s"),
            Figure(f"learn, {SIZES[-1]:,} experiences", peak, GOAL_MIB, "MiB"),
        ],
        "kernels": len(KernelBank()),
        "label_counts": len(LABEL_COUNTS),
        "largest": SIZES[-1],
        "slowest": seconds[-1],
        "goal": GOAL_SECONDS,
        "exponent": exponent,
        "last": last,
        "sample": MAX_SAMPLE,
        "rows": rows,
    }


def experiences(n: int, seed: int = 0) -> Iterator[Experience]:
    """Make n experiences one by one: smooth d and Q, tau > 0, ratios from a known function plus noise."""
    return islice(_endless(seed), n)


def _endless(seed: int) -> Iterator[Experience]:
    rng = np.random.default_rng(seed)
    bank = KernelBank()
    x = bank.exponents / 8
    beta = 0.02 * np.exp(-((x - 0.2) ** 2) / 0.1)
    number = 0
    while True:
        pair, algorithm = divmod(number, len(PAPER))
        shape = np.exp(-((x - rng.uniform(-1, 1)) ** 2) / 0.3)
        d = rng.uniform(0, 0.5) * shape + rng.uniform(0, 0.01, len(x))
        A = rng.uniform(0.1, 0.5) * (shape[:, None] + 0.2 * rng.normal(size=(len(x), 4)))
        tau = np.exp(rng.normal(2, 0.7) + x) * rng.uniform(0.9, 1.1, len(x))
        statistics = PairStatistics(d, A @ A.T, tau, bank, 5)
        inverse = beta @ d + 2 * np.sum((beta @ A) ** 2) + 0.4 / (beta @ tau) + 0.7
        of_run = replace(
            _RUN,
            run_key=f"{seed}/{number}",
            source=f"{seed}/{pair}",
            target=f"{seed}/{pair}",
            algorithm=PAPER[algorithm],
            statistics=statistics,
        )
        for count in LABEL_COUNTS:
            level = 1 + (1 / inverse - 1) * (3 / count) ** 0.3
            ratio = float(level * np.exp(0.03 * rng.normal()))
            yield replace(of_run, n_labels=count, improvement_ratio=ratio)
        number += 1


def measure(size: int) -> None:
    """Print what learning from so many experiences takes."""
    source = _Timed(experiences(size))
    learn(experiences(500), gamma=1e-3, huber=0.1, n_starts=1)  # what is loaded once
    before = peak_memory()
    start = time.perf_counter()
    learn(source)
    seconds = time.perf_counter() - start - source.seconds
    peak = peak_memory()
    print(json.dumps({"seconds": seconds, "before": before, "peak": peak}))


class _Timed:
    """An iterator that counts the seconds spent in it."""

    def __init__(self, source: Iterator[Experience]) -> None:
        self.seconds = 0.0
        self._source = source

    def __iter__(self) -> _Timed:
        return self

    def __next__(self) -> Experience:
        start = time.perf_counter()
        try:
            return next(self._source)
        finally:
            self.seconds += time.perf_counter() - start


def _draw(measured: dict[int, dict[str, float]]) -> None:
    """Draw time and memory over the number of experiences."""
    sizes = list(measured)
    figure = Drawing(figsize=(8.0, 3.2), layout="constrained")
    times, memory = figure.subplots(1, 2)
    learned = [each["seconds"] for each in measured.values()]
    times.loglog(sizes, learned, "o-", color="C0", label="learn")
    linear = [learned[0] * n / sizes[0] for n in sizes]
    times.loglog(sizes, linear, ":", color="0.6", label="linear")
    peaks = [each["peak"] for each in measured.values()]
    memory.semilogx(sizes, peaks, "o-", color="C0", label="peak of the process")
    memory.axhline(measured[sizes[0]]["before"], ls=":", color="0.6", label="before learning")
    memory.set_ylim(0, 1.3 * max(peaks))
    for axes, what in ((times, "seconds"), (memory, "MiB")):
        axes.set(xlabel="experiences", ylabel=what)
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    GROWTH.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(GROWTH, dpi=150)
