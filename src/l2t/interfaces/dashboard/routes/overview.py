"""How much there is, and what it says on the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from l2t.experiences.records import Gain
from l2t.interfaces.dashboard.context import Here
from l2t.interfaces.dashboard.models import DistributionOut, GainsOut, TotalsOut

__all__ = ["router"]

router = APIRouter(tags=["overview"])

_FRESH = 5.0  # seconds
_MOST = 30  # rows and columns of the matrix of gains


@router.get("/totals")
def totals(here: Here) -> TotalsOut:
    """Return how much the store holds."""
    return TotalsOut(**asdict(here.memo.get("totals", here.store.summaries.totals)))


@router.get("/distributions")
def distributions(here: Here) -> list[DistributionOut]:
    """Return the improvement ratios by algorithm and number of labels: quantiles and histogram."""
    return here.memo.get("distributions", lambda: _distributions(here), fresh_for=_FRESH)


@router.get("/gains")
def gains(
    here: Here,
    by: Annotated[
        Literal["family", "name"],
        Query(description="family: what precedes a bracket in names such as photos[ant, bee]."),
    ] = "family",
) -> GainsOut:
    """Return the mean improvement ratio from each source to each target."""
    return here.memo.get(
        ("gains", by), lambda: _matrix(here.store.summaries.gains(), by), fresh_for=_FRESH
    )


def _distributions(here: Here) -> list[DistributionOut]:
    return [
        DistributionOut(
            algorithm=each.algorithm,
            n_labels=each.n_labels,
            count=each.count,
            mean=each.mean,
            better=each.better,
            quantiles=each.quantiles.tolist(),
            bins=each.bins.round(2).tolist(),
            counts=each.counts.tolist(),
        )
        for each in here.store.summaries.distributions()
    ]


def _matrix(gains: list[Gain], by: str) -> GainsOut:
    title: Callable[[str], str] = (lambda name: name) if by == "name" else _family
    sums: dict[tuple[str, str], float] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for each in gains:
        at = title(each.source), title(each.target)
        sums[at] = sums.get(at, 0.0) + each.mean * each.count
        counts[at] += each.count
    sides: list[list[str]] = []
    left_out = 0
    for side in (0, 1):
        used: Counter[str] = Counter()
        for at, count in counts.items():
            used[at[side]] += count
        sides.append(sorted(name for name, _ in used.most_common(_MOST)))
        left_out += max(len(used) - _MOST, 0)
    sources, targets = sides
    return GainsOut(
        sources=sources,
        targets=targets,
        mean=[
            [sums[s, t] / counts[s, t] if counts[s, t] else None for t in targets] for s in sources
        ],
        count=[[counts[s, t] for t in targets] for s in sources],
        left_out=left_out,
    )


def _family(name: str) -> str:
    return name.partition("[")[0].strip() or name
