"""d, Q and tau against their plain form, how they grow, and what they hold in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.data import feature_pair, photo_sketch_pair
from benchmarks.timing import best_of, table
from l2t import Domain, DomainPair, KernelBank, pair_statistics
from l2t.speed import plain_statistics, statistics_floor

COMPONENTS = 20
GOAL, AGREEMENT = 4.0, 1e-9
LARGE, GOAL_MIB = 5000, 2048
GROWTH = Path(__file__).parents[1] / "docs" / "results" / "images" / "statistics-growth.png"


def run() -> str:
    return "\n\n".join([_against_plain(), _growth(), _memory()])


def _against_plain() -> str:
    pair, what = photo_sketch_pair()
    W = _some_factors(pair.n_features)
    ours, found = best_of(lambda: pair_statistics(pair, W), 40)
    plain, expected = best_of(lambda: plain_statistics(pair, W, found.kernels), 15)
    floor = best_of(lambda: statistics_floor(pair, W), 40)[0]
    for name, values in zip(("d", "Q", "tau"), expected, strict=True):
        np.testing.assert_allclose(
            getattr(found, name), values, rtol=AGREEMENT, atol=AGREEMENT, err_msg=name
        )
    rows = [
        ("l2t", f"{1e3 * ours:.1f}", "1.0"),
        ("plain numpy", f"{1e3 * plain:.1f}", f"{plain / ours:.1f}"),
        ("floor", f"{1e3 * floor:.1f}", f"{floor / ours:.2f}"),
    ]
    ns, nt = len(pair.source), len(pair.target)
    return (
        f"## Pair statistics, {ns} + {nt} rows, {pair.n_features} features, {len(found.kernels)} kernels\n\n"
        f"Data: {what}. l2t is **{plain / ours:.1f} times** faster than plain numpy (the goal is "
        f"{GOAL:.0f}), which takes an exponential for every kernel and whole arrays, but no kernel value "
        f"twice; d, Q and tau agree to {AGREEMENT:.0e}. The floor is what nobody avoids: the products "
        "behind the distances, and two exponentials for each pair of rows.\n\n"
        + table(("", "ms", "times l2t's"), rows)
    )


def _some_factors(m: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(m, COMPONENTS))


def _growth() -> str:
    sections, lines = [], {}
    for name, cases in _cases().items():
        times = {}
        for size, (pair, kernels) in cases.items():
            W = _some_factors(pair.n_features)
            repeats = 5 if len(pair.source) > 240 else 15
            times[size] = (
                best_of(lambda p=pair, k=kernels, W=W: pair_statistics(p, W, kernels=k), repeats)[
                    0
                ],
                best_of(lambda p=pair, k=kernels, W=W: plain_statistics(p, W, k), 3)[0],
            )
        lines[name] = times
        rows = [
            (size, f"{1e3 * ours:.1f}", f"{1e3 * plain:.1f}", f"{plain / ours:.1f}")
            for size, (ours, plain) in times.items()
        ]
        sections.append(table((name, "l2t, ms", "plain numpy, ms", "times faster"), rows))
    drawn = "![growth](images/statistics-growth.png)\n\n" if _draw(lines) else ""
    return (
        "### How they grow\n\n"
        "Made pairs, otherwise as above: 240 + 240 rows, 1280 features, 33 kernels. Fewer kernels are the "
        "middle of the bank; past the two exponentials of a pair of rows, a kernel costs multiplications."
        f"\n\n{drawn}" + "\n\n".join(sections)
    )


def _cases() -> dict[str, dict[int, tuple[DomainPair, KernelBank]]]:
    """Return what is varied: its sizes, and the pair and the bank of each."""
    bank, usual = KernelBank(), feature_pair(240, 240, 1280)
    return {
        "rows of each domain": {n: (feature_pair(n, n, 1280), bank) for n in (120, 240, 480, 960)},
        "features": {m: (feature_pair(240, 240, m), bank) for m in (320, 1280, 5120, 20480)},
        "kernels": {4 * p + 1: (usual, KernelBank(-p, p, 0.5)) for p in (1, 2, 4, 8)},
    }


def _draw(lines: dict[str, dict[int, tuple[float, float]]]) -> bool:
    """Draw the times over each size; False without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
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
    return True


def _memory() -> str:
    command = [sys.executable, "-c", "from benchmarks.statistics import large; large()"]
    said = subprocess.run(
        command, cwd=Path(__file__).parents[1], check=True, capture_output=True, text=True
    )
    told = json.loads(said.stdout)
    return (
        f"### Memory\n\n{LARGE:,} + {LARGE:,} rows of 1280 float32 features take {told['seconds']:.1f} s; "
        f"the whole process peaks at **{told['peak']:.0f} MiB** (the goal is {GOAL_MIB}), of which "
        f"{told['before']:.0f} MiB are Python and the data. One n x n array is held: the distances of the "
        "target in the features."
    )


def large() -> None:
    """Print what a large pair takes, in a process of its own."""
    rng = np.random.default_rng(0)
    domains = (Domain(rng.normal(size=(LARGE, 1280)).astype(np.float32)) for _ in range(2))
    pair, W = DomainPair(*domains), _some_factors(1280)
    before = _peak()
    seconds = best_of(lambda: pair_statistics(pair, W), 1)[0]
    print(json.dumps({"before": before, "peak": _peak(), "seconds": seconds}))


def _peak() -> float:
    """Return the most memory the process had so far, in MiB.

    Not `ru_maxrss`: Linux starts that of a child at what its parent had.
    """
    status = Path("/proc/self/status").read_text().split("VmHWM:")[1]
    return int(status.split()[0]) / 1024
