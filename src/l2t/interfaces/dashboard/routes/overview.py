"""Totals of the store, and distributions and means of its improvement ratios."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from l2t.interfaces.dashboard.context import Here

router = APIRouter(tags=["overview"])

_FRESH = 5.0  # seconds
_MOST = 30  # rows and columns of the matrix of gains


@router.get("/totals")
def totals(here: Here) -> dict[str, Any]:
    """Return the numbers of runs, experiences, pairs, domains and algorithms."""
    return here.memo.get("totals", here.store.summaries.totals)


@router.get("/distributions")
def distributions(here: Here) -> list[dict[str, Any]]:
    """Return the improvement ratios by algorithm and number of labels.

    `better` is the share of ratios above 1, `quantiles` are those at 5, 25, 50, 75 and 95 %, and `bins`
    are the middles of the bins of width 0.01 that are not empty.
    """
    summaries = here.store.summaries
    return here.memo.get("distributions", summaries.distributions, fresh_for=_FRESH)


@router.get("/gains")
def gains(
    here: Here,
    by: Annotated[
        Literal["family", "name"],
        Query(description="family: what precedes a bracket in names such as photos[ant, bee]."),
    ] = "family",
) -> dict[str, Any]:
    """Return the mean improvement ratio from each source (rows) to each target (columns).

    Sources and targets with the fewest experiences are left out where there are many.
    """
    return here.memo.get(
        ("gains", by), lambda: _matrix(here.store.summaries.gains(), by), fresh_for=_FRESH
    )


def _matrix(gains: list[dict[str, Any]], by: str) -> dict[str, Any]:
    title: Callable[[str], str] = (lambda name: name) if by == "name" else _family
    sums: defaultdict[tuple[str, str], float] = defaultdict(float)
    counts: Counter[tuple[str, str]] = Counter()
    used: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for each in gains:
        at = title(each["source"]), title(each["target"])
        sums[at] += each["mean"] * each["count"]
        counts[at] += each["count"]
        for side, name in zip(used, at, strict=True):
            side[name] += each["count"]
    sources, targets = (sorted(name for name, _ in side.most_common(_MOST)) for side in used)
    return {
        "sources": sources,
        "targets": targets,
        "mean": [
            [sums[s, t] / counts[s, t] if counts[s, t] else None for t in targets] for s in sources
        ],
        "count": [[counts[s, t] for t in targets] for s in sources],
        "left_out": sum(max(len(side) - _MOST, 0) for side in used),
    }


def _family(name: str) -> str:
    return name.partition("[")[0].strip() or name
