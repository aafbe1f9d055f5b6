"""Time by number of features, if there are more features than rows."""

from __future__ import annotations

from typing import Any

from benchmarks.data import feature_pair
from benchmarks.timing import best_of
from l2t import DomainPair, algorithms

SIZES = (1000, 4000, 16000)


def run() -> dict[str, Any]:
    pairs = [feature_pair(150, 150, m) for m in SIZES]
    spans = [best_of(lambda p=p: DomainPair(p.source, p.target).span, 3)[0] for p in pairs]
    rows = [
        ("joint span (once per pair)", *(f"{s:.3f}" for s in spans), f"{spans[-1] / spans[0]:.1f}")
    ]
    for name in algorithms.PAPER:
        times = []
        for pair in pairs:
            pair.span  # noqa: B018
            times.append(best_of(lambda p=pair, name=name: algorithms.make(name).fit(p), 3)[0])
        rows.append((name, *(f"{t:.3f}" for t in times), f"{times[-1] / times[0]:.1f}"))
    columns = ("", *(f"{m} features, s" for m in SIZES), "16 times the features cost, times")
    return {"columns": columns, "rows": rows}
